import { rotateToken, type Scope, ServiceError, type Token } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { credentialEnded } from '../shared/refusals.js';
import { insertToken, type MadeToken, type TokenOrigin } from './create-token.js';
import { endTokens } from './end-tokens.js';
import { END_SUCCESSOR, LOCK_MAKER_OF, PREDECESSOR, SUCCEED_TOKEN, TOKEN_TO_ROTATE } from './token.statements.js';

interface RotatedToken {
  readonly kind: Token['kind'];
  readonly label: string;
  readonly scope: Scope;
  readonly user_id: string;
  readonly origin: TokenOrigin;
  readonly made_by: string | null;
  readonly device_id: string | null;
  readonly next_expires_at: string;
}

/** Makes the successor of a token; both work until the rotation is completed. */
export async function createSuccessor(tx: Transaction, tokenId: string | null): Promise<MadeToken> {
  if (tokenId === null)
    throw new ServiceError('CONFLICT', 'You are signed in with a JWT, which has no successor: its provider renews it.');
  await completeRotationOf(tx, tokenId);
  await tx.rows(LOCK_MAKER_OF, [tokenId]);
  const old = await tx.row<RotatedToken>(TOKEN_TO_ROTATE, [tokenId]);
  if (!old) throw credentialEnded();
  await endTokens(tx, END_SUCCESSOR, [tokenId]);
  return insertToken(tx, rotateToken.name, {
    kind: old.kind,
    label: old.label,
    scope: old.scope,
    userId: old.user_id,
    expiresAt: new Date(old.next_expires_at),
    origin: old.origin,
    madeBy: old.made_by,
    replaces: tokenId,
    deviceId: old.device_id,
  });
}

/** Puts a token into the place of the one that it replaces; nothing happens when it replaces none, or does so already. */
export async function completeRotationOf(tx: Transaction, tokenId: string): Promise<void> {
  const found = await tx.row<{ replaces: string | null }>(PREDECESSOR, [tokenId]);
  if (!found) throw credentialEnded();
  if (found.replaces !== null) await endTokens(tx, SUCCEED_TOKEN, [found.replaces, tokenId]);
}
