import { type NodeRef, type OutputOf, type ParsedInputOf, purgeNode, ServiceError } from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction, UnconfirmedChange } from '@workspace-graph/database';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { lockNode, type NodeRow, refuseStale } from './node.repository.js';
import {
  DELETE_NODE,
  DELETE_REQUESTS,
  DELETE_SETS,
  MEMBERS,
  NEIGHBOURS,
  PURGE_COUNTS,
  SEEN_BY,
  SETS_OF_GATE,
} from './purge.statements.js';

type Reply = OutputOf<typeof purgeNode>;
type Removes = Reply['removes'];

/** Members named in a refusal. */
const USES_SHOWN = 100;

/** Removes a node and all that hangs on it. Unconfirmed it answers what would go and who would gain access by that. */
export async function purge(tx: Transaction, input: ParsedInputOf<typeof purgeNode>): Promise<Reply> {
  await lockAccess(tx);
  const node = await lockNode(tx, input.node_id, 'for removal');
  await refuseStale(tx, node, input.expected_version);
  const removes = (await tx.row<{ removes: Removes }>(PURGE_COUNTS, [node.id]))?.removes;
  if (!removes) throw new Error('Counts return one row');
  if (removes.blockers.length > 0) return refuseBlocked(tx, node, removes, input.confirmed);
  const { result, preview } = await changeAccess(
    tx,
    { confirmed: input.confirmed, dryRun: !input.confirmed },
    () => remove(tx, node.id),
    (unconfirmed): Reply => ({ applied: false, preview: unconfirmed, removes }),
  );
  await tx.execute(DELETE_SETS, [result.staleSets]);
  const { id, type, name, sync_key, organization_id, lifecycle, version } = node;
  const { neighbours } = result;
  tx.audit({
    action: purgeNode.name,
    targetKind: 'node',
    targetId: id,
    concerns: neighbours,
    before: { type, name, sync_key, organization_id, lifecycle, version, removes, neighbour_ids: neighbours },
  });
  emitGraphChanged(tx, [id], purgeNode.name, {
    edges: neighbours.map((neighbour) => [id, neighbour]),
    gone: { node_id: id, seen_by: result.seenBy },
  });
  return { applied: true, preview, removes };
}

async function refuseBlocked(tx: Transaction, node: NodeRow, removes: Removes, confirmed: boolean): Promise<never> {
  if (!confirmed) throw new UnconfirmedChange({ applied: false, preview: null, removes } satisfies Reply);
  const members = await tx.rows<{ ref: NodeRef }>(MEMBERS, [node.id, USES_SHOWN]);
  const count = removes.blockers.reduce((sum, blocker) => sum + blocker.count, 0);
  throw new ServiceError('IN_USE', `The organization has ${count} members; move or purge them first.`, {
    uses: members.map(({ ref }) => ref),
    use_count: count,
  });
}

/** What belonged to the node may have inherited its sharing, so its access is worked out anew. */
async function remove(tx: Transaction, nodeId: string) {
  const neighbours = await tx.rows<{ id: string; belongs: boolean }>(NEIGHBOURS, [nodeId]);
  const staleSets = (await tx.rows<{ id: number }>(SETS_OF_GATE, [nodeId])).map((set) => set.id);
  const sight = await tx.row<{ users: string[] | null }>(SEEN_BY, [nodeId]);
  await tx.execute(DELETE_REQUESTS, [nodeId]);
  await tx.execute(DELETE_NODE, [nodeId]);
  return {
    result: { neighbours: neighbours.map((node) => node.id), staleSets, seenBy: sight?.users ?? null },
    refresh: neighbours.filter((node) => node.belongs).map((node) => node.id),
  };
}
