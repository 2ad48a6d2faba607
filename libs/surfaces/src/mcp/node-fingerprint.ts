import { hash } from 'node:crypto';
import { getNode, RawJson } from '@workspace-graph/contracts';
import { type Connection, envelopeOf } from './connection.js';
import type { OperationBus } from './operation-bus.js';

/** Names of users, and how many sessions are anchored there: both change without the node. */
const BESIDE_NODE: readonly string[] = ['by', 'logged_by', 'resolved_by', 'sessions'];
/** Lists that stand in the order of the names of what they refer to. */
const ORDERED_BY_NAMES: readonly string[] = ['items', 'from'];

/**
 * What a caller sees of a node, as a hash: it changes when something of the node changes that they may see. Names of what
 * it refers to do not count, nor do places in lists that come from them: their changes are told of those, and never of the
 * node, whatever gives occasion to look.
 * @throws ServiceError as get_node does
 */
export async function fingerprintOf(
  bus: OperationBus,
  nodeId: string,
  connection: Connection,
  signal?: AbortSignal,
): Promise<string> {
  const reply = await bus.call(getNode, { node_id: nodeId }, envelopeOf(connection), signal ? { signal } : {});
  const node = reply instanceof RawJson ? reply.parse() : reply;
  return hash('sha256', JSON.stringify(node, ofItself), 'base64url');
}

/** For JSON.stringify, which calls it with the object that holds the value. */
function ofItself(this: object, key: string, value: unknown): unknown {
  if (BESIDE_NODE.includes(key)) return undefined;
  if (ORDERED_BY_NAMES.includes(key) && Array.isArray(value)) return value.toSorted(byId);
  const ofReference = key === 'name' && 'type' in this && !('lifecycle' in this);
  return ofReference ? undefined : value;
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return Number(a.id > b.id) - Number(a.id < b.id);
}
