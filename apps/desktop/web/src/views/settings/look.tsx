import { useMantineColorScheme } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { changeLanguage, LANGUAGES, type Language } from '../../i18n';
import { Choice } from './choice';

const THEMES = ['auto', 'light', 'dark'] as const;

/** What this browser keeps. */
export function Look() {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <>
      <Choice
        label={t('settings.theme')}
        options={THEMES.map((value) => ({ value, text: t(`settings.themes.${value}`) }))}
        chosen={colorScheme}
        onChoose={(value) => setColorScheme(value)}
      />
      <Choice
        label={t('settings.language')}
        options={LANGUAGES.map((value) => ({ value, text: t(`settings.languages.${value}`) }))}
        chosen={i18n.language as Language}
        onChoose={(value) => void changeLanguage(value)}
      />
    </>
  );
}
