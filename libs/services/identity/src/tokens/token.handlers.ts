import { Controller } from '@nestjs/common';
import {
  completeRotation,
  createToken,
  LIMITS,
  listTokens,
  type ParsedInputOf,
  type ReplyOf,
  revokeToken,
  rotateToken,
  ServiceError,
  scopeIncludes,
  validationFailed,
} from '@workspace-graph/contracts';
import { Database, LAST_ID, type Transaction } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { runIdentityCommand } from '../shared/identity-command.js';
import { userNotFound } from '../shared/refusals.js';
import { inDays, insertToken, type MadeToken } from './create-token.js';
import { endTokens } from './end-tokens.js';
import { completeRotationOf, createSuccessor } from './rotate-token.js';
import {
  END_TOKENS,
  IS_LAST_WAY_IN,
  LOCK_WAYS_IN,
  TOKEN_CURSOR,
  TOKEN_PAGE,
  TOKEN_TO_END,
} from './token.statements.js';
import { checkCeiling, everybody, forbidden, lockMaker, ownOrManaged, reachOf } from './token-rights.js';

/** Tokens of users and devices. */
@Controller()
export class TokenHandlers {
  constructor(private readonly database: Database) {}

  @Handles(createToken)
  async create(
    input: ParsedInputOf<typeof createToken>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof createToken>> {
    const { caller } = context;
    const userId = ownOrManaged(caller, input.user_id);
    if (!scopeIncludes(caller.scope, input.scope))
      throw forbidden('The scope of a token cannot exceed the scope of the credential that creates it.', input.scope);
    const { kind, label, scope, expires_in_days: days } = input;
    const work = async (tx: Transaction): Promise<MadeToken> => {
      await checkCeiling(tx, userId, scope);
      const maker = await lockMaker(tx, caller.credential_id);
      const origin = maker ? 'token' : 'person';
      const expiresAt = expiryOf(days, maker?.expires_at);
      return insertToken(tx, createToken.name, { kind, label, scope, userId, expiresAt, origin, madeBy: maker?.id });
    };
    return runIdentityCommand(this.database, context, work, { keepReply: false });
  }

  @Handles(listTokens)
  async list(
    input: ParsedInputOf<typeof listTokens>,
    { caller }: OperationContext,
  ): Promise<ReplyOf<typeof listTokens>> {
    const userId = input.everybody ? everybody(caller) : ownOrManaged(caller, input.user_id);
    if (userId !== null && userId !== caller.user_id) await this.requireUser(userId);
    const reach = caller.scope === 'manage' ? [userId, null] : reachOf(caller);
    const key = TOKEN_CURSOR.read(input.cursor, [LAST_ID]);
    const page = await this.database.json(TOKEN_PAGE, [...reach, input.include_ended, input.limit, ...key]);
    return page ?? { items: [], next_cursor: null };
  }

  @Handles(revokeToken)
  async revoke(
    input: ParsedInputOf<typeof revokeToken>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof revokeToken>> {
    const { token_id: id } = input;
    return runIdentityCommand(this.database, context, async (tx) => {
      await tx.execute(LOCK_WAYS_IN, []);
      const found = await tx.row<{ keeps_workspace: boolean }>(TOKEN_TO_END, [...reachOf(context.caller), id]);
      if (!found)
        throw new ServiceError('TOKEN_NOT_FOUND', `There is no token ${id} that you may revoke.`, { token_id: id });
      if (found.keeps_workspace)
        throw new ServiceError('TOKEN_NOT_REVOCABLE', "The workspace's own token cannot be revoked, only rotated.");
      const { user_id, credential_id } = context.caller;
      if ((await tx.row<{ is_so: boolean }>(IS_LAST_WAY_IN, [id, user_id, credential_id]))?.is_so)
        throw new ServiceError(
          'TOKEN_NOT_REVOCABLE',
          'Without this token nobody with the scope manage could sign in any more; rotate it, or make another one first.',
        );
      await endTokens(tx, END_TOKENS, [[id]]);
      return { done: true as const };
    });
  }

  @Handles(rotateToken)
  async rotate(
    _input: ParsedInputOf<typeof rotateToken>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof rotateToken>> {
    const { credential_id: id } = context.caller;
    return runIdentityCommand(this.database, context, (tx) => createSuccessor(tx, id), { keepReply: false });
  }

  @Handles(completeRotation)
  async complete(
    _input: ParsedInputOf<typeof completeRotation>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof completeRotation>> {
    const { credential_id: id } = context.caller;
    return runIdentityCommand(this.database, context, async (tx) => {
      if (id !== null) await completeRotationOf(tx, id);
      return { done: true as const };
    });
  }

  private async requireUser(userId: string): Promise<void> {
    if (!(await this.database.prisma.user.findUnique({ where: { id: userId }, select: { id: true } })))
      throw userNotFound(userId);
  }
}

function expiryOf(days: number | undefined, latest: string | undefined): Date {
  const wanted = inDays(days ?? LIMITS.tokenDaysDefault);
  if (latest === undefined || wanted <= new Date(latest)) return wanted;
  if (days === undefined) return new Date(latest);
  const message = `must not exceed ${latest}, when your own token expires; without this field the new token expires then too`;
  throw validationFailed([{ path: 'expires_in_days', message }]);
}
