import { type Caller, RawJson, ServiceError, type Token } from '@workspace-graph/contracts';
import type { CommandContext, Database, Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { runIdentityCommand } from '../shared/identity-command.js';
import { completeRotationOf, createSuccessor } from '../tokens/rotate-token.js';
import { hashSecret } from '../tokens/token-secret.js';
import { IS_NEXT_TO, WORKSPACE_TOKEN } from './bootstrap.statements.js';

interface WorkspaceToken extends Record<string, unknown> {
  readonly id: string;
  readonly user_id: string;
}

/**
 * Writes to the audit trail that somebody is shown the workspace's own token, before they are.
 * @throws ServiceError FORBIDDEN, CONFLICT
 */
export async function noteReveal(database: Database, context: CommandContext, secret: string): Promise<void> {
  await runOnce(database, context, async (tx) => {
    const { id } = await reachableToken(tx, secret);
    tx.audit({ action: context.operation.name, targetKind: 'token', targetId: id });
    return {};
  });
}

/**
 * Replaces the workspace's own token. Whoever stops in between leaves both working: the next start, or the next
 * replacement, ends the one that is not stored.
 * @param store keeps the new secret in place of the old one
 * @throws ServiceError FORBIDDEN, CONFLICT
 */
export async function replaceWorkspaceToken(
  database: Database,
  context: CommandContext,
  { secret, store }: { readonly secret: string; readonly store: (secret: string) => Promise<void> },
): Promise<Token> {
  const made = await runOnce(database, context, async (tx) =>
    createSuccessor(tx, (await reachableToken(tx, secret)).id),
  );
  await store(made.secret);
  const next = { ...context, envelope: { ...context.envelope, callId: newId() } };
  await runOnce(database, next, async (tx) => {
    await completeRotationOf(tx, made.token.id);
    return {};
  });
  return made.token;
}

/** @throws ServiceError FORBIDDEN for everybody but the owner of a local workspace */
export function checkWorkspaceOwner(caller: Caller, ownerId: string): void {
  if (caller.user_id !== ownerId) throw new ServiceError('FORBIDDEN', 'Only the owner of this workspace may do this.');
}

/**
 * The workspace's own token, for whoever stands next to it. Whatever other tokens have made could otherwise outlive them
 * with a token that ends later.
 */
async function reachableToken(tx: Transaction, secret: string): Promise<WorkspaceToken> {
  const { caller } = tx.context;
  const token = await tx.row<WorkspaceToken>(WORKSPACE_TOKEN, [hashSecret(secret)]);
  if (!token)
    throw new ServiceError('CONFLICT', 'The token that this workspace keeps does not work; a restart makes a new one.');
  checkWorkspaceOwner(caller, token.user_id);
  if (!(await tx.row(IS_NEXT_TO, [caller.credential_id, token.id])))
    throw new ServiceError(
      'FORBIDDEN',
      "This needs the workspace's own token, or one that was created with it directly: sign in with `svc open`.",
    );
  return token;
}

/** Nothing of it is kept to answer a repeated call: it is refused. */
async function runOnce<R extends object>(
  database: Database,
  context: CommandContext,
  work: (tx: Transaction) => Promise<R>,
): Promise<R> {
  const reply = await runIdentityCommand(database, context, work, { keepReply: false });
  if (reply instanceof RawJson) throw new Error('A reply was kept that holds a secret');
  return reply;
}
