import {
  type addToSessionScope,
  type expandScope,
  type OutputOf,
  type ParsedInputOf,
  type RawJson,
  ServiceError,
  scopeIncludes,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { lockOwnSession, readSession } from '../shared/locked-session.js';
import { agentsSession } from './agents-session.js';
import { type AddedNode, type HoldableNode, hold, lockNodes, waysTo } from './hold-nodes.js';

/** Brings nodes into the scope of the agent's own session. */
export async function expand(
  tx: Transaction,
  { node_ids, access, reason }: ParsedInputOf<typeof expandScope>,
): Promise<OutputOf<typeof expandScope>> {
  if (access === 'write' && !scopeIncludes(tx.context.caller.scope, 'write'))
    throw new ServiceError('FORBIDDEN', 'access: this needs the scope write.', { required_scope: 'write' });
  const nodeIds = [...new Set(node_ids)];
  const nodes = await lockNodes(tx, nodeIds, access);
  const session = await lockOwnSession(tx, agentsSession(tx.context.caller));
  const ways = await waysTo(tx, session.id, nodeIds);
  const added = await hold(tx, session, { nodeIds, ways, access, reason });
  if (added.length > 0)
    tx.audit({
      action: 'expand_scope',
      targetKind: 'session',
      targetId: session.id,
      concerns: [session.node_id, ...added.map(({ id }) => id)],
      after: { node_ids: added.map(({ id }) => id), access, reason },
    });
  const { read_count, write_count } = (await readSession(tx, session.id)).parse() as {
    read_count: number;
    write_count: number;
  };
  return { added: added.map((each) => told(each, nodes)), read_count, write_count };
}

/** The same, done by the person whose session it is: also for nodes that were rejected. */
export async function addToScope(
  tx: Transaction,
  { session_id, node_ids, access }: ParsedInputOf<typeof addToSessionScope>,
): Promise<RawJson> {
  const nodeIds = [...new Set(node_ids)];
  await lockNodes(tx, nodeIds, access);
  const session = await lockOwnSession(tx, session_id);
  const ways = nodeIds.map(() => 'user' as const);
  const added = await hold(tx, session, { nodeIds, ways, access, reason: null });
  if (added.length > 0)
    tx.audit({
      action: 'add_to_session_scope',
      targetKind: 'session',
      targetId: session.id,
      concerns: [session.node_id, ...added.map(({ id }) => id)],
      after: { node_ids: added.map(({ id }) => id), access },
    });
  return readSession(tx, session.id);
}

function told({ id, access, added_via }: AddedNode, nodes: ReadonlyMap<string, HoldableNode>) {
  const node = nodes.get(id);
  if (!node) throw new Error('A node was added that nobody asked for');
  return { id, type: node.type as 'project', name: node.name, access, added_via };
}
