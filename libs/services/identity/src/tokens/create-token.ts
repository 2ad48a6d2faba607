import type { Scope, Token } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { INSERT_TOKEN, TOKEN_BY_ID } from './token.statements.js';
import { hashSecret, newSecret } from './token-secret.js';

const DAY_MS = 86_400_000;

/** Who gave a token: the workspace to its own user, the making of the first administrator, a person without a token, a token. */
export type TokenOrigin = 'workspace' | 'bootstrap' | 'person' | 'token';

export interface NewToken {
  readonly kind: Token['kind'];
  readonly label: string;
  readonly scope: Scope;
  readonly userId: string;
  readonly expiresAt: Date;
  readonly origin: TokenOrigin;
  /** The token that made it, with the origin `token`. */
  readonly madeBy?: string | null;
  /** The token whose place it is to take. */
  readonly replaces?: string;
  /** The device that is known by it. */
  readonly deviceId?: string | null;
}

export interface MadeToken {
  readonly token: Token;
  readonly secret: string;
}

/** Stores the hash of a fresh secret with its audit line. The secret is in the result and nowhere else. */
export async function insertToken(tx: Transaction, action: string, input: NewToken): Promise<MadeToken> {
  const secret = newSecret(input.kind);
  const id = newId();
  const { kind: ofKind, userId, expiresAt, origin, madeBy = null, replaces = null, deviceId = null } = input;
  const values = [
    id,
    ofKind,
    input.label,
    input.scope,
    userId,
    hashSecret(secret),
    expiresAt,
    origin,
    madeBy,
    replaces,
    deviceId,
  ];
  await tx.execute(INSERT_TOKEN, values);
  const row = await tx.row<{ token: Token }>(TOKEN_BY_ID, [id]);
  if (!row) throw new Error('The token that was just written is missing');
  const { kind, label, scope, expires_at, made_by } = row.token;
  tx.audit({
    action,
    targetKind: 'token',
    targetId: id,
    after: { kind, label, scope, expires_at, user_id: input.userId, made_by, replaces: input.replaces },
  });
  return { token: row.token, secret };
}

/** The time that lies so many days ahead. */
export function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}
