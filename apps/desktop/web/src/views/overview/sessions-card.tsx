import { Link } from '@tanstack/react-router';
import { CircleHelp, Pause, SearchCheck, SquareTerminal } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMoments } from '../../parts/moments';
import { TypeGlyph } from '../../parts/type-glyph';
import { Card, Line } from './card';
import { NodeLink } from './node-link';
import type { OverviewData } from './overview-data';

type Item = OverviewData['sessions']['items'][number];

/** Open sessions as they come: one's own with a question, running, suspended; then those of others. */
export function SessionsCard({ sessions, review }: Pick<OverviewData, 'sessions' | 'review'>) {
  const { t } = useTranslation();
  const [own, others] = [sessions.items.filter(({ is_own }) => is_own), sessions.items.filter(({ is_own }) => !is_own)];
  const rows = [
    ...own.map((session) => <SessionLine key={session.id} session={session} />),
    ...(others.length === 0 || own.length === 0 ? [] : [<Sub key="others" text={t('overview.others')} />]),
    ...others.map((session) => <SessionLine key={session.id} session={session} />),
    ...(review.items.length === 0 ? [] : [<Sub key="review" text={t('overview.to_review')} isReview />]),
    ...review.items.map(({ session, node }) => (
      <Line
        key={`${session.id} ${node.id}`}
        lead={<TypeGlyph type={node.type} />}
        top={<NodeLink node={node} isMain isPlain />}
        bottom={<span className="cut">{t('overview.reviewed_from', { session: session.name })}</span>}
      />
    )),
  ];
  return (
    <Card
      title={t('overview.sessions')}
      place="o1"
      count={sessions.items.length}
      empty={t('overview.no_sessions')}
      isComplete={sessions.complete && review.complete}
    >
      {rows}
    </Card>
  );
}

function Sub({ text, isReview = false }: { readonly text: string; readonly isReview?: boolean }) {
  return (
    <li className="sub">
      {isReview && <SearchCheck className="i s12" aria-hidden="true" />}
      {text}
    </li>
  );
}

function SessionLine({ session }: { readonly session: Item }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const { id, name, node, waiting_since, last_activity_at } = session;
  return (
    <Line
      lead={node ? <TypeGlyph type={node.type} /> : <SquareTerminal className="i s14" aria-hidden="true" />}
      top={
        <>
          <Link
            className="ref cut main"
            to="/workspace"
            search={{ ...(node ? { node: node.id } : {}), session: id }}
            title={name}
          >
            <span className="cut">{name}</span>
          </Link>
          <StateChip session={session} />
        </>
      }
      bottom={node ? <NodeLink node={node} isPlain /> : <span />}
      end={
        <time dateTime={waiting_since ?? last_activity_at} title={moments.whole(waiting_since ?? last_activity_at)}>
          {waiting_since
            ? t('overview.waiting_since', { time: moments.since(waiting_since) })
            : moments.short(last_activity_at)}
        </time>
      }
    />
  );
}

function StateChip({ session: { is_own, state, waiting_since } }: { readonly session: Item }) {
  const { t } = useTranslation();
  if (waiting_since && is_own)
    return (
      <span className="chip wait">
        <CircleHelp className="i" aria-hidden="true" />
        {t('overview.waiting')}
      </span>
    );
  if (state === 'running')
    return (
      <span className="chip ok">
        <i className="dot run" />
        {t('overview.running')}
      </span>
    );
  return (
    <span className="chip">
      <Pause className="i" aria-hidden="true" />
      {t('overview.suspended')}
    </span>
  );
}
