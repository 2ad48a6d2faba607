import { type ScopeAccess, type ScopeAddedVia, ServiceError } from '@workspace-graph/contracts';
import { lockSeenNodes, type Transaction } from '@workspace-graph/database';
import { append } from '../log/append.js';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import type { SessionRow } from '../shared/locked-session.js';
import { emitChanged } from '../shared/session-changes.js';
import { HELD, HOLD, LOCK_NODES } from './scope.statements.js';

/** A node to which the caller has access, locked. */
export interface HoldableNode {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly level: number;
}

/** A node that a session did not hold before, or not for that. */
export interface AddedNode {
  readonly id: string;
  readonly access: ScopeAccess;
  readonly added_via: ScopeAddedVia;
}

interface Held {
  readonly id: string;
  readonly is_rejected: boolean;
  readonly is_joined: boolean;
}

const WRITE_LEVEL = 2;

/**
 * Locks nodes that are to be held, before the session: a purge takes them in that order too.
 * @throws ServiceError NODE_NOT_FOUND, FORBIDDEN for a node to change that the caller may only read
 */
export async function lockNodes(
  tx: Transaction,
  nodeIds: readonly string[],
  access: ScopeAccess,
): Promise<ReadonlyMap<string, HoldableNode>> {
  const rows = await lockSeenNodes<HoldableNode>(tx, LOCK_NODES, [...seenBy(tx.context.caller), nodeIds]);
  const nodes = new Map(rows.map((row) => [row.id, row]));
  const missing = nodeIds.find((id) => !nodes.has(id));
  if (missing !== undefined) throw nodeNotFound(missing);
  tx.restOn(...nodes.keys());
  const closed = rows.find(({ level }) => access === 'write' && level < WRITE_LEVEL);
  if (closed)
    throw new ServiceError('FORBIDDEN', `You may read the node ${closed.id}, but not write to it.`, {
      node_id: closed.id,
    });
  return nodes;
}

/** How an agent's session comes by each of these nodes. @throws ServiceError FORBIDDEN for one that a person has rejected */
export async function waysTo(tx: Transaction, sessionId: string, nodeIds: readonly string[]): Promise<ScopeAddedVia[]> {
  const rows = await tx.rows<Held>(HELD, [...seenBy(tx.context.caller), sessionId, nodeIds]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const rejected = rows.find(({ is_rejected }) => is_rejected);
  if (rejected)
    throw new ServiceError(
      'FORBIDDEN',
      `A person has taken the node ${rejected.id} out of the scope of this session; ask them to bring it back.`,
      { node_id: rejected.id },
    );
  return nodeIds.map((id) => (byId.get(id)?.is_joined ? 'expand' : 'disconnected'));
}

export interface Holding {
  readonly nodeIds: readonly string[];
  /** How each of them joins. */
  readonly ways: readonly ScopeAddedVia[];
  readonly access: ScopeAccess;
  readonly reason: string | null;
}

/** Lets a session that is locked hold nodes. Answers what it did not hold before, and enters that into the log. */
export async function hold(tx: Transaction, session: SessionRow, holding: Holding): Promise<AddedNode[]> {
  const { nodeIds, ways, access, reason } = holding;
  const byPerson = ways.includes('user');
  const added = await tx.rows<AddedNode>(HOLD, [session.id, nodeIds, ways, access, reason, byPerson]);
  if (added.length === 0) return added;
  const told = Map.groupBy(added, ({ added_via }) => added_via);
  await append(
    tx,
    { sessionId: session.id, runId: session.live_run_id },
    [...told].map(([added_via, nodes]) => ({
      kind: 'scope_changed',
      payload: { node_ids: nodes.map(({ id }) => id), access, added_via, ...(reason === null ? {} : { reason }) },
    })),
  );
  emitChanged(tx, session);
  return added;
}
