import type { RunOutcome, SessionActor, SessionState, SuspendReason } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { minimalHandoff, sessionNameOf } from '@workspace-graph/domain';
import { append, type NewEvent } from '../log/append.js';
import {
  END_RUN,
  HANDOFF_FACTS,
  KEEP_HANDOFF,
  type LoggedFacts,
  SET_STATE,
  WITHDRAW_QUESTIONS,
} from './change.statements.js';
import { SERVER, type SessionRow } from './locked-session.js';

/** What several changes of a session have in common. Each expects the row to be locked by the transaction. */

interface KeptHandoff {
  readonly title: string;
  readonly text: string;
  readonly written_by: 'agent' | 'server';
}

export interface Suspension {
  readonly reason: SuspendReason | null;
  readonly outcome: RunOutcome;
  readonly by: SessionActor;
  /** That the agent has written just now; without it the one that it wrote in this run, or the server's. */
  readonly handoff?: { readonly title: string; readonly text: string } | null;
  readonly canContinue: boolean;
  readonly error?: string | undefined;
}

/** Tells after the commit that something shown of the session has changed. */
export function emitChanged(tx: Transaction, session: Pick<SessionRow, 'id' | 'node_id' | 'owner_id'>): void {
  tx.emit('session.changed', { session_id: session.id, node_id: session.node_id, owner_id: session.owner_id });
}

/** Makes a handoff that of the session, and calls the session by its title unless the owner has named it. */
export async function keepHandoff(tx: Transaction, session: SessionRow, handoff: KeptHandoff): Promise<void> {
  const isNamedByIt = handoff.written_by === 'agent' && !session.is_named;
  const name = isNamedByIt ? sessionNameOf(aboutOf(session), handoff.title) : session.name;
  await tx.execute(KEEP_HANDOFF, [session.id, handoff.title, handoff.text, handoff.written_by, name]);
}

/** What a session is about, for its name. */
export function aboutOf({ node_name, client }: Pick<SessionRow, 'node_name' | 'client'>): string {
  const told = [client?.title, client?.name].map((text) => text?.replace(/\p{Cc}+/gu, ' ').trim());
  return node_name ?? told.find(Boolean) ?? 'Session';
}

/** Suspends a running session: handoff, end of the run, state, each with its event. */
export async function suspend(tx: Transaction, session: SessionRow, suspension: Suspension): Promise<void> {
  const { reason, by, outcome, error, canContinue } = suspension;
  const facts = await factsOf(tx, session);
  const handoff = handoffOf(session, suspension, facts);
  const events: NewEvent[] = [];
  if (handoff) {
    await keepHandoff(tx, session, handoff);
    events.push({ kind: 'handoff', payload: { ...handoff, ...(reason ? { reason } : {}) } });
  }
  if (session.live_run_id !== null) events.push(await endRun(tx, session.live_run_id, outcome, error));
  const payload = { from: session.state, to: 'suspended' as const, by, ...(reason ? { reason } : {}) };
  await append(tx, { sessionId: session.id, runId: session.live_run_id }, [
    ...events,
    { kind: 'state_changed', payload },
  ]);
  await tx.execute(SET_STATE, [session.id, 'suspended' satisfies SessionState, reason, null, canContinue]);
  emitChanged(tx, session);
}

/** Closes a session: nobody can answer its questions any more, its run ends. */
export async function close(tx: Transaction, session: SessionRow, by: SessionActor): Promise<void> {
  const events: NewEvent[] = await withdrawQuestions(tx, session);
  if (session.live_run_id !== null) events.push(await endRun(tx, session.live_run_id, 'closed'));
  const payload = { from: session.state, to: 'closed' as const, reason: 'close' as const, by };
  await append(tx, { sessionId: session.id, runId: session.live_run_id }, [
    ...events,
    { kind: 'state_changed', payload },
  ]);
  await tx.execute(SET_STATE, [session.id, 'closed' satisfies SessionState, null, null, false]);
  emitChanged(tx, session);
}

/** The event of a run's end, with which its row is ended. */
export async function endRun(tx: Transaction, runId: string, outcome: RunOutcome, error?: string): Promise<NewEvent> {
  await tx.execute(END_RUN, [runId, outcome, error ?? null]);
  return { kind: 'run_ended', payload: { run_id: runId, outcome, ...(error === undefined ? {} : { error }) } };
}

async function withdrawQuestions(tx: Transaction, session: SessionRow): Promise<NewEvent[]> {
  if (session.waiting_since === null) return [];
  const rows = await tx.rows<{ request_id: string }>(WITHDRAW_QUESTIONS, [session.id]);
  return rows.map(({ request_id }) => ({ kind: 'answer', payload: { request_id, decision: null, by: SERVER } }));
}

async function factsOf(tx: Transaction, session: SessionRow): Promise<LoggedFacts> {
  const facts = await tx.row<LoggedFacts>(HANDOFF_FACTS, [session.id, session.live_run_id]);
  if (!facts) throw new Error('A locked session is gone');
  return facts;
}

/** Null where the agent has written one in this run, which stays. */
function handoffOf(session: SessionRow, { handoff, reason }: Suspension, facts: LoggedFacts): KeptHandoff | null {
  if (handoff) return { ...handoff, written_by: 'agent' };
  if (facts.is_handed_over) return null;
  const { name, brief } = session;
  return {
    ...minimalHandoff({ ...facts, name, brief, reason, changedFiles: [...new Set(facts.changedFiles)] }),
    written_by: 'server',
  };
}
