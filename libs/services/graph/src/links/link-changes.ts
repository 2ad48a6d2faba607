import {
  addDataSource,
  addTool,
  type OutputOf,
  type ParsedInputOf,
  removeDataSource,
  removeTool,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { linkProblem } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import { lockWorkingNode, touchNode } from '../nodes/working-node.js';
import { seenBy } from '../shared/caller.js';
import { DELETE_LINK, INSERT_LINK, NODE_OF_LINK } from './link.statements.js';

export type LinkKind = 'data_source' | 'tool';
type Link = OutputOf<typeof addDataSource>;

const CHANGED_BY = {
  data_source: { add: addDataSource, remove: removeDataSource },
  tool: { add: addTool, remove: removeTool },
} as const;

/** Adds a data source or tool after the others of the node. `back`: one that comes back, to where it stood. */
export async function addLink(
  tx: Transaction,
  kind: LinkKind,
  input: ParsedInputOf<typeof addDataSource>,
  back: { readonly id: string; readonly position: number | null } = { id: newId(), position: null },
): Promise<Link> {
  const { name, url } = input;
  const { id, position } = back;
  const problem = url === null ? null : linkProblem(url);
  if (problem !== null) throw validationFailed([{ path: 'url', message: problem }]);
  const node = await lockWorkingNode(tx, input.node_id, input.expected_version);
  await tx.execute(INSERT_LINK, [id, node.id, node.type, kind, name, url, position]);
  tx.audit({
    action: CHANGED_BY[kind].add.name,
    targetKind: kind,
    targetId: id,
    concerns: [node.id],
    after: { node_id: node.id, name, url },
  });
  await touchNode(tx, node.id, CHANGED_BY[kind].add.name);
  return { id, name, url };
}

/** Removes a data source or tool; the others keep their order. */
export async function removeLink(
  tx: Transaction,
  kind: LinkKind,
  link: { readonly id: string; readonly expectedVersion: number | undefined },
): Promise<{ done: true }> {
  const found = await tx.row<{ node_id: string }>(NODE_OF_LINK, [...seenBy(tx.context.caller), link.id, kind]);
  if (!found) throw linkNotFound(kind, link.id);
  const node = await lockWorkingNode(tx, found.node_id, link.expectedVersion);
  const removed = await tx.row<Pick<Link, 'name' | 'url'> & { position: number }>(DELETE_LINK, [link.id]);
  // Somebody else may have removed it while the node was not locked yet.
  if (!removed) throw linkNotFound(kind, link.id);
  tx.audit({
    action: CHANGED_BY[kind].remove.name,
    targetKind: kind,
    targetId: link.id,
    concerns: [node.id],
    before: { node_id: node.id, ...removed },
  });
  await touchNode(tx, node.id, CHANGED_BY[kind].remove.name);
  return { done: true };
}

function linkNotFound(kind: LinkKind, id: string): ServiceError {
  return new ServiceError('LINK_NOT_FOUND', `There is no ${kind.replace('_', ' ')} ${id} that you may see.`, { id });
}
