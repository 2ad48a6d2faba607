import {
  connect,
  type Edge,
  type NodeRef,
  type OutputOf,
  type ParsedInputOf,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { lockNodes } from '../nodes/node.repository.js';
import { authorOf } from '../shared/caller.js';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { EDGE_BY_KEY, INSERT_EDGE } from './edge.statements.js';

type Input = ParsedInputOf<typeof connect>;
type Reply = OutputOf<typeof connect>;

/** Joins two visible nodes. belongs_to carries sharing, so it goes through the preview of access. `id`: of an edge that comes back. */
export async function connectNodes(tx: Transaction, input: Input, id = newId()): Promise<Reply> {
  if (input.source_id === input.target_id)
    throw validationFailed([{ path: 'target_id', message: 'a node cannot have an edge to itself' }]);
  const carriesAccess = input.relation === 'belongs_to';
  if (carriesAccess) await lockAccess(tx);
  const nodes = await lockNodes(tx, [input.source_id, input.target_id]);
  const [source, target] = [nodes.get(input.source_id), nodes.get(input.target_id)];
  if (!source || !target) throw new Error('A locked node is missing');
  const edge: Edge = { id, source, target, relation: input.relation };
  if (!carriesAccess) {
    await insert(tx, edge);
    return { applied: true, preview: null, edge };
  }
  await refuseOrganizations(tx, edge);
  const { preview } = await changeAccess(
    tx,
    { confirmed: input.confirmed },
    async () => {
      await insert(tx, edge);
      return { result: null, refresh: [source.id] };
    },
    (unconfirmed): Reply => ({ applied: false, preview: unconfirmed, edge: null }),
  );
  return { applied: true, preview, edge };
}

async function insert(tx: Transaction, edge: Edge): Promise<void> {
  const [sourceId, targetId] = [edge.source.id, edge.target.id];
  const made = await tx.row(INSERT_EDGE, [edge.id, sourceId, targetId, edge.relation, authorOf(tx.context.caller)]);
  if (!made) await refuseExisting(tx, edge);
  const after = { source_id: sourceId, target_id: targetId, relation: edge.relation };
  tx.audit({ action: connect.name, targetKind: 'edge', targetId: edge.id, concerns: [sourceId, targetId], after });
  emitGraphChanged(tx, [], connect.name, { edges: [[sourceId, targetId]] });
}

async function refuseExisting(tx: Transaction, { source, target, relation }: Edge): Promise<void> {
  const existing = await tx.row<{ id: string }>(EDGE_BY_KEY, [source.id, target.id, relation]);
  if (existing)
    throw new ServiceError('EDGE_EXISTS', `${source.name} ${relation} ${target.name} already.`, {
      edge_id: existing.id,
    });
}

/** Membership in an organization is made by create_node and changed by move_node alone. */
async function refuseOrganizations(tx: Transaction, edge: Edge): Promise<void> {
  await refuseExisting(tx, edge);
  const organization: NodeRef | undefined = [edge.source, edge.target].find((node) => node.type === 'organization');
  if (!organization) return;
  const message =
    organization === edge.source
      ? 'source_id: an organization cannot belong to another node.'
      : 'target_id: a node belongs to exactly one organization; move the node to change it.';
  throw new ServiceError('ORG_INVARIANT', message, {
    node_id: organization.id,
    ...(organization === edge.target ? { hint: 'move_node' } : {}),
  });
}
