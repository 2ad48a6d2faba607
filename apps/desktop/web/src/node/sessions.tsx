import { Link } from '@tanstack/react-router';
import { listNodeSessions, type Node, type Session, type SessionState } from '@workspace-graph/contracts';
import { Archive, Check, CircleHelp, Pause, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../api/client';
import { usePages } from '../api/pages';
import { Ghosts } from '../parts/ghosts';
import { useMoments } from '../parts/moments';
import { More } from '../parts/more';
import { Problem } from '../parts/problem';
import { QuestionPanel } from '../parts/question-panel';
import { useSessionName } from '../parts/session-name';

const STATES: readonly SessionState[] = ['running', 'suspended', 'closed'];
const CHIPS: Readonly<Record<SessionState, string>> = {
  running: 'ok',
  suspended: '',
  closed: 'line',
  archived: 'line',
};
const PAGE = 25;

/** The sessions of agents that are anchored at a node, the last active first. */
export function Sessions({ node }: { readonly node: Node }) {
  const { t } = useTranslation();
  const [hasArchived, setArchived] = useState(false);
  const {
    items: sessions,
    isRead,
    error,
    next,
    refetch,
  } = usePages({
    queryKey: ['node', node.id, 'sessions', hasArchived],
    load: (place, options) =>
      client.call(
        listNodeSessions,
        {
          node_id: node.id,
          state: hasArchived ? [...STATES, 'archived'] : [...STATES],
          ...place,
          limit: PAGE,
        },
        options,
      ),
  });
  return (
    <>
      <div className="row bar">
        <label className="check f12">
          <input type="checkbox" checked={hasArchived} onChange={(event) => setArchived(event.currentTarget.checked)} />
          {t('sessions.archived')}
        </label>
      </div>
      {error && <Problem error={error} onRetry={refetch} />}
      {isRead && sessions.length === 0 && (
        <div className="empty">
          <SquareTerminal className="i" aria-hidden="true" />
          <p>{t('sessions.none')}</p>
        </div>
      )}
      <ul>
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} nodeId={node.id} />
        ))}
      </ul>
      {!isRead && !error && <Ghosts rows={5} height={61} />}
      <More next={next}>{t('sessions.older')}</More>
    </>
  );
}

function SessionRow({ session, nodeId }: { readonly session: Session; readonly nodeId: string }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const sessionName = useSessionName();
  const name = sessionName(session.name);
  const { client: program, last_activity_at, write_count, suspended, handoff, open_questions, is_own } = session;
  const facts = [
    program?.title ?? program?.name ?? session.runner,
    moments.short(last_activity_at),
    t('sessions.writes', { count: write_count }),
  ].filter(Boolean);
  return (
    <li className="session">
      <div className="row">
        <Link
          className="ref cut"
          to="/workspace"
          search={{ node: nodeId, session: session.id }}
          title={t('work.open')}
          aria-label={`${name}: ${t('work.open')}`}
          data-row
        >
          <bdi className="cut">{name}</bdi>
        </Link>
        <span className="push">
          <StateChip session={session} />
        </span>
      </div>
      <p className="f12 t3">{facts.join(' · ')}</p>
      {suspended && (
        <p className="f12 t3">
          {[
            suspended.reason ? t(`sessions.reason.${suspended.reason}`) : null,
            suspended.by_server ? t('sessions.by_server') : null,
            handoff && sessionName(handoff.title),
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
      )}
      {is_own &&
        open_questions.map((question) => (
          <QuestionPanel key={question.request_id} sessionId={session.id} question={question} nodeId={nodeId} />
        ))}
    </li>
  );
}

export function StateChip({ session: { state, waiting_since, is_own } }: { readonly session: Session }) {
  const { t } = useTranslation();
  if (waiting_since !== null && is_own)
    return (
      <span className="chip wait">
        <CircleHelp className="i" aria-hidden="true" />
        {t('overview.waiting')}
      </span>
    );
  const Icon = { running: null, suspended: Pause, closed: Check, archived: Archive }[state];
  return (
    <span className={`chip ${CHIPS[state]}`}>
      {Icon ? <Icon className="i" aria-hidden="true" /> : <i className="dot run" />}
      {t(`sessions.state.${state}`)}
    </span>
  );
}
