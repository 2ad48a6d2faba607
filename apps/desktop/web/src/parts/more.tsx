import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Next } from '../api/pages';

interface MoreProps {
  /** Null: the list is whole, and nothing is shown. */
  readonly next: Next | null;
  /** What comes next, where that has a name. */
  readonly children?: ReactNode;
}

/** Asks for the next page of a list. */
export function More({ next, children }: MoreProps) {
  const { t } = useTranslation();
  if (!next) return null;
  return (
    <button type="button" className="link f12 more" aria-disabled={next.isLoading || undefined} onClick={next.load}>
      {children ?? t('lists.more')}
    </button>
  );
}
