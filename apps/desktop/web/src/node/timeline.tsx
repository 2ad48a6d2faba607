import {
  type EventKind,
  type GraphEvent,
  type ListedEvent,
  listEvents,
  logEvent,
  type Node,
  resolveEvent,
  supersedeEvent,
} from '@workspace-graph/contracts';
import { Check, CircleCheck, CornerDownRight, Plus, StickyNote } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { client } from '../api/client';
import { usePages } from '../api/pages';
import { COMMAND_KEY } from '../parts/command-key';
import { EVENT_ICONS } from '../parts/event-icons';
import { EVENT_KINDS, EventKindFilter } from '../parts/event-kind-filter';
import { Ghosts } from '../parts/ghosts';
import { useMoments } from '../parts/moments';
import { More } from '../parts/more';
import { PickOne } from '../parts/pick-one';
import { Problem, Refused } from '../parts/problem';
import { tell } from '../parts/toasts';

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
  const [isWriting, setWriting] = useState(false);
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
          <button type="button" className="btn sm" onClick={() => setWriting(!isWriting)} aria-expanded={isWriting}>
            <Plus className="i" aria-hidden="true" />
            {t('events.log')}
          </button>
        )}
        <span className="grow" />
        <EventKindFilter value={kind} onPick={setKind} />
      </div>
      {isWriting && <EventForm nodeId={node.id} onClose={() => setWriting(false)} />}
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
            <span className="count">{open.length}</span>
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
  const [isReplacing, setReplacing] = useState(false);
  const resolve = useChange(resolveEvent, event.node_id);
  const { id, kind, status, content, occurred_at, logged_by, version, resolution } = event;
  const isOpen = kind === 'blocker' && status === 'active';
  const settle = () =>
    resolve.mutate({ event_id: id, expected_version: version }, { onSuccess: () => tell(t('events.resolved')) });
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
            <button type="button" className="btn sm" onClick={settle}>
              <Check className="i" aria-hidden="true" />
              {t('events.resolve')}
            </button>
            <button type="button" className="btn sm ghost" onClick={() => setReplacing(true)}>
              {t('events.supersede')}
            </button>
          </span>
        )}
      </div>
      <Refused error={resolve.error} />
      {isReplacing && <EventForm nodeId={event.node_id} replaces={event} onClose={() => setReplacing(false)} />}
    </li>
  );
}

interface EventFormProps {
  readonly nodeId: string;
  /** What the new one takes the place of. */
  readonly replaces?: GraphEvent;
  readonly onClose: () => void;
}

function EventForm({ nodeId, replaces, onClose }: EventFormProps) {
  const { t } = useTranslation();
  const id = useId();
  const [kind, setKind] = useState<EventKind>(replaces?.kind ?? 'note');
  const [content, setContent] = useState(replaces?.content ?? '');
  const log = useChange(logEvent, nodeId);
  const supersede = useChange(supersedeEvent, nodeId);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    const done = { onSuccess: onClose };
    if (replaces) supersede.mutate({ event_id: replaces.id, kind, content, expected_version: replaces.version }, done);
    else log.mutate({ node_id: nodeId, kind, content }, done);
  };
  return (
    <form className="adder padded" onSubmit={submit}>
      <div className="row">
        <PickOne
          label={t('events.kind')}
          className="input"
          options={EVENT_KINDS.map((value) => ({ value, text: t(`event.${value}`) }))}
          value={kind}
          onPick={setKind}
        />
      </div>
      <textarea
        id={id}
        className="input"
        rows={3}
        aria-label={t('events.content')}
        placeholder={t('events.content')}
        value={content}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
        autoFocus
        onChange={(event) => setContent(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
        }}
      />
      <Refused error={log.error ?? supersede.error} />
      <div className="row acts">
        <button type="submit" className="btn primary sm">
          {replaces ? t('events.supersede') : t('events.log')}
        </button>
        <button type="button" className="btn ghost sm" onClick={onClose}>
          {t('edit.cancel')}
        </button>
        <span className="f12 t3 push">
          <kbd>{COMMAND_KEY} Enter</kbd>
        </span>
      </div>
    </form>
  );
}
