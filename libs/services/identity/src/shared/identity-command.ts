import { type Scope, scopeIncludes, weakestScope } from '@workspace-graph/contracts';
import { runCommand, statement, type Transaction } from '@workspace-graph/database';
import { credentialEnded, rightsChanged } from './refusals.js';

/**
 * As `runCommand`, for a caller who may do now what the edge found that they may do: whoever was disabled an instant ago
 * gives no rights to anybody any more, themselves included.
 */
export const runIdentityCommand: typeof runCommand = (database, context, work, options) =>
  runCommand(
    database,
    context,
    async (tx) => {
      await confirmCaller(tx);
      return work(tx);
    },
    options,
  );

interface CallerRow {
  readonly works: boolean;
  readonly max_scope: Scope;
  readonly claim_scope: Scope | null;
}

/** @throws ServiceError UNAUTHENTICATED; SERVICE_UNAVAILABLE where the scope was lowered, to be tried again with what is left */
async function confirmCaller(tx: Transaction): Promise<void> {
  const { user_id, credential_id, scope } = tx.context.caller;
  const row = await tx.row<CallerRow>(CALLER, [user_id, credential_id]);
  if (!row?.works) throw credentialEnded();
  if (!scopeIncludes(weakestScope(row.max_scope, row.claim_scope ?? 'manage'), scope)) throw rightsChanged();
}

/** The user $1, and whether they and the token $2 work; null for a credential that is no token of ours. */
const CALLER = statement(
  'identity.caller',
  `
  SELECT u.max_scope, u.claim_scope, u.disabled_at IS NULL AND ($2::uuid IS NULL OR EXISTS (
    SELECT FROM identity.token t WHERE t.id = $2::uuid AND t.revoked_at IS NULL AND t.expires_at > now())) AS works
  FROM identity."user" u WHERE u.id = $1::uuid`,
);
