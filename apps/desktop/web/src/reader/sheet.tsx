import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Ghosts } from '../parts/ghosts';

interface SheetProps {
  readonly className: string;
  readonly children: ReactNode;
}

/** What is looked at and may be longer than the window; keys scroll it. */
export function Sheet({ className, children }: SheetProps) {
  const { t } = useTranslation();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by keys
    <section className={`scroll ${className}`} aria-label={t('reader.preview')} tabIndex={0}>
      {children}
    </section>
  );
}

/** What stands there while it is on its way. */
export function GhostSheet() {
  const { t } = useTranslation();
  return (
    <div className="scroll paper">
      <div className="doc">
        <Ghosts rows={12} height={22} label={t('reader.loading')} />
      </div>
    </div>
  );
}
