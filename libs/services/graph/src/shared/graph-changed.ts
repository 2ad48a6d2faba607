import { nameable, type Transaction } from '@workspace-graph/database';

/** Tells after the commit that something drawn or listed of these nodes has changed. */
export function emitGraphChanged(tx: Transaction, nodeIds: readonly string[], action: string): void {
  const ids = [...new Set(nodeIds)];
  if (ids.length > 0) tx.emit('graph.changed', { node_ids: nameable(ids), action });
}
