import { authenticate, Name, type Scope, scopeIncludes } from '@workspace-graph/contracts';
import {
  changedFields,
  type Database,
  emitAccessChanged,
  lockAccess,
  runCommand,
  systemContext,
  type Transaction,
} from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import {
  CLAIMED_USER_FOR_CHANGE,
  INSERT_CLAIMED_USER,
  JOIN_CLAIMED_GROUPS,
  LEAVE_GROUPS,
  SET_CLAIM_SCOPE,
  SET_CLAIMED_AT,
  SET_CLAIMED_NAMES,
} from './authentication.statements.js';

/** What an identity provider says about a user, verified by the edge. */
export interface Claims {
  readonly externalId: string;
  readonly name: string;
  /** Null when the provider does not tell it. */
  readonly email: string | null;
  readonly handle: string | null;
  readonly groups: readonly string[];
  readonly scope: Scope;
  /** ISO 8601; null when the provider did not say. */
  readonly issuedAt: string | null;
}

interface Difference {
  readonly user_id: string;
  readonly claim_scope: Scope | null;
  readonly claimed_scope: Scope;
  readonly email: string | null;
  readonly handle: string | null;
  readonly claimed_email: string | null;
  readonly claimed_handle: string | null;
  readonly missing: string[];
  readonly outdated: string[];
}

/** The claims as parameters of the statements that compare them. */
export function claimParameters({ externalId, groups, scope, issuedAt, email, handle }: Claims): readonly unknown[] {
  return [externalId, groups, scope, issuedAt, email, handle];
}

/** Brings the user's record in step with the claims, unless newer ones were applied: creates the user, sets the claimed scope, e-mail and handle, joins and leaves groups. */
export async function applyClaims(database: Database, claims: Claims, requestId: string): Promise<void> {
  await runCommand(database, systemContext(authenticate.name, requestId), async (tx) => {
    await lockAccess(tx);
    await createOnFirstSight(tx, claims);
    const found = await tx.row<Difference>(CLAIMED_USER_FOR_CHANGE, claimParameters(claims));
    if (!found) return null;
    if (claims.issuedAt !== null) await tx.execute(SET_CLAIMED_AT, [found.user_id, claims.issuedAt]);
    await applyScope(tx, found);
    await applyNames(tx, found);
    await applyGroups(tx, found);
    return null;
  });
}

async function createOnFirstSight(tx: Transaction, claims: Claims): Promise<void> {
  const id = newId();
  const name = Name.safeParse(claims.name).data ?? claims.externalId;
  // The claims alone decide until an administrator lowers max_scope.
  const { externalId, email, handle, scope: claimScope } = claims;
  const isNew = await tx.execute(INSERT_CLAIMED_USER, [id, name, externalId, email, handle, claimScope]);
  if (!isNew) return;
  tx.audit({
    action: authenticate.name,
    targetKind: 'user',
    targetId: id,
    after: { name, external_id: externalId, email, handle, max_scope: 'manage', claim_scope: claimScope },
  });
}

async function applyScope(tx: Transaction, { claimed_scope: scope, ...found }: Difference): Promise<void> {
  if (found.claim_scope === scope) return;
  await tx.execute(SET_CLAIM_SCOPE, [found.user_id, scope]);
  tx.audit({
    action: authenticate.name,
    targetKind: 'user',
    targetId: found.user_id,
    before: { claim_scope: found.claim_scope },
    after: { claim_scope: scope },
  });
  if (!scopeIncludes(scope, found.claim_scope ?? 'manage'))
    tx.emit('credential.ended', { user_id: found.user_id, credential_id: null });
}

async function applyNames(tx: Transaction, found: Difference): Promise<void> {
  const { user_id: userId, email, handle, claimed_email, claimed_handle } = found;
  const changes = changedFields({ email, handle }, { email: claimed_email, handle: claimed_handle });
  if (!changes) return;
  await tx.execute(SET_CLAIMED_NAMES, [userId, claimed_email, claimed_handle]);
  tx.audit({ action: authenticate.name, targetKind: 'user', targetId: userId, ...changes });
}

async function applyGroups(tx: Transaction, { user_id: userId, missing, outdated }: Difference): Promise<void> {
  if (missing.length === 0 && outdated.length === 0) return;
  await tx.execute(JOIN_CLAIMED_GROUPS, [userId, missing]);
  await tx.execute(LEAVE_GROUPS, [userId, outdated]);
  tx.audit({
    action: authenticate.name,
    targetKind: 'user',
    targetId: userId,
    before: { left_groups: outdated },
    after: { joined_groups: missing },
  });
  emitAccessChanged(tx, [], [userId]);
}
