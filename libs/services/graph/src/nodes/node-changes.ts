import type { Lifecycle } from '@workspace-graph/contracts';
import { type Statement, statement, type Transaction } from '@workspace-graph/database';
import { lifecycleChange } from '@workspace-graph/domain';
import { authorOf } from '../shared/caller.js';
import { emitGraphChanged } from '../shared/graph-changed.js';
import type { NodeRow } from './node.repository.js';
import { refuseForeignLifecycle } from './node-rules.js';

/** The columns that updates set, with their types. */
const COLUMNS = {
  name: 'text',
  description: 'text',
  goal: 'text',
  lifecycle: 'text',
  lifecycle_before_archive: 'text',
  health: 'text',
  health_note: 'text',
  owner_id: 'uuid',
} as const;
type Column = keyof typeof COLUMNS;

/** New values of a node's fields; those that equal the stored ones are no change. */
export type NodeChanges = { [C in Column]?: NodeRow[C] | undefined };

/** What entering a lifecycle changes. Entering an archived one remembers the former, leaving it forgets that. */
export function lifecycleChanges(node: NodeRow, to: Lifecycle): NodeChanges {
  switch (lifecycleChange(node.type, node.lifecycle, to)) {
    case 'invalid':
      refuseForeignLifecycle(node.type, to);
      return {};
    case 'none':
      return {};
    case 'change':
      return { lifecycle: to };
    case 'archive':
      return { lifecycle: to, lifecycle_before_archive: node.lifecycle };
    case 'restore':
      return { lifecycle: to, lifecycle_before_archive: null };
  }
}

/** Only what differs from the stored node. */
export function realChanges(node: NodeRow, changes: NodeChanges): NodeChanges {
  const columns = Object.keys(COLUMNS) as Column[];
  return Object.fromEntries(
    columns
      .filter((column) => changes[column] !== undefined && changes[column] !== node[column])
      .map((column) => [column, changes[column]]),
  );
}

/** Stores changes of a locked node under a new version, with an audit row; nothing when there are none. */
export async function storeChanges(
  tx: Transaction,
  node: NodeRow,
  changes: NodeChanges,
  action: string,
): Promise<void> {
  const columns = (Object.keys(COLUMNS) as Column[]).filter((column) => column in changes);
  if (columns.length === 0) return;
  await tx.execute(updateStatement(columns), [node.id, ...columns.map((column) => changes[column])]);
  if (columns.includes('health') || columns.includes('health_note'))
    await tx.execute(SIGN_HEALTH, [node.id, authorOf(tx.context.caller)]);
  tx.audit({
    action,
    targetKind: 'node',
    targetId: node.id,
    before: Object.fromEntries(columns.map((column) => [column, node[column]])),
    after: { ...changes },
  });
  emitGraphChanged(tx, [node.id], action);
}

/** $1 node, $2… the columns. */
function updateStatement(columns: readonly Column[]): Statement {
  const sets = columns.map((column, index) => `${column} = $${index + 2}::${COLUMNS[column]}`);
  return {
    name: `node.update.${Object.keys(COLUMNS)
      .map((column) => (columns.includes(column as Column) ? 1 : 0))
      .join('')}`,
    text: `UPDATE graph.node SET version = version + 1, updated_at = now(), ${sets.join(', ')} WHERE id = $1::uuid`,
  };
}

const SIGN_HEALTH = statement(
  'node.sign_health',
  `UPDATE graph.node SET health_by = $2::uuid, health_at = now() WHERE id = $1::uuid`,
);
