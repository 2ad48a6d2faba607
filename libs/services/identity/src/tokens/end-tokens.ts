import type { Statement, Transaction } from '@workspace-graph/database';

interface EndedToken {
  readonly token_id: string;
  readonly owner_id: string;
  readonly revoked_at: string;
}

/** Runs a statement that ends tokens, and records and announces each that ended just now. */
export async function endTokens(tx: Transaction, sql: Statement, values: readonly unknown[]): Promise<void> {
  for (const { token_id: id, owner_id: userId, revoked_at } of await tx.rows<EndedToken>(sql, values)) {
    tx.audit({
      action: tx.context.operation.name,
      targetKind: 'token',
      targetId: id,
      before: { revoked_at: null },
      after: { revoked_at },
    });
    tx.emit('credential.ended', { user_id: userId, credential_id: id });
  }
}
