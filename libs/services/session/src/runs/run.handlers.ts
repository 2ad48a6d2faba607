import { Controller } from '@nestjs/common';
import {
  connectSession,
  endRun,
  endTerminal,
  type ParsedInputOf,
  type RawJson,
  type ReplyOf,
  renewRuns,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { LEASE_SECONDS } from './begin-run.js';
import { connect } from './connect-session.js';
import { end, endInTerminal } from './end-run.js';
import { RENEW_RUNS } from './run.statements.js';

/** What the holders of runs report. */
@Controller()
export class RunHandlers {
  constructor(private readonly database: Database) {}

  @Handles(connectSession)
  connect(
    input: ParsedInputOf<typeof connectSession>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof connectSession>> {
    return runCommand(this.database, context, (tx) => connect(tx, input));
  }

  @Handles(endRun)
  end(input: ParsedInputOf<typeof endRun>, context: OperationContext): Promise<ReplyOf<typeof endRun>> {
    return runCommand(this.database, context, (tx) => end(tx, input));
  }

  @Handles(endTerminal)
  endTerminal(
    input: ParsedInputOf<typeof endTerminal>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof endTerminal>> {
    return runCommand(this.database, context, (tx) => endInTerminal(tx, input));
  }

  /** A lease is no change of a session: renewed by the next call, it needs no record of this one. */
  @Handles(renewRuns)
  async renew({ holder, runs }: ParsedInputOf<typeof renewRuns>, { caller }: OperationContext): Promise<RawJson> {
    const whose = caller.service === undefined && caller.via !== 'system' ? caller.user_id : null;
    const [ids, idle] = [runs.map(({ run_id }) => run_id), runs.map(({ idle_ms }) => idle_ms)];
    const renewed = await this.database.json(RENEW_RUNS, [holder, ids, LEASE_SECONDS, idle, whose]);
    if (!renewed) throw new Error('Leases are answered in one row');
    return renewed;
  }
}
