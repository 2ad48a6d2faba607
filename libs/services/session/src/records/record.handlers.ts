import { Controller } from '@nestjs/common';
import {
  getResumeInfo,
  getSession,
  getSessionSignals,
  listNodeSessions,
  listSessionStates,
  listSessions,
  type ParsedInputOf,
  type RawJson,
  readSessionStates,
  renameSession,
  SessionState,
} from '@workspace-graph/contracts';
import { Database, LAST_ID, runCommand, type Statement } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { nodeNotFound, seenBy, sessionNotFound } from '../shared/caller.js';
import { SESSION } from '../shared/session.statements.js';
import {
  OPEN_STATES,
  RESUME_INFO,
  SESSION_CURSOR,
  SESSIONS,
  SESSIONS_OF_NODE,
  SIGNALS,
  STATES,
} from './record.statements.js';
import { rename } from './rename-session.js';

const SHOWN_STATES = SessionState.options.filter((state) => state !== 'archived');

/** The records of sessions. */
@Controller()
export class RecordHandlers {
  constructor(private readonly database: Database) {}

  @Handles(listSessions)
  async list(input: ParsedInputOf<typeof listSessions>, { caller }: OperationContext): Promise<RawJson> {
    const page = await this.database.json(SESSIONS, [
      ...seenBy(caller),
      ...filtersOf(input),
      caller.session_id ?? null,
    ]);
    if (!page) throw new Error('A list is answered in one row');
    return page;
  }

  @Handles(listNodeSessions)
  async listOfNode(input: ParsedInputOf<typeof listNodeSessions>, { caller }: OperationContext): Promise<RawJson> {
    const page = await this.database.json(SESSIONS_OF_NODE, [...seenBy(caller), ...filtersOf(input), input.node_id]);
    if (!page) throw nodeNotFound(input.node_id);
    return page;
  }

  @Handles(getSession)
  get({ session_id }: ParsedInputOf<typeof getSession>, context: OperationContext): Promise<RawJson> {
    return this.one(SESSION, session_id, context);
  }

  @Handles(getSessionSignals)
  signals({ session_id }: ParsedInputOf<typeof getSessionSignals>, context: OperationContext): Promise<RawJson> {
    return this.one(SIGNALS, session_id, context);
  }

  @Handles(getResumeInfo)
  resumeInfo({ session_id }: ParsedInputOf<typeof getResumeInfo>, context: OperationContext): Promise<RawJson> {
    return this.one(RESUME_INFO, session_id, context);
  }

  @Handles(renameSession)
  rename(input: ParsedInputOf<typeof renameSession>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => rename(tx, input));
  }

  @Handles(listSessionStates)
  async openStates({ limit }: ParsedInputOf<typeof listSessionStates>, { caller }: OperationContext): Promise<RawJson> {
    const states = await this.database.json(OPEN_STATES, [...seenBy(caller), limit]);
    if (!states) throw new Error('States are answered in one row');
    return states;
  }

  @Handles(readSessionStates)
  async states({ session_ids, viewers }: ParsedInputOf<typeof readSessionStates>): Promise<RawJson> {
    const [users, all] = [viewers.map(({ user_id }) => user_id), viewers.map(({ sees_all }) => sees_all)];
    const states = await this.database.json(STATES, [session_ids, users, all]);
    if (!states) throw new Error('States are answered in one row');
    return states;
  }

  private async one(statement: Statement, sessionId: string, { caller }: OperationContext): Promise<RawJson> {
    const answer = await this.database.json(statement, [...seenBy(caller), sessionId]);
    if (!answer) throw sessionNotFound(sessionId);
    return answer;
  }
}

function filtersOf(input: ParsedInputOf<typeof listSessions>): readonly unknown[] {
  const { limit, cursor, state = SHOWN_STATES, own, waiting } = input;
  return [limit, ...SESSION_CURSOR.read(cursor, ['infinity', LAST_ID]), state, own, waiting];
}
