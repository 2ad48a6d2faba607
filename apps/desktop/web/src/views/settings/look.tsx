import { useTranslation } from 'react-i18next';
import { changeLanguage, LANGUAGES, type Language } from '../../i18n';
import { Choice } from './choice';
import { ThemeCards } from './theme-cards';

/** What this browser keeps. */
export function Look() {
  const { t, i18n } = useTranslation();
  return (
    <>
      <ThemeCards />
      <Choice
        label={t('settings.language')}
        options={LANGUAGES.map((value) => ({ value, text: t(`settings.languages.${value}`) }))}
        chosen={i18n.language as Language}
        onChoose={(value) => void changeLanguage(value)}
      />
    </>
  );
}
