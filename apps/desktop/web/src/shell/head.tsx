import { type ReactNode, useEffect } from 'react';

interface HeadProps {
  readonly title: string;
  /** One line of state beside the title. */
  readonly state?: string | undefined;
  /** The view's action. */
  readonly children?: ReactNode;
}

/** The head of a view, which also names the document. */
export function Head({ title, state, children }: HeadProps) {
  useEffect(() => {
    document.title = `${title} · Workspace Graph`;
  }, [title]);
  return (
    <header className="head">
      <h1>{title}</h1>
      <span className="t3 f12 num cut" role="status">
        {state}
      </span>
      <span className="grow" />
      {children}
    </header>
  );
}
