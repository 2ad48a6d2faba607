import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Count } from '../../parts/count';
import { Ghosts } from '../../parts/ghosts';

interface CardProps {
  readonly title: string;
  /** Its order where there is one column. */
  readonly place: 'o1' | 'o2' | 'o3' | 'o4';
  /** How many there are; absent where only some of them are here. */
  readonly count?: number | undefined;
  /** What belongs here, told where nothing is. */
  readonly empty: ReactNode;
  /** Leads to more of the kind, beside the title. */
  readonly link?: ReactNode;
  /** The view that has the rest of a list that was cut. */
  readonly rest?: 'graph' | 'workspace' | undefined;
  /** Rows, or rows by their days; none where there is nothing. */
  readonly children: readonly ReactNode[];
  readonly isByDay?: boolean;
}

export function Card({ title, place, count, empty, link, rest, children, isByDay = false }: CardProps) {
  const { t } = useTranslation();
  return (
    <section className={`card ${place}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {count !== undefined && count > 0 && <Count of={count} />}
        {link && <span className="push">{link}</span>}
      </header>
      {children.length === 0 && (
        <div className="empty">
          <p>{empty}</p>
        </div>
      )}
      {children.length > 0 && (isByDay ? children : <ul>{children}</ul>)}
      {rest && (
        <p className="more">
          <Link className="link" to={`/${rest}`}>
            {t('overview.more', { view: t(`view.${rest}`) })}
          </Link>
        </p>
      )}
    </section>
  );
}

interface WaitingProps extends Pick<CardProps, 'title' | 'place'> {
  /** Whether its rows have one line. */
  readonly isOneLined?: boolean;
}

/** A card while its rows are on their way. */
export function Waiting({ title, place, isOneLined = false }: WaitingProps) {
  return (
    <section className={`card ${place}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <Ghosts {...(isOneLined ? { rows: 8, height: 30 } : { rows: 3, height: 54 })} label={null} />
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
