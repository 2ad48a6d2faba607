import { Inject, Injectable } from '@nestjs/common';
import type { Decision } from '@workspace-graph/contracts';
import { Database, runCommand, type Statement, systemContext, type Transaction } from '@workspace-graph/database';
import { transition } from '@workspace-graph/domain';
import { DrivenRuns } from '../driving/driven-runs.js';
import { LOCK_QUESTION, type QuestionRow } from '../driving/question.statements.js';
import { settle } from '../driving/questions.js';
import { isDriven } from '../driving/send-message.js';
import { append } from '../log/append.js';
import { SET_STATE } from '../shared/change.statements.js';
import { lockAnySession, SERVER } from '../shared/locked-session.js';
import { emitChanged, type Suspension, suspend } from '../shared/session-changes.js';
import {
  EXPIRED_RUNS,
  IDLE_RUNS,
  IS_EXPIRED,
  IS_IDLE,
  OLD_SESSIONS,
  OVERDUE_QUESTIONS,
  RUNS_OF_OTHERS,
} from './sweep.statements.js';

/** Of each kind in one sweep; the next one goes on. */
const MOST = 200;

/** A connected agent that has done nothing for so long is not there. */
const IDLE_MINUTES = 30;

const RESTARTED: Suspension = { reason: 'server_restart', outcome: 'lost', by: SERVER, canContinue: false };
const IDLE: Suspension = { reason: 'idle', outcome: 'suspended', by: SERVER, canContinue: true };

interface RunOfSession extends Record<string, unknown> {
  readonly session_id: string;
  readonly run_id: string;
}

/**
 * What becomes of sessions by time alone. Every instance may sweep: each step looks again at the session once it is
 * locked, so that nothing is done twice.
 */
@Injectable()
export class SessionSweeps {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(DrivenRuns) private readonly driven: DrivenRuns,
  ) {}

  /** One round. Answers how many sessions it changed. */
  async sweep({ archiveAfterDays }: { readonly archiveAfterDays: number }): Promise<number> {
    const suspended = (await this.suspendExpired()) + (await this.suspendIdle());
    return suspended + (await this.answerOverdue()) + (await this.archiveOld(archiveAfterDays));
  }

  /** Suspends what ran in an earlier life of a process that is the only one. `holders` are those of its present life. */
  async suspendRunsOfOthers(holders: readonly string[]): Promise<number> {
    let count = 0;
    for (;;) {
      const runs = await this.database.rows<RunOfSession>(RUNS_OF_OTHERS, [holders, MOST]);
      count += await this.countOf(runs, (run) => this.suspendRun(run, RESTARTED, () => Promise.resolve(true)));
      if (runs.length < MOST) return count;
    }
  }

  private async suspendExpired(): Promise<number> {
    const runs = await this.database.rows<RunOfSession>(EXPIRED_RUNS, [MOST]);
    return this.countOf(runs, (run) => this.suspendRun(run, RESTARTED, (tx) => isSo(tx, IS_EXPIRED, [run.run_id])));
  }

  private async suspendIdle(): Promise<number> {
    const runs = await this.database.rows<RunOfSession>(IDLE_RUNS, [IDLE_MINUTES, MOST]);
    return this.countOf(runs, (run) =>
      this.suspendRun(run, IDLE, (tx) => isSo(tx, IS_IDLE, [run.run_id, IDLE_MINUTES])),
    );
  }

  private suspendRun(
    { session_id, run_id }: RunOfSession,
    suspension: Suspension,
    isDue: (tx: Transaction) => Promise<boolean>,
  ): Promise<boolean> {
    return this.change('suspend_lost_session', session_id, async (tx, session) => {
      if (session.live_run_id !== run_id || !(await isDue(tx))) return false;
      await suspend(tx, session, suspension);
      return true;
    });
  }

  private async answerOverdue(): Promise<number> {
    const overdue = await this.database.rows<{ session_id: string; request_id: string }>(OVERDUE_QUESTIONS, [MOST]);
    return this.countOf(overdue, (question) => this.answerByDefault(question.session_id, question.request_id));
  }

  private async answerByDefault(sessionId: string, request_id: string): Promise<boolean> {
    let learnt: { readonly run_id: string; readonly decision: Decision | null } | null = null;
    const isAnswered = await this.change('answer_by_default', sessionId, async (tx, session) => {
      const asked = await tx.row<QuestionRow>(LOCK_QUESTION, [sessionId, request_id]);
      if (!asked || asked.is_answered) return false;
      const decision = asked.question.default ?? null;
      await settle(tx, session, { request_id, decision, by: SERVER });
      if (isDriven(session) && session.live_run_id) learnt = { run_id: session.live_run_id, decision };
      return true;
    });
    const told = learnt as { readonly run_id: string; readonly decision: Decision | null } | null;
    if (told) await this.driven.answer({ session_id: sessionId, run_id: told.run_id }, request_id, told.decision);
    return isAnswered;
  }

  private async archiveOld(days: number): Promise<number> {
    const old = await this.database.rows<{ session_id: string }>(OLD_SESSIONS, [days, MOST]);
    return this.countOf(old, ({ session_id }) => this.archive(session_id));
  }

  private archive(sessionId: string): Promise<boolean> {
    return this.change('archive_session', sessionId, async (tx, session) => {
      const next = transition(session.state, { kind: 'archive' });
      if ('refused' in next) return false;
      const payload = { from: session.state, to: next.to, reason: 'archive' as const, by: SERVER };
      await append(tx, { sessionId, runId: null }, [{ kind: 'state_changed', payload }]);
      await tx.execute(SET_STATE, [sessionId, next.to, null, null, false]);
      emitChanged(tx, session);
      return true;
    });
  }

  /** One change of one session, in a transaction of its own. */
  private async change(
    action: string,
    sessionId: string,
    work: (tx: Transaction, session: NonNullable<Awaited<ReturnType<typeof lockAnySession>>>) => Promise<boolean>,
  ): Promise<boolean> {
    const changed = await runCommand(this.database, systemContext(action), async (tx) => {
      const session = await lockAnySession(tx, sessionId);
      if (!session || !(await work(tx, session))) return false;
      tx.audit({ action, targetKind: 'session', targetId: sessionId, concerns: [session.node_id] });
      return true;
    });
    return changed === true;
  }

  /** One that fails holds up no other. @throws the first failure, once all have had their turn */
  private async countOf<T>(items: readonly T[], work: (item: T) => Promise<boolean>): Promise<number> {
    let count = 0;
    const failures: unknown[] = [];
    for (const item of items) {
      try {
        if (await work(item)) count += 1;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return count;
  }
}

async function isSo(tx: Transaction, sql: Statement, values: readonly unknown[]): Promise<boolean> {
  return (await tx.row<{ expired: boolean }>(sql, values))?.expired ?? false;
}
