import { Controller } from '@nestjs/common';
import {
  explainAccess,
  getAccess,
  type ParsedInputOf,
  type RawJson,
  readSight,
  ServiceError,
  setAccess,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { EXPLAIN_ACCESS, NODE_ACCESS, SIGHT, USER_EXISTS } from './access.statements.js';
import { set } from './set-access.js';

/** How nodes are shared. */
@Controller()
export class AccessHandlers {
  constructor(private readonly database: Database) {}

  @Handles(getAccess)
  async get({ node_id: nodeId }: ParsedInputOf<typeof getAccess>, { caller }: OperationContext): Promise<RawJson> {
    const access = await this.database.json(NODE_ACCESS, [...seenBy(caller), nodeId]);
    if (!access) throw nodeNotFound(nodeId);
    return access;
  }

  @Handles(setAccess)
  set(input: ParsedInputOf<typeof setAccess>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => set(tx, input), { timeoutMs: setAccess.timeoutMs });
  }

  @Handles(explainAccess)
  async explain(
    { node_id: nodeId, user_id: userId }: ParsedInputOf<typeof explainAccess>,
    { caller }: OperationContext,
  ): Promise<RawJson> {
    const subject = userId ?? caller.user_id;
    if (subject !== caller.user_id) await this.admitToExplain(caller.scope === 'manage', subject);
    const explanation = await this.database.json(EXPLAIN_ACCESS, [...seenBy(caller), nodeId, subject]);
    if (!explanation) throw nodeNotFound(nodeId);
    return explanation;
  }

  @Handles(readSight)
  async sight({ viewers, node_ids }: ParsedInputOf<typeof readSight>): Promise<RawJson> {
    const [users, all] = [viewers.map(({ user_id }) => user_id), viewers.map(({ sees_all }) => sees_all)];
    const sight = await this.database.json(SIGHT, [users, all, node_ids]);
    if (!sight) throw new Error('Sight is answered in one row');
    return sight;
  }

  private async admitToExplain(manages: boolean, userId: string): Promise<void> {
    if (!manages)
      throw new ServiceError('FORBIDDEN', 'Explaining the access of another user needs the scope manage.', {
        required_scope: 'manage',
      });
    const user = await this.database.row(USER_EXISTS, [userId]);
    if (!user) throw new ServiceError('USER_NOT_FOUND', `There is no user ${userId}.`, { user_id: userId });
  }
}
