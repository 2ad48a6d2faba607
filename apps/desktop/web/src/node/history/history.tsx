import { Link } from '@tanstack/react-router';
import { listAudit, type Node } from '@workspace-graph/contracts';
import { History as HistoryIcon } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { usePages } from '../../api/pages';
import { Avatar } from '../../parts/avatar';
import { Ghosts } from '../../parts/ghosts';
import { useMoments } from '../../parts/moments';
import { More } from '../../parts/more';
import { PickOne } from '../../parts/pick-one';
import { Problem } from '../../parts/problem';
import { useSessionName } from '../../parts/session-name';
import { ABOUTS, type About, ACTIONS, iconOf } from './abouts';
import { fieldsOf } from './fields';
import { type Entry, useNames } from './names';
import { actionText, type TitleWords, titleOf } from './title';
import { isNothing, Value, type Words, wordsOf } from './value';

const PAGE = 25;

interface Chosen {
  readonly about: About | '';
  readonly action: string;
  readonly userId: string;
}
const ALL: Chosen = { about: '', action: '', userId: '' };

/** Who changed the node and what hangs on it, when, and what it was before; for whoever manages. */
export default function History({ node }: { readonly node: Node }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const [chosen, setChosen] = useState(ALL);
  const { about, action, userId } = chosen;
  const {
    items: entries,
    isRead,
    error,
    next,
    refetch,
  } = usePages({
    queryKey: ['node', node.id, 'history', about, action, userId],
    load: (place, options) =>
      client.call(
        listAudit,
        {
          node_id: node.id,
          ...(about === '' ? {} : { about }),
          ...(action === '' ? {} : { action }),
          ...(userId === '' ? {} : { user_id: userId }),
          ...place,
          limit: PAGE,
        },
        options,
      ),
  });
  const sessionName = useSessionName();
  const words: TitleWords = { node, nameOf: useNames(entries, node), whenOf: moments.whole, sessionName };
  const isFiltered = chosen !== ALL;
  return (
    <>
      <Filters chosen={chosen} people={usePeople(entries)} onChoose={setChosen} />
      {error && <Problem error={error} onRetry={refetch} />}
      {isRead && entries.length === 0 && (
        <div className="empty">
          <HistoryIcon className="i" aria-hidden="true" />
          <p>{t(isFiltered ? 'history.none_of_these' : 'history.none')}</p>
          {isFiltered && (
            <button type="button" className="btn sm" onClick={() => setChosen(ALL)}>
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
      {!isRead && !error && <Ghosts rows={12} height={52} label={t('history.loading')} />}
      <More next={next}>{t('history.older')}</More>
    </>
  );
}

interface FiltersProps {
  readonly chosen: Chosen;
  readonly people: ReadonlyMap<string, string>;
  readonly onChoose: (chosen: Chosen) => void;
}

/** What is changed and by whom; how, once it is chosen what. */
function Filters({ chosen, people, onChoose }: FiltersProps) {
  const { t } = useTranslation();
  const { about, action, userId } = chosen;
  const choose = (part: Partial<Chosen>) => {
    const next = { ...chosen, ...part };
    onChoose(next.about === '' && next.userId === '' ? ALL : next);
  };
  return (
    <div className="bar filters">
      <PickOne
        label={t('history.about')}
        options={[
          { value: '', text: t('history.everything') },
          ...ABOUTS.map((value) => ({ value, text: t(`history.abouts.${value}`) })),
        ]}
        value={about}
        onPick={(picked) => choose({ about: picked, action: '' })}
      />
      <PickOne
        label={t('history.person')}
        options={[
          { value: '', text: t('history.everybody') },
          ...[...people].map(([value, text]) => ({ value, text })),
        ]}
        value={userId}
        onPick={(picked) => choose({ userId: picked })}
      />
      {about !== '' && ACTIONS[about].length > 0 && (
        <PickOne
          label={t('history.filter')}
          options={[
            { value: '', text: t('history.all') },
            ...ACTIONS[about].map((value) => ({ value, text: actionText(t, value, about) })),
          ]}
          value={action}
          onPick={(picked) => choose({ action: picked })}
        />
      )}
    </div>
  );
}

/** Whoever has been seen in the history so far, by id: a filter takes nobody off its own list. */
function usePeople(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const [people, setPeople] = useState<ReadonlyMap<string, string>>(new Map());
  const seen = entries.flatMap(({ user }) => (user && !people.has(user.id) ? [user] : []));
  if (seen.length > 0) setPeople(new Map([...people, ...seen.map(({ id, name }) => [id, name] as const)]));
  return people;
}

function Row({ entry, words }: { readonly entry: Entry; readonly words: TitleWords }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const { at, user, via, session, target_kind, target_id, target_name } = entry;
  const who = user?.name ?? t('overview.system');
  const isAgent = via === 'mcp' || via === 'runner';
  const nodeId = words.node.id;
  const Icon = iconOf(entry, nodeId);
  const ofSession = session?.id ?? (target_kind === 'session' && target_name !== null ? target_id : null);
  return (
    <li>
      <span className="mk">
        <Icon className="i" aria-hidden="true" />
      </span>
      <div className="row">
        <span className="kind words">{titleOf(t, entry, words)}</span>
        <time className="when num push" dateTime={at} title={moments.whole(at)}>
          {moments.moment(at)}
        </time>
      </div>
      <div className="row">
        <Avatar name={who} isAgent={isAgent} />
        <span className="cut">{isAgent ? t('history.by_agent', { name: who }) : who}</span>
        {ofSession !== null && (
          <Link className="f12" to="/workspace" search={{ node: nodeId, session: ofSession }}>
            {t('history.session')}
          </Link>
        )}
      </div>
      <Changes entry={entry} words={words} />
    </li>
  );
}

/** Each field that changed, before and after; of what was made, what it was made with. */
function Changes({ entry, words }: { readonly entry: Entry; readonly words: Words }) {
  const { t } = useTranslation();
  const { before, after } = entry;
  const fields = fieldsOf(entry, words.node.id);
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
