import { once } from 'node:events';
import {
  type Caller,
  type Decision,
  type OutputOf,
  type RawJson,
  ServiceError,
  type sendMessage,
} from '@workspace-graph/contracts';
import {
  type CommandContext,
  type Database,
  runCommand,
  systemContext,
  type Transaction,
} from '@workspace-graph/database';
import type { RunRef, SessionRuns } from '../runs/session-runs.js';
import { isOwner, seenBy } from '../shared/caller.js';
import { lockAnySession, SERVER, type SessionRow } from '../shared/locked-session.js';
import { suspend } from '../shared/session-changes.js';
import { LIVE_RUN } from './driving.statements.js';
import { MARK_DELIVERED } from './question.statements.js';
import { isDriven, type SentMessage } from './send-message.js';
import { failRun, type OrderedRun } from './start-run.js';
import type { HandOver, Stopped } from './stop-session.js';
import { fitHandoff, lineOf } from './told.js';

/** How long an agent has for its handoff, in milliseconds. */
export const HANDOFF_MS = 30_000;

type LiveRun = Pick<SessionRow, 'id' | 'state' | 'origin' | 'owner_id' | 'live_run_id'> & Record<string, unknown>;

/** Passes on to runs what is recorded of them, and records what they say to it. */
export class DrivenRuns {
  constructor(
    private readonly database: Database,
    private readonly runs: SessionRuns,
    private readonly handoffMs: number,
  ) {}

  /**
   * Starts a run that `record` has recorded. A repeated call starts nothing: a run whose start was lost ends with its lease.
   */
  async begin(context: CommandContext, record: (tx: Transaction) => Promise<OrderedRun>): Promise<RawJson> {
    let ordered: OrderedRun | null = null;
    const reply = await runCommand(this.database, context, async (tx) => {
      ordered = await record(tx);
      return ordered.reply;
    });
    if (ordered === null) return reply;
    const { order } = ordered as OrderedRun;
    try {
      await this.runs.start(order);
    } catch (error) {
      return runCommand(this.database, follow(context, 'fail_run'), (tx) => failRun(tx, order, lineOf(error)));
    }
    await this.markDelivered(
      order.session_id,
      order.answers.map(({ request_id }) => request_id),
    );
    return reply;
  }

  async deliver({ run, seq }: SentMessage, text: string): Promise<OutputOf<typeof sendMessage>> {
    const isThere = await reached(this.runs.message(run, { seq, text }));
    if (isThere === false) await this.lose(run);
    return { seq, delivered: isThere === true };
  }

  async answer(run: RunRef, requestId: string, decision: Decision | null): Promise<void> {
    const isThere = await reached(this.runs.answer(run, requestId, decision));
    if (isThere) await this.markDelivered(run.session_id, [requestId]);
    if (isThere === false) await this.lose(run);
  }

  /** Ends the turn of a run that the caller may stop; whoever may not is refused by the record. */
  async interrupt(sessionId: string, caller: Caller): Promise<void> {
    const run = stoppable(await this.live(sessionId, caller), caller);
    const isThere = run && (await reached(this.runs.interrupt(run)));
    if (isThere === false && run) await this.lose(run);
    if (isThere === null && run) throw new ServiceError('SERVICE_UNAVAILABLE', 'The run cannot be reached.');
  }

  /** What the agent of a run that the caller may stop hands over. */
  async handOver(
    sessionId: string,
    { caller, signal }: CommandContext & { readonly signal: AbortSignal },
  ): Promise<HandOver> {
    const live = await this.live(sessionId, caller);
    const run = stoppable(live, caller);
    if (!run) return { runId: live?.live_run_id ?? null, wasAsked: false, handoff: null, canContinue: false };
    const within = AbortSignal.any([signal, AbortSignal.timeout(this.handoffMs)]);
    const asked = this.runs.handOver(run, within).catch(() => SILENT);
    const { handoff, can_continue: canContinue } = await Promise.race([asked, silence(within)]);
    signal.throwIfAborted();
    return { runId: run.run_id, wasAsked: true, handoff: handoff && fitHandoff(handoff), canContinue };
  }

  /** Ends the run of a session once that is recorded. A run that does not hear of it learns it with its next lease. */
  async stop(
    context: CommandContext,
    why: 'suspended' | 'closed',
    record: (tx: Transaction) => Promise<Stopped>,
  ): Promise<RawJson> {
    let stopped: Stopped | null = null;
    const reply = await runCommand(this.database, context, async (tx) => {
      stopped = await record(tx);
      return stopped.reply;
    });
    const session = (stopped as Stopped | null)?.session;
    if (session?.live_run_id && isDriven(session))
      await reached(this.runs.stop({ session_id: session.id, run_id: session.live_run_id }, why));
    return reply;
  }

  private live(sessionId: string, caller: Caller): Promise<LiveRun | null> {
    return this.database.row<LiveRun>(LIVE_RUN, [...seenBy(caller), sessionId]);
  }

  /** A run that is not there any more: its session does not stay running. */
  private async lose({ session_id, run_id }: RunRef): Promise<void> {
    await runCommand(this.database, systemContext('lose_run'), async (tx) => {
      const session = await lockAnySession(tx, session_id);
      if (session?.live_run_id !== run_id) return;
      await suspend(tx, session, { reason: 'server_restart', outcome: 'lost', by: SERVER, canContinue: false });
    });
  }

  private async markDelivered(sessionId: string, requestIds: readonly string[]): Promise<void> {
    if (requestIds.length > 0) await this.database.rows(MARK_DELIVERED, [sessionId, requestIds]);
  }
}

/** What an agent says that cannot be asked. */
const SILENT = { handoff: null, can_continue: false };

/** Whoever drives the run may not hear the signal either. */
async function silence(signal: AbortSignal): Promise<typeof SILENT> {
  if (!signal.aborted) await once(signal, 'abort');
  return SILENT;
}

/** What is recorded stays so when a run cannot be reached: null then. It learns it later. */
function reached<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch(() => null);
}

/** A change that follows from another one, for the same caller. */
function follow(context: CommandContext, name: string): CommandContext {
  const callId = `${context.envelope.callId}/${name}`;
  return { ...context, envelope: { ...context.envelope, callId }, operation: { name } };
}

/** The run of a session, if a runner drives it and the caller may stop it. */
function stoppable(session: LiveRun | null, caller: Caller): RunRef | null {
  if (!session?.live_run_id || !isDriven(session)) return null;
  const isAllowed = isOwner(caller, session) || caller.scope === 'manage';
  return isAllowed ? { session_id: session.id, run_id: session.live_run_id } : null;
}
