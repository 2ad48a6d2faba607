import { LIMITS } from '@workspace-graph/contracts';
import { useTranslation } from 'react-i18next';

/** Says while a text is written that it will not be taken; nothing as long as it fits. */
export function TooLong({ text }: { readonly text: string }) {
  const { t } = useTranslation();
  if (text.length <= LIMITS.textLength) return null;
  return (
    <p className="refused" role="status">
      {t('must.shorter', { most: LIMITS.textLength, now: text.length })}
    </p>
  );
}
