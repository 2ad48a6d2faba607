import { Link } from '@tanstack/react-router';
import { listAudit, type Node } from '@workspace-graph/contracts';
import {
  Archive,
  ArchiveRestore,
  FileUp,
  History as HistoryIcon,
  ListOrdered,
  type LucideIcon,
  Move,
  PencilLine,
  Plus,
  Undo2,
  UserMinus,
  Users,
} from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { usePages } from '../../api/pages';
import { Avatar } from '../../parts/avatar';
import { useMoments } from '../../parts/moments';
import { More } from '../../parts/more';
import { PickOne } from '../../parts/pick-one';
import { Problem } from '../../parts/problem';
import { type Entry, type Fields, useNames } from './names';
import { isNothing, Value, type Words, wordsOf } from './value';

/** What is done to a node, by the operation that does it. */
const ACTIONS: Readonly<Record<string, LucideIcon>> = {
  create_node: Plus,
  update_node: PencilLine,
  set_access: Users,
  approve_access_request: Users,
  move_node: Move,
  reorder_responsibilities: ListOrdered,
  archive_node: Archive,
  restore_node: ArchiveRestore,
  run_import: FileUp,
  delete_actor: UserMinus,
  undo_session: Undo2,
};
/** In the order in which they are told; others come after them. */
const FIELDS = [
  'name',
  'type',
  'description',
  'goal',
  'lifecycle',
  'health',
  'health_note',
  'owner_id',
  'organization_id',
  'parent_ids',
  'visibility',
  'recipients',
  'responsibility_ids',
];
/** What the workspace keeps for itself. */
const UNTOLD = new Set(['lifecycle_before_archive', 'sync_key']);
const PAGE = 25;

/** Who changed the node itself, when, and what it was before; for whoever manages. */
export default function History({ node }: { readonly node: Node }) {
  const { t } = useTranslation();
  const [action, setAction] = useState('');
  const [userId, setUserId] = useState('');
  const {
    items: entries,
    isRead,
    error,
    next,
    refetch,
  } = usePages({
    queryKey: ['node', node.id, 'history', action, userId],
    load: (place, options) =>
      client.call(
        listAudit,
        {
          target_id: node.id,
          ...(action === '' ? {} : { action }),
          ...(userId === '' ? {} : { user_id: userId }),
          ...place,
          limit: PAGE,
        },
        options,
      ),
  });
  const people = usePeople(entries);
  const words: Words = { node, nameOf: useNames(entries) };
  const isFiltered = action !== '' || userId !== '';
  return (
    <>
      <div className="row bar">
        <PickOne
          label={t('history.filter')}
          className="ghosted"
          options={[
            { value: '', text: t('history.all') },
            ...Object.keys(ACTIONS).map((value) => ({ value, text: t(`history.action.${value}`) })),
          ]}
          value={action}
          onPick={setAction}
        />
        <span className="grow" />
        <PickOne
          label={t('history.person')}
          className="ghosted"
          options={[
            { value: '', text: t('history.everybody') },
            ...[...people].map(([value, text]) => ({ value, text })),
          ]}
          value={userId}
          onPick={setUserId}
        />
      </div>
      {error && <Problem error={error} onRetry={refetch} />}
      {isRead && entries.length === 0 && (
        <div className="empty">
          <HistoryIcon className="i" aria-hidden="true" />
          <p>{t(isFiltered ? 'history.none_of_these' : 'history.none')}</p>
          {isFiltered && (
            <button
              type="button"
              className="btn sm"
              onClick={() => {
                setAction('');
                setUserId('');
              }}
            >
              {t('history.show_all')}
            </button>
          )}
        </div>
      )}
      <ul className="tl history" aria-label={t('history.list')}>
        {entries.map((entry) => (
          <Row key={entry.id} entry={entry} words={words} />
        ))}
      </ul>
      {entries.length > 0 && <p className="more">{t('history.only')}</p>}
      <More next={next}>{t('history.older')}</More>
    </>
  );
}

/** Whoever has been seen in the history so far, by id: a filter takes nobody off its own list. */
function usePeople(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const [people, setPeople] = useState<ReadonlyMap<string, string>>(new Map());
  const seen = entries.flatMap(({ user }) => (user && !people.has(user.id) ? [user] : []));
  if (seen.length > 0) setPeople(new Map([...people, ...seen.map(({ id, name }) => [id, name] as const)]));
  return people;
}

function Row({ entry, words }: { readonly entry: Entry; readonly words: Words }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const { action, at, user, via, session } = entry;
  const [short, time] = [moments.short(at), moments.time(new Date(at))];
  const who = user?.name ?? t('overview.system');
  const isAgent = via === 'mcp' || via === 'runner';
  const Icon = ACTIONS[action] ?? PencilLine;
  return (
    <li>
      <span className="mk">
        <Icon className="i" aria-hidden="true" />
      </span>
      <div className="row">
        <span className="kind">{t(`history.action.${action}`, { defaultValue: action })}</span>
        <time className="when num push" dateTime={at} title={moments.whole(at)}>
          {short === time ? time : `${short} ${time}`}
        </time>
      </div>
      <div className="row">
        <Avatar name={who} isAgent={isAgent} />
        <span className="cut">{isAgent ? t('history.by_agent', { name: who }) : who}</span>
        {session && (
          <Link className="f12" to="/workspace" search={{ node: words.node.id, session: session.id }}>
            {t('history.session')}
          </Link>
        )}
      </div>
      <Changes entry={entry} words={words} />
    </li>
  );
}

/** Each field that changed, before and after; of what was made, what it was made with. */
function Changes({ entry: { before, after }, words }: { readonly entry: Entry; readonly words: Words }) {
  const { t } = useTranslation();
  const fields = fieldsOf(before, after);
  if (fields.length === 0) return null;
  return (
    <dl>
      {fields.map((field) => (
        <div key={field}>
          <dt>{t(`history.field.${field}`, { defaultValue: field })}</dt>
          <dd>
            {before && hasFormer(field, before[field]) && (
              <del>
                <span className="vh">{t('history.before')}</span>
                <Value text={wordsOf(t, field, before[field], words)} />
              </del>
            )}
            {after && field in after && (
              <ins>
                <span className="vh">{t('history.after')}</span>
                <Value text={wordsOf(t, field, after[field], words)} />
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Inherited sharing is something. */
function hasFormer(field: string, value: unknown): boolean {
  return !isNothing(value) || (field === 'visibility' && value === null);
}

function fieldsOf(before: Fields | null, after: Fields | null): readonly string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const told = names.filter((name) => !UNTOLD.has(name) && (before !== null || !isNothing(after?.[name])));
  const place = (name: string) => (FIELDS.includes(name) ? FIELDS.indexOf(name) : FIELDS.length);
  return told.sort((a, b) => place(a) - place(b));
}
