import { archiveNode, type ParsedInputOf, type RawJson, restoreNode } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { archivedLifecycle, restoredLifecycle } from '@workspace-graph/domain';
import { lockNode, readNode, refuseStale } from './node.repository.js';
import { lifecycleChanges, realChanges, storeChanges } from './node-changes.js';

/** Archives a node by its lifecycle; one that is archived already, or done, stays as it is. */
export async function archive(tx: Transaction, input: ParsedInputOf<typeof archiveNode>): Promise<RawJson> {
  const node = await lockNode(tx, input.node_id);
  await refuseStale(tx, node, input.expected_version);
  if (node.status === 'active') {
    await storeChanges(
      tx,
      node,
      realChanges(node, lifecycleChanges(node, archivedLifecycle(node.type))),
      archiveNode.name,
    );
  }
  return readNode(tx, node.id);
}

/** Brings an archived node back to the lifecycle it had; any other stays as it is. */
export async function restore(tx: Transaction, input: ParsedInputOf<typeof restoreNode>): Promise<RawJson> {
  const node = await lockNode(tx, input.node_id);
  await refuseStale(tx, node, input.expected_version);
  if (node.status === 'archived') {
    const former = restoredLifecycle(node.type, node.lifecycle_before_archive);
    await storeChanges(tx, node, realChanges(node, lifecycleChanges(node, former)), restoreNode.name);
  }
  return readNode(tx, node.id);
}
