import type { Scope, Token } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { TOKEN_BY_ID } from './token.statements.js';
import { hashSecret, newSecret } from './token-secret.js';

const DAY_MS = 86_400_000;

export interface NewToken {
  readonly kind: Token['kind'];
  readonly label: string;
  readonly scope: Scope;
  readonly userId: string;
  readonly expiresInDays: number;
}

/** Stores the hash of a fresh secret with its audit line. The secret is in the result and nowhere else. */
export async function insertToken(
  tx: Transaction,
  action: string,
  input: NewToken,
): Promise<{ token: Token; secret: string }> {
  const secret = newSecret(input.kind);
  const id = newId();
  await tx.prisma.token.create({
    data: {
      id,
      kind: input.kind,
      label: input.label,
      scope: input.scope,
      userId: input.userId,
      secretSha256: hashSecret(secret),
      expiresAt: new Date(Date.now() + input.expiresInDays * DAY_MS),
    },
  });
  const row = await tx.row<{ token: Token }>(TOKEN_BY_ID, [id]);
  if (!row) throw new Error('The token that was just written is not there');
  const { kind, label, scope, expires_at } = row.token;
  tx.audit({
    action,
    targetKind: 'token',
    targetId: id,
    after: { kind, label, scope, expires_at, user_id: input.userId },
  });
  return { token: row.token, secret };
}
