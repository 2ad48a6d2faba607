import type { initSession, ParsedInputOf, RawJson } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { defaultSessionName } from '@workspace-graph/domain';
import { append } from '../log/append.js';
import { SEED_SCOPE } from '../runs/run.statements.js';
import { seenBy, sessionNotFound } from '../shared/caller.js';
import { conflict, lockOwnSession } from '../shared/locked-session.js';
import { emitChanged } from '../shared/session-changes.js';
import { agentsSession } from './agents-session.js';
import { lockNodes, waysTo } from './hold-nodes.js';
import { ANCHOR, STANDING } from './scope.statements.js';

/** Tells an agent where its session stands, and anchors it when it asks for that. */
export async function init(tx: Transaction, { node_id }: ParsedInputOf<typeof initSession>): Promise<RawJson> {
  const sessionId = agentsSession(tx.context.caller);
  if (node_id !== undefined) await anchor(tx, sessionId, node_id);
  const standing = await tx.json(STANDING, [...seenBy(tx.context.caller), sessionId]);
  if (!standing) throw sessionNotFound(sessionId);
  return standing;
}

async function anchor(tx: Transaction, sessionId: string, nodeId: string): Promise<void> {
  const node = (await lockNodes(tx, [nodeId], 'read')).get(nodeId);
  const session = await lockOwnSession(tx, sessionId);
  if (session.node_id === nodeId) return;
  if (session.node_id !== null)
    throw await conflict(
      tx,
      session,
      'The session has another home node; svc_expand_scope brings this one into its scope.',
    );
  // A person who has taken the node out decides whether it comes back.
  await waysTo(tx, sessionId, [nodeId]);
  const name = session.is_named || !node ? session.name : defaultSessionName(node.name, new Date());
  await tx.execute(ANCHOR, [sessionId, nodeId, name]);
  await tx.execute(SEED_SCOPE, [...seenBy(tx.context.caller), sessionId, nodeId]);
  await append(tx, { sessionId, runId: session.live_run_id }, [
    { kind: 'scope_changed', payload: { node_ids: [nodeId], access: 'write', added_via: 'seed' } },
  ]);
  emitChanged(tx, { ...session, node_id: nodeId });
  tx.audit({
    action: 'init_session',
    targetKind: 'session',
    targetId: sessionId,
    concerns: [nodeId],
    after: { node_id: nodeId },
  });
}
