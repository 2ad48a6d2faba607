import { type EventKind, type ListedEvent, listEvents, type Node, resolveEvent } from '@workspace-graph/contracts';
import { Check, CircleCheck, CornerDownRight, Plus, StickyNote } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { client } from '../api/client';
import { usePages } from '../api/pages';
import { Count } from '../parts/count';
import { EVENT_ICONS } from '../parts/event-icons';
import { EventKindFilter } from '../parts/event-kind-filter';
import { Ghosts } from '../parts/ghosts';
import { useMoments } from '../parts/moments';
import { More } from '../parts/more';
import { useOneAtATime } from '../parts/one-at-a-time';
import { Problem, Refused } from '../parts/problem';
import { tell } from '../parts/toasts';
import { EventForm, useEventDraft } from './event-form';

const PAGE = 50;
/** Rows that are announced where the node knows of fewer. */
const LEAST = 3;

interface TimelineProps {
  readonly node: Node;
  readonly mayWrite: boolean;
}

/** What happened at a node and was decided: open blockers first, then everything, newest first. */
export function Timeline({ node, mayWrite }: TimelineProps) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<EventKind | ''>('');
  const writing = useEventDraft({ node: node.id });
  const isWriting = writing.draft !== null;
  const {
    items: events,
    isRead,
    error,
    next,
    refetch,
  } = usePages({
    queryKey: ['node', node.id, 'events', kind],
    load: (place, options) =>
      client.call(
        listEvents,
        {
          node_id: node.id,
          status: ['active', 'resolved', 'superseded'],
          ...(kind === '' ? {} : { kind: [kind] }),
          ...place,
          limit: PAGE,
        },
        options,
      ),
  });
  const isOpen = (event: ListedEvent) => event.kind === 'blocker' && event.status === 'active';
  const open = events.filter(isOpen);
  const rest = events.filter((event) => !isOpen(event));
  const row = (event: ListedEvent) => (
    <EventRow
      key={event.id}
      event={event}
      next={events.find(({ id }) => id === event.superseded_by_id)}
      mayWrite={mayWrite}
    />
  );
  return (
    <>
      <div className="row bar">
        {mayWrite && (
          <button
            type="button"
            className="btn sm"
            onClick={isWriting ? writing.leave : writing.begin}
            aria-expanded={isWriting}
          >
            <Plus className="i" aria-hidden="true" />
            {t('events.log')}
          </button>
        )}
        <span className="grow" />
        <EventKindFilter value={kind} onPick={setKind} />
      </div>
      {mayWrite && isWriting && <EventForm nodeId={node.id} writing={writing} />}
      {error && <Problem error={error} onRetry={refetch} />}
      {isRead && events.length === 0 && (
        <div className="empty">
          <StickyNote className="i" aria-hidden="true" />
          <p>{kind === '' ? t('events.none') : t('events.none_of_kind')}</p>
          {kind !== '' && (
            <button type="button" className="btn sm" onClick={() => setKind('')}>
              {t('events.show_all')}
            </button>
          )}
        </div>
      )}
      {open.length > 0 && (
        <>
          <h3 className="sech">
            {t('events.open')}
            <Count of={open.length} />
          </h3>
          <ul className="tl">{open.map(row)}</ul>
          {rest.length > 0 && <h3 className="sech">{t('events.course')}</h3>}
        </>
      )}
      <ul className="tl">{rest.map(row)}</ul>
      {!isRead && !error && <Ghosts rows={Math.max(LEAST, node.recent_events.length)} height={76} />}
      <More next={next}>{t('events.older')}</More>
    </>
  );
}

interface EventRowProps {
  readonly event: ListedEvent;
  /** What has taken its place, where it is known. */
  readonly next: ListedEvent | undefined;
  readonly mayWrite: boolean;
}

function EventRow({ event, next, mayWrite }: EventRowProps) {
  const { t } = useTranslation();
  const moments = useMoments();
  const replacing = useEventDraft({ replaces: event });
  const isReplacing = replacing.draft !== null;
  const resolve = useChange(resolveEvent, event.node_id);
  const { id, kind, status, content, occurred_at, logged_by, version, resolution } = event;
  const isOpen = kind === 'blocker' && status === 'active';
  const [settle, isSettling] = useOneAtATime(async () => {
    await resolve.mutateAsync({ event_id: id, expected_version: version });
    tell(t('events.resolved'));
  });
  const Icon = status === 'resolved' ? CircleCheck : EVENT_ICONS[kind];
  return (
    <li id={`event-${id}`}>
      <span className={`mk${isOpen ? ' open' : ''}`}>
        <Icon className="i" aria-hidden="true" />
      </span>
      <div className="row">
        <span className={`kind${isOpen ? ' open' : ''}`}>
          {status === 'resolved' ? t('events.resolved_kind', { kind: t(`event.${kind}`) }) : t(`event.${kind}`)}
        </span>
        <time className="when num push" dateTime={occurred_at} title={moments.whole(occurred_at)}>
          {moments.short(occurred_at)}
        </time>
      </div>
      <p className={status === 'superseded' ? 'words old' : 'words'}>{content}</p>
      {resolution && <p className="words t2">{resolution}</p>}
      <div className="row">
        <span className="when cut">{logged_by ?? t('overview.system')}</span>
        {status === 'superseded' && (
          <span className="when row">
            <CornerDownRight className="i s12" aria-hidden="true" />
            {t('events.superseded')}
            {next && <a href={`#event-${next.id}`}>{moments.short(next.occurred_at)}</a>}
          </span>
        )}
        {mayWrite && status === 'active' && !isReplacing && (
          <span className={isOpen ? 'row push' : 'row push ed'}>
            <button type="button" className="btn sm" aria-disabled={isSettling || undefined} onClick={settle}>
              <Check className="i" aria-hidden="true" />
              {t('events.resolve')}
            </button>
            <button type="button" className="btn sm ghost" onClick={replacing.begin}>
              {t('events.supersede')}
            </button>
          </span>
        )}
      </div>
      <Refused error={resolve.error} />
      {mayWrite && status === 'active' && isReplacing && (
        <EventForm nodeId={event.node_id} replaces={event} writing={replacing} />
      )}
    </li>
  );
}
