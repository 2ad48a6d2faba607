import { useQuery } from '@tanstack/react-query';
import { Refusal } from '@workspace-graph/client';
import { deleteActor, listActors, purgeNode } from '@workspace-graph/contracts';
import { FlaskConical, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../api/change';
import { client, queries } from '../api/client';
import type { GraphNode } from '../graph/graph';
import { useGraph } from '../graph/graph-query';
import { Confirm } from '../parts/confirm';
import { tell } from '../parts/toasts';
import { DEMO_ID, demoIds } from '../start/demo';

/** Actors of one page: the demo brings a few. */
const ACTORS = 500;

/** Takes the demo away as a whole, where it is there. */
export function DemoRemoval() {
  const { t } = useTranslation();
  const { data: graph } = useGraph();
  const [isAsked, setAsked] = useState(false);
  const organization = graph?.nodes.get(DEMO_ID);
  if (!graph || !organization) return null;
  const members = [...graph.nodes.values()].filter(({ organizationId }) => organizationId === DEMO_ID);
  return (
    <section aria-label={t('demo.title')}>
      <h2>{t('demo.title')}</h2>
      <p>{t('demo.help', { name: organization.name })}</p>
      {isAsked ? (
        <Removal nodes={[...members, organization]} name={organization.name} onLeave={() => setAsked(false)} />
      ) : (
        <button type="button" className="btn" onClick={() => setAsked(true)}>
          <FlaskConical className="i" aria-hidden="true" />
          {t('demo.remove')}
        </button>
      )}
    </section>
  );
}

interface RemovalProps {
  /** The organization comes last: it can go when it has no member any more. */
  readonly nodes: readonly GraphNode[];
  readonly name: string;
  readonly onLeave: () => void;
}

function Removal({ nodes, name, onLeave }: RemovalProps) {
  const { t } = useTranslation();
  const { data: ids, error: unknown } = useQuery({ queryKey: ['demo'], queryFn: demoIds });
  const [done, setDone] = useState<{ readonly done: number; readonly count: number } | null>(null);
  const added = ids ? nodes.filter(({ id }) => !ids.nodes.has(id)).length : 0;
  const remove = async () => {
    if (!ids) return;
    try {
      for (const [at, { id }] of nodes.entries()) {
        setDone({ done: at, count: nodes.length });
        await purge(id);
      }
      await deletePeople(ids.actors);
      tell(t('demo.removed'));
    } finally {
      setDone(null);
      for (const queryKey of [['graph'], ['overview']]) void queries.invalidateQueries({ queryKey });
    }
  };
  return (
    <Confirm
      icon={Trash2}
      title={t('demo.question', { name })}
      action={ids ? t('demo.confirm') : null}
      error={unknown}
      onConfirm={remove}
      onLeave={done === null ? onLeave : null}
    >
      <p>{t('demo.with', { count: done?.count ?? nodes.length })}</p>
      {added > 0 && <p>{t('demo.yours', { count: added })}</p>}
      <p role="status">{done && t('demo.removing', done)}</p>
    </Confirm>
  );
}

/** What is gone already is gone. */
async function purge(nodeId: string): Promise<void> {
  try {
    await change(purgeNode, { node_id: nodeId, confirmed: true });
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'NODE_NOT_FOUND')) throw error;
  }
}

/** Those of its people and automations that nothing else uses meanwhile. */
async function deletePeople(ids: ReadonlySet<string>): Promise<void> {
  const { items } = await client.call(listActors, { limit: ACTORS });
  for (const { id } of items.filter((actor) => ids.has(actor.id))) {
    try {
      await change(deleteActor, { actor_id: id, confirmed: true });
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'IN_USE')) throw error;
    }
  }
}
