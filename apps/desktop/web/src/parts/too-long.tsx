import { LIMITS } from '@workspace-graph/contracts';
import { useTranslation } from 'react-i18next';

/** Says while a text is written that it will not be taken; nothing as long as it fits. */
export function TooLong({ text }: { readonly text: string }) {
  const { t, i18n } = useTranslation();
  if (text.length <= LIMITS.textLength) return null;
  const { format } = new Intl.NumberFormat(i18n.language);
  return (
    <p className="refused" role="status">
      {t('must.shorter', { most: format(LIMITS.textLength), now: format(text.length) })}
    </p>
  );
}
