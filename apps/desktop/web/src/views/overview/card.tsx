import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface CardProps {
  readonly title: string;
  /** Its order where there is one column. */
  readonly place: 'o1' | 'o2' | 'o3' | 'o4';
  readonly count?: number;
  /** What belongs here, told where nothing is. */
  readonly empty: ReactNode;
  /** False where a list was cut. */
  readonly isComplete?: boolean;
  /** Rows; none where there is nothing. */
  readonly children: readonly ReactNode[];
}

export function Card({ title, place, count, empty, isComplete = true, children }: CardProps) {
  const { t } = useTranslation();
  return (
    <section className={`card ${place}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {count !== undefined && count > 0 && <span className="count">{count}</span>}
      </header>
      {children.length === 0 ? (
        <div className="empty">
          <p>{empty}</p>
        </div>
      ) : (
        <ul>{children}</ul>
      )}
      {!isComplete && <p className="more">{t('overview.more')}</p>}
    </section>
  );
}

/** A card while its rows are on their way. */
export function Waiting({ title, place }: Pick<CardProps, 'title' | 'place'>) {
  return (
    <section className={`card ${place}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      {[62, 48, 70].map((width) => (
        <div className="ghost-row" key={width} aria-hidden="true">
          <i />
          <i style={{ width: `${width}%` }} />
          <i />
        </div>
      ))}
    </section>
  );
}

interface LineProps {
  /** What stands before the row: a shape or an icon. */
  readonly lead: ReactNode;
  readonly top: ReactNode;
  readonly bottom?: ReactNode;
  readonly end?: ReactNode;
  /** What is asked or answered under the row. */
  readonly below?: ReactNode;
}

/** One row of a card. */
export function Line({ lead, top, bottom, end, below }: LineProps) {
  return (
    <li className={bottom === undefined ? 'or one' : 'or'}>
      <span className="lead">{lead}</span>
      <div className="grow">
        <div className="top">{top}</div>
        {bottom !== undefined && <div className="bot">{bottom}</div>}
      </div>
      <div className="end">{end}</div>
      {below && <div className="below">{below}</div>}
    </li>
  );
}
