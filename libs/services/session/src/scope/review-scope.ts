import {
  type ParsedInputOf,
  type RawJson,
  type reviewScope,
  type ScopeAddedVia,
  type ScopeReview,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { append } from '../log/append.js';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { conflict, lockStoppableSession, readSession, type SessionRow } from '../shared/locked-session.js';
import { emitChanged } from '../shared/session-changes.js';
import { REVIEW, SCOPE_NODE } from './scope.statements.js';

interface ScopeRow {
  readonly added_via: ScopeAddedVia;
  readonly review: ScopeReview | null;
}

/** A person accepts or rejects what a session holds. */
export async function review(
  tx: Transaction,
  { session_id, node_id, decision }: ParsedInputOf<typeof reviewScope>,
): Promise<RawJson> {
  const session = await lockStoppableSession(tx, session_id);
  const row = await tx.row<ScopeRow>(SCOPE_NODE, [...seenBy(tx.context.caller), session_id, node_id]);
  if (!row) throw nodeNotFound(node_id);
  tx.restOn(node_id);
  const next: ScopeReview = decision === 'accept' ? 'accepted' : 'rejected';
  if (row.review !== next) await decide(tx, session, { nodeId: node_id, row, next });
  return readSession(tx, session_id);
}

async function decide(
  tx: Transaction,
  session: SessionRow,
  { nodeId, row, next }: { readonly nodeId: string; readonly row: ScopeRow; readonly next: ScopeReview },
): Promise<void> {
  if (nodeId === session.node_id && next === 'rejected')
    throw await conflict(tx, session, 'A session keeps its home node; close the session instead.');
  if (row.review === 'rejected')
    throw await conflict(tx, session, 'The node was rejected; its owner can bring it into the scope again.');
  await tx.execute(REVIEW, [session.id, nodeId, next, tx.context.caller.user_id]);
  if (next === 'rejected')
    await append(tx, { sessionId: session.id, runId: session.live_run_id }, [
      { kind: 'scope_changed', payload: { node_ids: [nodeId], access: null, added_via: row.added_via } },
    ]);
  emitChanged(tx, session);
  tx.audit({
    action: 'review_scope',
    targetKind: 'session',
    targetId: session.id,
    concerns: [session.node_id, nodeId],
    before: { review: row.review },
    after: { node_id: nodeId, review: next },
  });
}
