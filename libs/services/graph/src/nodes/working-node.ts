import { type NodeType, validationFailed, WORKING_TYPES } from '@workspace-graph/contracts';
import { statement, type Transaction } from '@workspace-graph/database';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { lockNode, type NodeRow, refuseStale } from './node.repository.js';

const WORKING: readonly NodeType[] = WORKING_TYPES;

/**
 * Locks a node for a change of what it carries.
 * @throws ServiceError NODE_NOT_FOUND; VALIDATION_FAILED on path `node_id` for a type that carries nothing; CONFLICT
 */
export async function lockWorkingNode(
  tx: Transaction,
  nodeId: string,
  expectedVersion: number | undefined,
): Promise<NodeRow> {
  const node = await lockNode(tx, nodeId);
  if (!WORKING.includes(node.type)) {
    throw validationFailed([
      { path: 'node_id', message: `a node of type ${node.type} cannot have responsibilities, data sources or tools` },
    ]);
  }
  await refuseStale(tx, node, expectedVersion);
  return node;
}

/** Raises the version of a node after a change of what it carries, and tells of it. */
export async function touchNode(tx: Transaction, nodeId: string, action: string): Promise<void> {
  await tx.execute(TOUCH, [nodeId]);
  emitGraphChanged(tx, [nodeId], action);
}

const TOUCH = statement(
  'working_node.touch',
  `UPDATE graph.node SET version = version + 1, updated_at = now() WHERE id = $1::uuid`,
);
