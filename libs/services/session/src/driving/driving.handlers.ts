import { Controller, Inject } from '@nestjs/common';
import {
  answerQuestion,
  closeSession,
  interruptSession,
  listRunners,
  type ParsedInputOf,
  RawJson,
  type ReplyOf,
  resumeSession,
  sendMessage,
  startSession,
  suspendSession,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { SESSION_RUNS, type SessionRuns } from '../runs/session-runs.js';
import { readSession } from '../shared/locked-session.js';
import { DrivenRuns } from './driven-runs.js';
import { answer } from './questions.js';
import { type SentMessage, send } from './send-message.js';
import { requireRunner, resume, start } from './start-run.js';
import { close, interrupt, suspend } from './stop-session.js';

/**
 * What people do with sessions. A change is recorded first and then passed on to the run; what the run has to say before
 * it is stopped is asked first.
 */
@Controller()
export class DrivingHandlers {
  constructor(
    private readonly database: Database,
    @Inject(SESSION_RUNS) private readonly runs: SessionRuns,
    private readonly driven: DrivenRuns,
  ) {}

  @Handles(listRunners)
  async runners(): Promise<ReplyOf<typeof listRunners>> {
    return { items: [...(await this.runs.runners())] };
  }

  @Handles(startSession)
  async start(input: ParsedInputOf<typeof startSession>, context: OperationContext): Promise<RawJson> {
    requireRunner(await this.runs.runners(), input.runner);
    return this.driven.begin(context, (tx) => start(tx, input, this.runs.holder));
  }

  @Handles(resumeSession)
  resume(input: ParsedInputOf<typeof resumeSession>, context: OperationContext): Promise<RawJson> {
    return this.driven.begin(context, (tx) => resume(tx, input, this.runs.holder));
  }

  @Handles(sendMessage)
  async send(
    input: ParsedInputOf<typeof sendMessage>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof sendMessage>> {
    const sent = await runCommand(this.database, context, (tx) => send(tx, input));
    // A repeated call delivers again: the first one may have ended between the two.
    return this.driven.deliver(sent instanceof RawJson ? (sent.parse() as SentMessage) : sent, input.text);
  }

  @Handles(answerQuestion)
  async answer(input: ParsedInputOf<typeof answerQuestion>, context: OperationContext): Promise<RawJson> {
    let run: string | null = null;
    const reply = await runCommand(this.database, context, async (tx) => {
      const session = await answer(tx, input);
      run = session.origin === 'task' ? session.live_run_id : null;
      return readSession(tx, session.id);
    });
    const { session_id, request_id, decision } = input;
    if (run !== null) await this.driven.answer({ session_id, run_id: run }, request_id, decision);
    return reply;
  }

  @Handles(interruptSession)
  async interrupt(
    { session_id: id }: ParsedInputOf<typeof interruptSession>,
    context: OperationContext,
  ): Promise<RawJson> {
    await this.driven.interrupt(id, context.caller);
    return runCommand(this.database, context, (tx) => interrupt(tx, id));
  }

  @Handles(suspendSession)
  async suspend({ session_id: id }: ParsedInputOf<typeof suspendSession>, context: OperationContext): Promise<RawJson> {
    const handOver = await this.driven.handOver(id, context);
    return this.driven.stop(context, 'suspended', (tx) => suspend(tx, id, handOver));
  }

  @Handles(closeSession)
  close({ session_id: id }: ParsedInputOf<typeof closeSession>, context: OperationContext): Promise<RawJson> {
    return this.driven.stop(context, 'closed', (tx) => close(tx, id));
  }
}
