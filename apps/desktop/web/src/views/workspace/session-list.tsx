import { Link } from '@tanstack/react-router';
import { listSessions, type NodeRef, type Session, type SessionState } from '@workspace-graph/contracts';
import { CircleHelp, Pause, SquareTerminal } from 'lucide-react';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { usePages } from '../../api/pages';
import { useNode } from '../../node/node-query';
import { Ghosts } from '../../parts/ghosts';
import { More } from '../../parts/more';
import { Problem } from '../../parts/problem';
import { useSessionName } from '../../parts/session-name';
import { TypeGlyph } from '../../parts/type-glyph';

const PAGE = 50;
const GROUPS = {
  waiting: { state: ['running', 'suspended'], own: true, waiting: true },
  running: { state: ['running'] },
  suspended: { state: ['suspended'] },
} satisfies Readonly<
  Record<string, { readonly state: SessionState[]; readonly own?: boolean; readonly waiting?: boolean }>
>;
type Group = keyof typeof GROUPS;

interface SelectionProps {
  readonly selectedId: string | undefined;
  readonly selectedNodeId: string | undefined;
}

interface SessionListProps extends SelectionProps {
  readonly groups: SessionGroups;
}

/** The nodes at which agents are at work or have stopped, by what they need; and the selected one. */
export function SessionList({ groups: { groups, isRead, isAwaited }, selectedId, selectedNodeId }: SessionListProps) {
  const { t } = useTranslation();
  const mine = new Set(
    groups.flatMap(({ group, sessions }) => (group === 'waiting' ? sessions : [])).map(({ id }) => id),
  );
  const isEmpty = isRead && groups.every(({ sessions }) => sessions.length === 0);
  const isListed = groups.some(({ sessions }) => sessions.some(({ node }) => node?.id === selectedNodeId));
  if (isAwaited)
    return (
      <div className="slist">
        <Ghosts rows={8} height={32} />
      </div>
    );
  return (
    <nav className="scroll slist" aria-label={t('work.list')}>
      {groups.map(({ group, error, refetch, sessions, next }) => {
        const shown = group === 'waiting' ? sessions : sessions.filter(({ id }) => !mine.has(id));
        if (error) return <Problem key={group} error={error} onRetry={refetch} />;
        if (shown.length === 0 && !next) return null;
        return (
          <section key={group} aria-labelledby={`sessions-${group}`}>
            <h2 className="sech" id={`sessions-${group}`}>
              {t(`work.group.${group}`)}
            </h2>
            <ul>
              {byNode(shown).map(([nodeId, ofNode]) => (
                <NodeRow key={nodeId} node={ofNode[0]?.node} sessions={ofNode} {...{ selectedId, selectedNodeId }} />
              ))}
            </ul>
            <More next={next}>{t('work.more')}</More>
          </section>
        );
      })}
      {isRead && !isListed && selectedNodeId !== undefined && <Selected id={selectedNodeId} selectedId={selectedId} />}
      {isEmpty && (
        <div className="empty">
          <SquareTerminal className="i" aria-hidden="true" />
          <p>{t('work.none')}</p>
        </div>
      )}
    </nav>
  );
}

export type SessionGroups = ReturnType<typeof useSessionGroups>;

/** Open sessions by what they need; awaited until each group has come or was refused. */
export function useSessionGroups() {
  const groups = [useGroup('waiting'), useGroup('running'), useGroup('suspended')];
  return {
    groups,
    isRead: groups.every(({ isRead }) => isRead),
    isAwaited: groups.some(({ isRead, error }) => !isRead && !error),
  };
}

/** Sessions in the order in which this list first showed them: none moves while somebody looks. */
function useGroup(group: Group) {
  const order = useRef(new Map<string, number>());
  const { items, isRead, error, next, refetch } = usePages({
    queryKey: ['sessions', group],
    load: (place, options) => client.call(listSessions, { ...GROUPS[group], ...place, limit: PAGE }, options),
  });
  const sessions = [...new Map(items.map((one) => [one.id, one])).values()];
  for (const { id } of sessions) if (!order.current.has(id)) order.current.set(id, order.current.size);
  sessions.sort((a, b) => (order.current.get(a.id) ?? 0) - (order.current.get(b.id) ?? 0));
  return { group, sessions, isRead, error: isRead ? null : error, next, refetch };
}

function byNode(sessions: readonly Session[]): readonly (readonly [string, readonly Session[]])[] {
  return [...Map.groupBy(sessions, ({ node }) => node?.id ?? '')];
}

/** The selected node when no agent is at work there: below the others, so that none of them moves. */
function Selected({ id, selectedId }: { readonly id: string; readonly selectedId: string | undefined }) {
  const { t } = useTranslation();
  const { data: node, error } = useNode(id);
  if (!node || error) return null;
  return (
    <section aria-labelledby="sessions-selected">
      <h2 className="sech" id="sessions-selected">
        {t('work.group.selected')}
      </h2>
      <ul>
        <NodeRow node={node} sessions={[]} selectedId={selectedId} selectedNodeId={id} />
      </ul>
    </section>
  );
}

interface NodeRowProps extends SelectionProps {
  readonly node: NodeRef | null | undefined;
  readonly sessions: readonly Session[];
}

function NodeRow({ node, sessions, selectedId, selectedNodeId }: NodeRowProps) {
  const { t } = useTranslation();
  const sessionName = useSessionName();
  const session = sessions.find(({ id }) => id === selectedId) ?? sessions[0];
  const isSelected = node?.id === selectedNodeId;
  return (
    <li>
      {node ? (
        <Link
          className={`nr${isSelected ? ' at' : ''}`}
          to="/workspace"
          search={{ node: node.id, session: session?.id ?? selectedId }}
          aria-current={isSelected ? 'true' : undefined}
          title={node.name}
          data-row
        >
          <TypeGlyph type={node.type} label={t(`type.${node.type}`)} />
          <bdi className="nm cut">{node.name}</bdi>
        </Link>
      ) : (
        <div className="nr">
          <SquareTerminal className="i s14" aria-hidden="true" />
          <span className="nm cut">{t('work.no_node')}</span>
        </div>
      )}
      <ul>
        {sessions.map((session) => (
          <li key={session.id}>
            <Link
              className={`nr sub${session.id === selectedId ? ' at' : ''}`}
              to="/workspace"
              search={{ session: session.id, ...(session.node ? { node: session.node.id } : {}) }}
              aria-current={session.id === selectedId ? 'true' : undefined}
              title={sessionName(session.name)}
              data-row
            >
              <State session={session} />
              <bdi className="cut t3 of">{sessionName(session.name, session.node)}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </li>
  );
}

function State({ session: { state, is_own, waiting_since } }: { readonly session: Session }) {
  const { t } = useTranslation();
  if (is_own && waiting_since !== null)
    return (
      <span className="row wait">
        <CircleHelp className="i s12" aria-hidden="true" />
        {t('overview.waiting')}
      </span>
    );
  return (
    <span className="row">
      {state === 'running' ? <i className="dot run" /> : <Pause className="i s12" aria-hidden="true" />}
      {t(`sessions.state.${state}`)}
    </span>
  );
}
