import {
  type Health,
  type Lifecycle,
  type NodeRef,
  type NodeStatus,
  type NodeType,
  type RawJson,
  ServiceError,
  type Visibility,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { NODE_DETAIL, NODE_FOR_CHANGE, NODE_FOR_REMOVAL, NODES_TO_JOIN } from './node.statements.js';

/** A node's own columns while a change holds it locked. */
export interface NodeRow {
  readonly id: string;
  readonly type: NodeType;
  readonly name: string;
  readonly description: string;
  readonly goal: string;
  readonly lifecycle: Lifecycle;
  readonly lifecycle_before_archive: Lifecycle | null;
  readonly status: NodeStatus;
  readonly health: Health | null;
  readonly health_note: string | null;
  readonly organization_id: string | null;
  readonly owner_id: string | null;
  readonly visibility: Visibility | null;
  readonly sync_key: string;
  readonly version: number;
  readonly access_set_id: number | null;
}

/** The whole Node as get_node answers it, seen from inside a change. */
export async function readNode(tx: Transaction, nodeId: string): Promise<RawJson> {
  const node = await tx.json(NODE_DETAIL, [...seenBy(tx.context.caller), nodeId]);
  if (!node) throw nodeNotFound(nodeId);
  tx.restOn(nodeId);
  return node;
}

/** Locks a visible node against other changes, or for removal also against new references, until the end of the transaction. */
export async function lockNode(
  tx: Transaction,
  nodeId: string,
  purpose: 'for change' | 'for removal' = 'for change',
): Promise<NodeRow> {
  const row = await tx.row<NodeRow>(purpose === 'for change' ? NODE_FOR_CHANGE : NODE_FOR_REMOVAL, [
    ...seenBy(tx.context.caller),
    nodeId,
  ]);
  if (!row) throw nodeNotFound(nodeId);
  if (purpose === 'for change') tx.restOn(row.id);
  return row;
}

/** Keeps visible nodes from being purged until the end of the transaction; refuses when one is absent or hidden. */
export async function lockNodes(tx: Transaction, nodeIds: readonly string[]): Promise<ReadonlyMap<string, NodeRef>> {
  const rows = await tx.rows<NodeRef>(NODES_TO_JOIN, [...seenBy(tx.context.caller), nodeIds]);
  const found = new Map(rows.map((row) => [row.id, row]));
  const missing = nodeIds.find((id) => !found.has(id));
  if (missing !== undefined) throw nodeNotFound(missing);
  tx.restOn(...found.keys());
  return found;
}

/** Refuses a change that is based on another version than the node has. */
export async function refuseStale(
  tx: Transaction,
  node: Pick<NodeRow, 'id' | 'version'>,
  expected: number | undefined,
): Promise<void> {
  if (expected === undefined || expected === node.version) return;
  const current: unknown = (await readNode(tx, node.id)).parse();
  throw new ServiceError('CONFLICT', `The node now has version ${node.version}, not ${expected}.`, { current });
}
