import { useQuery } from '@tanstack/react-query';
import { type Actor, listActors, listDuties, type OutputOf, type User } from '@workspace-graph/contracts';
import { useTranslation } from 'react-i18next';
import { client } from '../../../api/client';
import { usePages } from '../../../api/pages';
import { Ghosts } from '../../../parts/ghosts';
import { More } from '../../../parts/more';
import { NodeLink } from '../../../parts/node-link';
import { Problem } from '../../../parts/problem';

export type Duty = OutputOf<typeof listDuties>['items'][number];

const PAGE = 20;
/** As many as an answer has at most. */
const MOST = 100;
const NAMED = 5;
const ALL = ['active', 'completed', 'archived'] as const;

/** Everything that an actor owns and answers for, archived too; as much of it as one answer holds. */
export function useAllDuties(actorId: string | undefined) {
  return useQuery({
    enabled: actorId !== undefined,
    queryKey: ['directory', 'all-duties', actorId],
    queryFn: ({ signal }) =>
      client.call(listDuties, { actor_id: actorId ?? '', status: [...ALL], limit: MOST }, { signal }),
    staleTime: 0,
  });
}

/** How much it is, and of which nodes. */
export function Amount({ duties, isAll }: { readonly duties: readonly Duty[]; readonly isAll: boolean }) {
  const { t } = useTranslation();
  const owned = duties.filter(({ role }) => role === 'owner').length;
  const held = duties.length - owned;
  const names = [...new Set(duties.map(({ node }) => node.name))];
  return (
    <>
      {owned > 0 && <p>{t('people.owns', { count: owned })}</p>}
      {held > 0 && <p>{t('people.holds', { count: held })}</p>}
      {!isAll && <p>{t('people.owns_more')}</p>}
      {names.length > 0 && (
        <p>
          <bdi>{names.slice(0, NAMED).join(', ') + (names.length > NAMED ? '…' : '')}</bdi>
        </p>
      )}
    </>
  );
}

/** What the person that a user is owns and answers for: it stays theirs when they are disabled. */
export function OwnedByUser({ user }: { readonly user: User }) {
  const { t } = useTranslation();
  const { data: actor } = useQuery({
    queryKey: ['directory', 'actor-of', user.id],
    queryFn: async ({ signal }) => {
      const { items } = await client.call(listActors, { type: 'person', query: user.name, limit: MOST }, { signal });
      return items.find(({ user_id }) => user_id === user.id) ?? null;
    },
    staleTime: 0,
  });
  const { data } = useAllDuties(actor?.id);
  if (!data || data.items.length === 0) return null;
  return (
    <>
      <Amount duties={data.items} isAll={data.next_cursor === null} />
      <p>{t('people.stays')}</p>
    </>
  );
}

/** What an actor owns and answers for, node by node. */
export function Duties({ actor }: { readonly actor: Actor }) {
  const { t } = useTranslation();
  const {
    items: duties,
    isRead,
    error,
    next,
    refetch,
  } = usePages({
    queryKey: ['directory', 'duties', actor.id],
    load: (place, options) => client.call(listDuties, { actor_id: actor.id, limit: PAGE, ...place }, options),
  });
  return (
    <div>
      <h3>{t('people.duties')}</h3>
      {error && <Problem error={error} onRetry={refetch} />}
      {isRead && duties.length === 0 && <p className="t3">{t('people.no_duties')}</p>}
      <ul>
        {duties.map(({ node, responsibility }) => (
          <li className="li" key={`${node.id} ${responsibility?.id ?? ''}`}>
            <NodeLink node={node} />
            <span className="end cut">{responsibility?.title ?? t('people.owner')}</span>
          </li>
        ))}
      </ul>
      {!isRead && !error && <Ghosts rows={3} height={28} />}
      <More next={next} />
    </div>
  );
}
