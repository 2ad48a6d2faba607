import { Controller, Inject } from '@nestjs/common';
import {
  appendSessionEvents,
  getSessionOutput,
  listSessionEvents,
  type ParsedInputOf,
  RawJson,
  type ReplyOf,
  readSessionLogs,
  ServiceError,
  streamDelta,
} from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { seenBy, sessionNotFound } from '../shared/caller.js';
import { EVENTS, type EventPage, LOGS, NEWEST_EVENTS, OUTPUT } from './event.statements.js';
import { PUBLISH_DELTA, type PublishDelta } from './publish-delta.js';
import { report } from './report-events.js';

/** The logs of sessions. */
@Controller()
export class LogHandlers {
  constructor(
    private readonly database: Database,
    @Inject(PUBLISH_DELTA) private readonly publishDelta: PublishDelta,
  ) {}

  @Handles(listSessionEvents)
  async list(
    { session_id, after, limit, newest }: ParsedInputOf<typeof listSessionEvents>,
    { caller }: OperationContext,
  ): Promise<RawJson> {
    const page = await this.database.row<EventPage>(newest ? NEWEST_EVENTS : EVENTS, [
      ...seenBy(caller),
      session_id,
      after,
      limit,
    ]);
    if (!page) throw sessionNotFound(session_id);
    return new RawJson(`{"items":[${page.items}],"last_seq":${page.last_seq}}`);
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
    return report(this.database, context, input);
  }

  @Handles(readSessionLogs)
  async logs({ sessions, viewers, limit }: ParsedInputOf<typeof readSessionLogs>): Promise<RawJson> {
    const logs = await this.database.json(LOGS, [
      sessions.map(({ session_id }) => session_id),
      sessions.map(({ after }) => after),
      limit,
      sessions.map((session) => JSON.stringify(session.viewers)),
      viewers.map(({ user_id }) => user_id),
      viewers.map(({ sees_all }) => sees_all),
    ]);
    if (!logs) throw new Error('Logs are answered in one row');
    return logs;
  }

  /** Published at once, and lost where nobody listens: what is kept is the message that the text becomes. */
  @Handles(streamDelta)
  async delta(delta: ParsedInputOf<typeof streamDelta>): Promise<ReplyOf<typeof streamDelta>> {
    await this.publishDelta(delta);
    return { done: true };
  }
}
