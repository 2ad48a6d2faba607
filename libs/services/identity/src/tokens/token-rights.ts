import {
  type Caller,
  LIMITS,
  type Scope,
  ServiceError,
  scopeIncludes,
  validationFailed,
  weakestScope,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { credentialEnded, userNotFound } from '../shared/refusals.js';
import { MAKER, TOKENS_OF_USER, USER_CEILING } from './token.statements.js';

/** Whose tokens a caller lists and ends, and below which token; null for everybody's and for all. A JWT is its person. */
export function reachOf({ scope, user_id, credential_id }: Caller): [userId: string | null, tokenId: string | null] {
  if (scope === 'manage') return [null, null];
  return credential_id === null ? [user_id, null] : [null, credential_id];
}

/** The token that a caller makes another one with; null for a JWT. */
export async function lockMaker(
  tx: Transaction,
  id: string | null,
): Promise<{ id: string; expires_at: string } | null> {
  if (id === null) return null;
  const maker = await tx.row<{ id: string; expires_at: string }>(MAKER, [id]);
  if (!maker) throw credentialEnded();
  return maker;
}

/** The user that a call is about: the caller, or with manage anybody. */
export function ownOrManaged(caller: Caller, userId: string | undefined): string {
  if (userId === undefined || userId === caller.user_id) return caller.user_id;
  if (caller.scope !== 'manage') throw forbidden('Tokens of other users need the scope manage.', 'manage');
  return userId;
}

export function everybody(caller: Caller): null {
  if (caller.scope !== 'manage') throw forbidden('Tokens of other users need the scope manage.', 'manage');
  return null;
}

export function forbidden(message: string, requiredScope: Scope): ServiceError {
  return new ServiceError('FORBIDDEN', message, { required_scope: requiredScope });
}

/** What a user may have at most; the user is locked. @throws ServiceError for one who can have no further token */
export async function lockCeiling(tx: Transaction, userId: string): Promise<Scope> {
  const user = await tx.row<{ max_scope: Scope; claim_scope: Scope | null; disabled: boolean }>(USER_CEILING, [userId]);
  if (!user) throw userNotFound(userId);
  if (user.disabled) throw validationFailed([{ path: 'user_id', message: 'this user is disabled' }]);
  await refuseTooMany(tx, userId);
  return weakestScope(user.max_scope, user.claim_scope ?? 'manage');
}

export async function checkCeiling(tx: Transaction, userId: string, scope: Scope): Promise<void> {
  const ceiling = await lockCeiling(tx, userId);
  if (!scopeIncludes(ceiling, scope))
    throw validationFailed([{ path: 'scope', message: `this user may have at most ${ceiling}` }]);
}

async function refuseTooMany(tx: Transaction, userId: string): Promise<void> {
  const limit = LIMITS.tokensPerUser;
  const row = await tx.row<{ count: number }>(TOKENS_OF_USER, [userId]);
  if ((row?.count ?? 0) >= limit)
    throw new ServiceError('CONFLICT', `This user has ${limit} valid tokens; revoke one first.`, { limit });
}
