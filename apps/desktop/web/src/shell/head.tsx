import { Search } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { COMMAND_KEY } from '../parts/command-key';
import { useDoors } from './doors';

interface HeadProps {
  readonly title: string;
  /** One line of state beside the title. */
  readonly state?: ReactNode;
  /** The view's action. */
  readonly children?: ReactNode;
}

/** Names the document by the view that is looked at. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Workspace Graph`;
  }, [title]);
}

/** The head of a view, which also names the document. */
export function Head({ title, state, children }: HeadProps) {
  const { t } = useTranslation();
  const open = useDoors();
  useTitle(title);
  return (
    <header className="head">
      <h1>{title}</h1>
      <span className="t3 f12 num cut" role="status">
        {state}
      </span>
      <span className="grow" />
      <button type="button" className="jump" onClick={() => open('palette')}>
        <Search className="i s14" aria-hidden="true" />
        <span className="cut">{t('palette.hint')}</span>
        <kbd>{COMMAND_KEY} K</kbd>
      </button>
      {children}
    </header>
  );
}
