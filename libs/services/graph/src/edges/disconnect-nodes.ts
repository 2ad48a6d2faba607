import { disconnect, type Edge, type OutputOf, type ParsedInputOf, ServiceError } from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction } from '@workspace-graph/database';
import { seenBy } from '../shared/caller.js';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { DELETE_EDGE, EDGE_BY_ID } from './edge.statements.js';

type Input = ParsedInputOf<typeof disconnect>;
type Reply = OutputOf<typeof disconnect>;

/** Removes an edge between visible nodes; not the membership of a node in its organization. */
export async function disconnectNodes(tx: Transaction, input: Input): Promise<Reply> {
  const edge = (await tx.row<{ edge: Edge }>(EDGE_BY_ID, [...seenBy(tx.context.caller), input.edge_id]))?.edge;
  if (!edge) throw edgeNotFound(input.edge_id);
  tx.restOn(edge.source.id, edge.target.id);
  if (edge.relation !== 'belongs_to') {
    await remove(tx, edge);
    return { applied: true, preview: null, edge };
  }
  if (edge.target.type === 'organization') {
    throw new ServiceError(
      'ORG_INVARIANT',
      `${edge.source.name} must belong to an organization; move the node to change it.`,
      {
        node_id: edge.source.id,
        hint: 'move_node',
      },
    );
  }
  await lockAccess(tx);
  const { preview } = await changeAccess(
    tx,
    { confirmed: input.confirmed },
    async () => {
      await remove(tx, edge);
      return { result: null, refresh: [edge.source.id] };
    },
    (unconfirmed): Reply => ({ applied: false, preview: unconfirmed, edge }),
  );
  return { applied: true, preview, edge };
}

async function remove(tx: Transaction, edge: Edge): Promise<void> {
  // Somebody else may have removed it since it was read.
  if ((await tx.execute(DELETE_EDGE, [edge.id])) === 0) throw edgeNotFound(edge.id);
  const ends = [edge.source.id, edge.target.id] as const;
  const before = { source_id: ends[0], target_id: ends[1], relation: edge.relation };
  tx.audit({ action: disconnect.name, targetKind: 'edge', targetId: edge.id, concerns: ends, before });
  emitGraphChanged(tx, [], disconnect.name, { edges: [ends] });
}

function edgeNotFound(edgeId: string): ServiceError {
  return new ServiceError('EDGE_NOT_FOUND', `There is no edge ${edgeId} that you may see.`, { edge_id: edgeId });
}
