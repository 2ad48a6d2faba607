import { closeSession, interruptSession, type RawJson, suspendSession } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { transition } from '@workspace-graph/domain';
import { append } from '../log/append.js';
import type { WrittenHandoff } from '../runs/session-runs.js';
import {
  actorOf,
  conflict,
  lockStoppableSession,
  readSession,
  refusal,
  type SessionRow,
} from '../shared/locked-session.js';
import { close as closeLocked, emitChanged, suspend as suspendLocked } from '../shared/session-changes.js';
import { USER_NAME } from './driving.statements.js';
import { isDriven } from './send-message.js';

/** What an agent had to say when it was asked for its handoff. */
export interface HandOver {
  readonly runId: string | null;
  /** False for a run that cannot be asked. */
  readonly wasAsked: boolean;
  readonly handoff: WrittenHandoff | null;
  readonly canContinue: boolean;
}

/** The run that the change has ended, and the session as it is then. */
export interface Stopped {
  readonly reply: RawJson;
  readonly session: SessionRow;
}

/** Records that a run was interrupted. */
export async function interrupt(tx: Transaction, sessionId: string): Promise<RawJson> {
  const session = await lockStoppableSession(tx, sessionId);
  const next = transition(session.state, { kind: 'interrupt', hasLiveRun: isDriven(session) });
  if ('refused' in next) throw await refusal(tx, session, next);
  const payload = { from: session.state, to: next.to, reason: 'interrupt' as const, by: await actor(tx, session) };
  await append(tx, { sessionId, runId: session.live_run_id }, [{ kind: 'state_changed', payload }]);
  tx.audit({ action: interruptSession.name, targetKind: 'session', targetId: sessionId, concerns: [session.node_id] });
  emitChanged(tx, session);
  return readSession(tx, sessionId);
}

/** Suspends a session with what its agent has handed over. @throws ServiceError CONFLICT when another run goes on by now */
export async function suspend(tx: Transaction, sessionId: string, handOver: HandOver): Promise<Stopped> {
  const session = await lockStoppableSession(tx, sessionId);
  const next = transition(session.state, { kind: 'suspend' });
  if ('refused' in next) throw await refusal(tx, session, next);
  if (session.live_run_id !== handOver.runId)
    throw await conflict(tx, session, 'Another run of the session has begun.');
  const { handoff, canContinue, wasAsked } = handOver;
  const reason = wasAsked && handoff === null ? 'agent_missed_handoff' : 'user';
  await suspendLocked(tx, session, {
    reason,
    outcome: 'suspended',
    by: await actor(tx, session),
    handoff,
    canContinue,
  });
  const changed = { before: { state: session.state }, after: { state: next.to, reason } };
  tx.audit({
    action: suspendSession.name,
    targetKind: 'session',
    targetId: sessionId,
    concerns: [session.node_id],
    ...changed,
  });
  return { reply: await readSession(tx, sessionId), session };
}

export async function close(tx: Transaction, sessionId: string): Promise<Stopped> {
  const session = await lockStoppableSession(tx, sessionId);
  const next = transition(session.state, { kind: 'close' });
  if ('refused' in next) throw await refusal(tx, session, next);
  await closeLocked(tx, session, await actor(tx, session));
  const changed = { before: { state: session.state }, after: { state: next.to } };
  tx.audit({
    action: closeSession.name,
    targetKind: 'session',
    targetId: sessionId,
    concerns: [session.node_id],
    ...changed,
  });
  return { reply: await readSession(tx, sessionId), session };
}

/** Whoever is not the owner stands in the log with their name. */
async function actor(tx: Transaction, session: SessionRow) {
  const { caller } = tx.context;
  const isSomebody = caller.via !== 'system' && caller.user_id !== session.owner_id;
  const user = isSomebody ? await tx.row<{ name: string }>(USER_NAME, [caller.user_id]) : null;
  return actorOf(tx, session, user?.name ?? null);
}
