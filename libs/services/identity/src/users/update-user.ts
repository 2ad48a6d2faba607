import { type ParsedInputOf, type Scope, ServiceError, scopeIncludes, updateUser } from '@workspace-graph/contracts';
import { changedFields, type Transaction } from '@workspace-graph/database';
import { rightsChanged, userNotFound } from '../shared/refusals.js';
import { MANAGERS, OWNS_WORKSPACE, UPDATE_USER, USER_BY_ID, USER_FOR_CHANGE } from './user.statements.js';

type Input = ParsedInputOf<typeof updateUser>;

interface Manager {
  readonly id: string;
  readonly can_sign_in: boolean;
}

interface UserRow {
  readonly name: string;
  readonly email: string | null;
  readonly handle: string | null;
  readonly max_scope: Scope;
  readonly claim_scope: Scope | null;
  readonly disabled: boolean;
  readonly version: number;
}

/** Changes a user, refusing to lose the last one who can manage, and ends credentials that reach too far. */
export async function updateUserRow(tx: Transaction, input: Input): Promise<void> {
  // Before the row itself: everybody locks in the same order.
  const managers = await tx.rows<Manager>(MANAGERS);
  // Locked by now, so that who lowers the caller in this instant comes before or after this change.
  if (!managers.some(({ id }) => id === tx.context.caller.user_id)) throw rightsChanged();
  const before = await tx.row<UserRow>(USER_FOR_CHANGE, [input.user_id]);
  if (!before) throw userNotFound(input.user_id);
  if (input.expected_version !== undefined && input.expected_version !== before.version)
    throw await conflict(tx, input.user_id, 'The user has changed.');
  const { name = before.name, email = before.email, handle = before.handle } = input;
  const { max_scope: maxScope = before.max_scope, disabled = before.disabled } = input;
  const after = { name, email, handle, max_scope: maxScope, disabled };
  const changes = changedFields<Readonly<Record<string, unknown>>>({ ...before }, after);
  if (!changes) return;
  if (maxScope !== 'manage' || disabled) await refuseLockout(tx, input.user_id, managers);
  await tx.execute(UPDATE_USER, [input.user_id, name, email, handle, maxScope, disabled]);
  tx.audit({ action: updateUser.name, targetKind: 'user', targetId: input.user_id, ...changes });
  if ((disabled && !before.disabled) || !scopeIncludes(maxScope, before.max_scope)) {
    tx.emit('credential.ended', { user_id: input.user_id, credential_id: null });
  }
}

/** Whoever ceases to manage leaves somebody who does and can sign in, and never the workspace of their own machine. */
async function refuseLockout(tx: Transaction, userId: string, managers: readonly Manager[]): Promise<void> {
  if (!managers.some(({ id }) => id === userId)) return;
  const others = managers.filter(({ id }) => id !== userId);
  if (others.length === 0)
    throw await conflict(tx, userId, 'This is the last user with the scope manage; give it to another user first.');
  // Whoever asks has signed in.
  if (!others.some(({ id, can_sign_in }) => can_sign_in || id === tx.context.caller.user_id))
    throw await conflict(
      tx,
      userId,
      'No other user with the scope manage can sign in; make a token with it for one of them first.',
    );
  if ((await tx.row<{ is_so: boolean }>(OWNS_WORKSPACE, [userId]))?.is_so)
    throw await conflict(
      tx,
      userId,
      'This is the person of this local workspace: svc, the page and the folders act for them, with the scope manage.',
    );
}

async function conflict(tx: Transaction, userId: string, message: string): Promise<ServiceError> {
  const row = await tx.row<{ json: unknown }>(USER_BY_ID, [userId]);
  return new ServiceError('CONFLICT', message, { current: row?.json });
}
