import { Controller } from '@nestjs/common';
import {
  appendSessionEvents,
  getSessionOutput,
  listSessionEvents,
  type ParsedInputOf,
  RawJson,
  type ReplyOf,
  readSessionLog,
  ServiceError,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { seenBy, sessionNotFound } from '../shared/caller.js';
import { EVENTS, LOGS, NEWEST_EVENTS, OUTPUT } from './event.statements.js';
import { reportEvents } from './report-events.js';

/** The logs of sessions. */
@Controller()
export class LogHandlers {
  constructor(private readonly database: Database) {}

  @Handles(listSessionEvents)
  async list(
    { session_id, after, limit, newest }: ParsedInputOf<typeof listSessionEvents>,
    { caller }: OperationContext,
  ): Promise<RawJson> {
    const page = await this.database.json(newest ? NEWEST_EVENTS : EVENTS, [
      ...seenBy(caller),
      session_id,
      after,
      limit,
    ]);
    if (!page) throw sessionNotFound(session_id);
    return page;
  }

  @Handles(getSessionOutput)
  async output(
    { session_id, event_id }: ParsedInputOf<typeof getSessionOutput>,
    { caller }: OperationContext,
  ): Promise<RawJson> {
    const row = await this.database.row<{ output: string | null }>(OUTPUT, [...seenBy(caller), session_id, event_id]);
    if (!row) throw sessionNotFound(session_id);
    if (row.output === null)
      throw new ServiceError('EVENT_NOT_FOUND', `The session keeps no output of an event ${event_id}.`, { event_id });
    return new RawJson(row.output);
  }

  @Handles(appendSessionEvents)
  append(
    input: ParsedInputOf<typeof appendSessionEvents>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof appendSessionEvents>> {
    return runCommand(this.database, context, (tx) => reportEvents(tx, input));
  }

  @Handles(readSessionLog)
  async logs({ sessions, limit }: ParsedInputOf<typeof readSessionLog>): Promise<RawJson> {
    const logs = await this.database.json(LOGS, [
      sessions.map(({ session_id }) => session_id),
      sessions.map(({ after }) => after),
      limit,
    ]);
    if (!logs) throw new Error('Logs are answered in one row');
    return logs;
  }
}
