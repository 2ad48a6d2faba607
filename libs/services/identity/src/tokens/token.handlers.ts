import { Controller } from '@nestjs/common';
import {
  type Caller,
  completeRotation,
  createToken,
  LIMITS,
  listTokens,
  type ParsedInputOf,
  type ReplyOf,
  revokeToken,
  rotateToken,
  type Scope,
  ServiceError,
  scopeIncludes,
  validationFailed,
  weakestScope,
} from '@workspace-graph/contracts';
import { Database, LAST_ID, type Transaction } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { runIdentityCommand } from '../shared/identity-command.js';
import { credentialEnded, userNotFound } from '../shared/refusals.js';
import { inDays, insertToken, type MadeToken } from './create-token.js';
import { endTokens } from './end-tokens.js';
import { completeRotationOf, createSuccessor } from './rotate-token.js';
import {
  END_TOKENS,
  MAKER,
  TOKEN_CURSOR,
  TOKEN_PAGE,
  TOKEN_TO_END,
  TOKENS_OF_USER,
  USER_CEILING,
} from './token.statements.js';

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
      const found = await tx.row<{ keeps_workspace: boolean }>(TOKEN_TO_END, [...reachOf(context.caller), id]);
      if (!found)
        throw new ServiceError('TOKEN_NOT_FOUND', `There is no token ${id} that you may revoke.`, { token_id: id });
      if (found.keeps_workspace)
        throw new ServiceError('TOKEN_NOT_REVOCABLE', "The workspace's own token cannot be revoked, only rotated.");
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

/** Whose tokens a caller lists and ends, and below which token; null for everybody's and for all. A JWT is its person. */
function reachOf({ scope, user_id, credential_id }: Caller): [userId: string | null, tokenId: string | null] {
  if (scope === 'manage') return [null, null];
  return credential_id === null ? [user_id, null] : [null, credential_id];
}

/** The token that a caller makes another one with; null for a JWT. */
async function lockMaker(tx: Transaction, id: string | null): Promise<{ id: string; expires_at: string } | null> {
  if (id === null) return null;
  const maker = await tx.row<{ id: string; expires_at: string }>(MAKER, [id]);
  if (!maker) throw credentialEnded();
  return maker;
}

function expiryOf(days: number | undefined, latest: string | undefined): Date {
  const wanted = inDays(days ?? LIMITS.tokenDaysDefault);
  if (latest === undefined || wanted <= new Date(latest)) return wanted;
  if (days === undefined) return new Date(latest);
  const message = `must not exceed ${latest}, when your own token expires; without this field the new token expires then too`;
  throw validationFailed([{ path: 'expires_in_days', message }]);
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
    throw new ServiceError('CONFLICT', `This user has ${limit} valid tokens; revoke one first.`, { limit });
}
