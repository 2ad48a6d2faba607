import { Controller } from '@nestjs/common';
import {
  createUser,
  getUser,
  listUsers,
  type ParsedInputOf,
  type ReplyOf,
  ServiceError,
  type User,
  updateUser,
  whoami,
} from '@workspace-graph/contracts';
import { Database, FIRST_ID, type Transaction } from '@workspace-graph/database';
import { withoutAtSigns } from '@workspace-graph/domain';
import { Handles, newId, type OperationContext } from '@workspace-graph/platform';
import { runIdentityCommand } from '../shared/identity-command.js';
import { userNotFound } from '../shared/refusals.js';
import { updateUserRow } from './update-user.js';
import { INSERT_USER, USER_BY_EXTERNAL_ID, USER_BY_ID, USER_CURSOR, USER_JSON, USER_PAGE } from './user.statements.js';

/** Users, and who the caller is. */
@Controller()
export class UserHandlers {
  constructor(private readonly database: Database) {}

  @Handles(whoami)
  async whoami(_input: ParsedInputOf<typeof whoami>, { caller }: OperationContext): Promise<ReplyOf<typeof whoami>> {
    const row = await this.database.row<{ json: User }>(USER_BY_ID, [caller.user_id]);
    if (!row) throw userNotFound(caller.user_id);
    return { user: row.json, scope: caller.scope, credential_id: caller.credential_id };
  }

  @Handles(createUser)
  async create(
    input: ParsedInputOf<typeof createUser>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof createUser>> {
    return runIdentityCommand(this.database, context, async (tx) => {
      if (input.external_id !== null) await refuseTakenExternalId(tx, input.external_id);
      const id = newId();
      const { name, external_id: externalId, email, handle, max_scope: maxScope } = input;
      await tx.execute(INSERT_USER, [id, name, externalId, email, handle, maxScope]);
      tx.audit({ action: createUser.name, targetKind: 'user', targetId: id, after: { ...input } });
      return readUser(tx, id);
    });
  }

  @Handles(getUser)
  async get({ user_id: userId }: ParsedInputOf<typeof getUser>): Promise<ReplyOf<typeof getUser>> {
    const user = await this.database.json(USER_JSON, [userId]);
    if (!user) throw userNotFound(userId);
    return user;
  }

  @Handles(listUsers)
  async list(input: ParsedInputOf<typeof listUsers>): Promise<ReplyOf<typeof listUsers>> {
    const key = USER_CURSOR.read(input.cursor, ['', FIRST_ID]);
    const query = input.query === undefined ? null : withoutAtSigns(input.query);
    const page = await this.database.json(USER_PAGE, [query, input.limit, ...key]);
    return page ?? { items: [], next_cursor: null };
  }

  @Handles(updateUser)
  async update(
    input: ParsedInputOf<typeof updateUser>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof updateUser>> {
    return runIdentityCommand(this.database, context, async (tx) => {
      await updateUserRow(tx, input);
      return readUser(tx, input.user_id);
    });
  }
}

async function readUser(tx: Transaction, userId: string): Promise<User> {
  const row = await tx.row<{ json: User }>(USER_BY_ID, [userId]);
  if (!row) throw userNotFound(userId);
  return row.json;
}

async function refuseTakenExternalId(tx: Transaction, externalId: string): Promise<void> {
  const taken = await tx.row<{ id: string }>(USER_BY_EXTERNAL_ID, [externalId]);
  if (taken)
    throw new ServiceError('CONFLICT', `Another user has the external id ${externalId}.`, {
      current: await readUser(tx, taken.id),
    });
}
