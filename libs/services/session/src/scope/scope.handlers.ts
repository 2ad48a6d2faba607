import { Controller } from '@nestjs/common';
import {
  addToSessionScope,
  checkScope,
  expandScope,
  getSessionScope,
  initSession,
  logSession,
  type ParsedInputOf,
  type RawJson,
  type ReplyOf,
  reviewScope,
} from '@workspace-graph/contracts';
import { Database, DatabaseScopes, LAST_ID, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { seenBy, sessionNotFound } from '../shared/caller.js';
import { agentsSession } from './agents-session.js';
import { addToScope, expand } from './expand-scope.js';
import { init } from './init-session.js';
import { review } from './review-scope.js';
import { SCOPE, SCOPE_CURSOR } from './scope.statements.js';
import { writeLog } from './write-log.js';

/** What sessions may reach, and what agents write about their own. */
@Controller()
export class ScopeHandlers {
  private readonly scopes: DatabaseScopes;

  constructor(private readonly database: Database) {
    this.scopes = new DatabaseScopes(database);
  }

  /** The registry of a device asks it, for what the device carries out itself. */
  @Handles(checkScope)
  async check(
    { reached }: ParsedInputOf<typeof checkScope>,
    { caller }: OperationContext,
  ): Promise<ReplyOf<typeof checkScope>> {
    const session = { ...caller, session_id: agentsSession(caller) };
    return { home_node_id: await this.scopes.admit(session, reached) };
  }

  @Handles(initSession)
  init(input: ParsedInputOf<typeof initSession>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => init(tx, input));
  }

  @Handles(expandScope)
  expand(input: ParsedInputOf<typeof expandScope>, context: OperationContext): Promise<ReplyOf<typeof expandScope>> {
    return runCommand(this.database, context, (tx) => expand(tx, input));
  }

  @Handles(logSession)
  log(input: ParsedInputOf<typeof logSession>, context: OperationContext): Promise<ReplyOf<typeof logSession>> {
    return runCommand(this.database, context, (tx) => writeLog(tx, input));
  }

  @Handles(getSessionScope)
  async scope(input: ParsedInputOf<typeof getSessionScope>, { caller }: OperationContext): Promise<RawJson> {
    const { session_id, unreviewed, limit, cursor } = input;
    const page = await this.database.json(SCOPE, [
      ...seenBy(caller),
      limit,
      ...SCOPE_CURSOR.read(cursor, ['infinity', LAST_ID]),
      session_id,
      unreviewed,
    ]);
    if (!page) throw sessionNotFound(session_id);
    return page;
  }

  @Handles(addToSessionScope)
  add(input: ParsedInputOf<typeof addToSessionScope>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => addToScope(tx, input));
  }

  @Handles(reviewScope)
  review(input: ParsedInputOf<typeof reviewScope>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => review(tx, input));
  }
}
