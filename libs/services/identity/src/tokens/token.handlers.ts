import { Injectable } from '@nestjs/common';
import {
  type Caller,
  createToken,
  LIMITS,
  listTokens,
  type ParsedInputOf,
  type ReplyOf,
  revokeToken,
  type Scope,
  ServiceError,
  scopeIncludes,
  validationFailed,
  weakestScope,
} from '@workspace-graph/contracts';
import { Database, LAST_ID, runCommand, type Transaction } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { userNotFound } from '../shared/refusals.js';
import { insertToken } from './create-token.js';
import { REVOKE_TOKEN, TOKEN_CURSOR, TOKEN_PAGE, TOKENS_OF_USER, USER_CEILING } from './token.statements.js';

/** Tokens of users and devices. */
@Injectable()
export class TokenHandlers {
  constructor(private readonly database: Database) {}

  @Handles(createToken)
  async create(
    input: ParsedInputOf<typeof createToken>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof createToken>> {
    const userId = ownOrManaged(context.caller, input.user_id);
    if (!scopeIncludes(context.caller.scope, input.scope))
      throw forbidden('A token cannot go beyond the scope of the credential that creates it.', input.scope);
    const work = async (tx: Transaction): Promise<Awaited<ReturnType<typeof insertToken>>> => {
      await checkCeiling(tx, userId, input.scope);
      return insertToken(tx, createToken.name, { ...input, userId, expiresInDays: input.expires_in_days });
    };
    return runCommand(this.database, context, work, { keepReply: false });
  }

  @Handles(listTokens)
  async list(
    input: ParsedInputOf<typeof listTokens>,
    { caller }: OperationContext,
  ): Promise<ReplyOf<typeof listTokens>> {
    const userId = input.everybody ? everybody(caller) : ownOrManaged(caller, input.user_id);
    if (userId !== null && userId !== caller.user_id) await this.requireUser(userId);
    const key = TOKEN_CURSOR.read(input.cursor, [LAST_ID]);
    const page = await this.database.json(TOKEN_PAGE, [userId, input.include_ended, input.limit, ...key]);
    return page ?? { items: [], next_cursor: null };
  }

  @Handles(revokeToken)
  async revoke(
    input: ParsedInputOf<typeof revokeToken>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof revokeToken>> {
    const { caller } = context;
    return runCommand(this.database, context, async (tx) => {
      const row = await tx.row<{ user_id: string; label: string; ended: boolean; revoked_at: string }>(REVOKE_TOKEN, [
        input.token_id,
        caller.scope === 'manage' ? null : caller.user_id,
      ]);
      if (!row)
        throw new ServiceError('TOKEN_NOT_FOUND', `There is no token ${input.token_id} that you may end.`, {
          token_id: input.token_id,
        });
      if (row.ended) {
        tx.audit({
          action: revokeToken.name,
          targetKind: 'token',
          targetId: input.token_id,
          before: { revoked_at: null },
          after: { revoked_at: row.revoked_at },
        });
        tx.emit('credential.ended', { user_id: row.user_id, credential_id: input.token_id });
      }
      return { done: true as const };
    });
  }

  private async requireUser(userId: string): Promise<void> {
    if (!(await this.database.prisma.user.findUnique({ where: { id: userId }, select: { id: true } })))
      throw userNotFound(userId);
  }
}

/** The user that a call is about: the caller, or with manage anybody. */
function ownOrManaged(caller: Caller, userId: string | undefined): string {
  if (userId === undefined || userId === caller.user_id) return caller.user_id;
  if (caller.scope !== 'manage') throw forbidden('Tokens of other users need the scope manage.', 'manage');
  return userId;
}

function everybody(caller: Caller): null {
  if (caller.scope !== 'manage') throw forbidden('Tokens of other users need the scope manage.', 'manage');
  return null;
}

function forbidden(message: string, requiredScope: Scope): ServiceError {
  return new ServiceError('FORBIDDEN', message, { required_scope: requiredScope });
}

async function checkCeiling(tx: Transaction, userId: string, scope: Scope): Promise<void> {
  const user = await tx.row<{ max_scope: Scope; claim_scope: Scope | null; disabled: boolean }>(USER_CEILING, [userId]);
  if (!user) throw userNotFound(userId);
  if (user.disabled) throw validationFailed([{ path: 'user_id', message: 'this user is disabled' }]);
  const ceiling = weakestScope(user.max_scope, user.claim_scope ?? 'manage');
  if (!scopeIncludes(ceiling, scope))
    throw validationFailed([{ path: 'scope', message: `this user may have at most ${ceiling}` }]);
  await refuseTooMany(tx, userId);
}

async function refuseTooMany(tx: Transaction, userId: string): Promise<void> {
  const limit = LIMITS.tokensPerUser;
  const row = await tx.row<{ count: number }>(TOKENS_OF_USER, [userId]);
  if ((row?.count ?? 0) >= limit)
    throw new ServiceError('CONFLICT', `This user has ${limit} tokens that work; revoke one first.`, { limit });
}
