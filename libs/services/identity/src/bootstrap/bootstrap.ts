import { LIMITS, RawJson, ServiceError } from '@workspace-graph/contracts';
import { changedFields, type Database, runCommand, systemContext, type Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { inDays, insertToken } from '../tokens/create-token.js';
import { endTokens } from '../tokens/end-tokens.js';
import { completeRotationOf } from '../tokens/rotate-token.js';
import { SUCCEED_TOKEN } from '../tokens/token.statements.js';
import { hashSecret } from '../tokens/token-secret.js';
import {
  CLAIM_BOOTSTRAP,
  FIRST_ADMINISTRATOR,
  REINSTATE_OWNER,
  SIDECAR_TOKEN,
  SIDECAR_TOKENS,
} from './bootstrap.statements.js';

/** The first administrator of a central workspace. */
export interface Administrator {
  /** Id of the new user. */
  readonly user_id: string;
  /** Id of the token, with the scope manage. */
  readonly token_id: string;
  /** The token's text; stored nowhere. */
  readonly secret: string;
}

/** The person of a local workspace. */
export interface LocalOwner {
  /** Id of the user. */
  readonly user_id: string;
  /** The sidecar's token: the one that was given, or a new one that the caller must keep readable by this user only. */
  readonly secret: string;
  /** True when the workspace had no owner before. */
  readonly created: boolean;
}

interface KeptToken extends Record<string, unknown> {
  readonly id: string;
  readonly user_id: string;
  readonly is_successor: boolean;
}

const SIDECAR_LABEL = 'sidecar';
const BOOTSTRAP = 'bootstrap';

/**
 * Makes the first administrator of a workspace with a `manage` token, once in its life.
 * Throws CONFLICT when there has been one already.
 */
export async function bootstrapAdministrator(
  database: Database,
  { name, label }: { readonly name: string; readonly label: string },
): Promise<Administrator> {
  return inTransaction(database, async (tx) => {
    const userId = await createFirst(tx, name);
    if (userId === null) {
      throw new ServiceError(
        'CONFLICT',
        'This workspace already has its first administrator; create further tokens with `svc token create`.',
      );
    }
    const { token, secret } = await insertToken(tx, BOOTSTRAP, {
      kind: 'personal',
      label,
      scope: 'manage',
      userId,
      expiresAt: inDays(LIMITS.tokenDaysDefault),
      origin: 'bootstrap',
    });
    return { user_id: userId, token_id: token.id, secret };
  });
}

/**
 * The person of a local workspace, who is never shut out of it, and a working token of its sidecar. `secret` is the one kept from before; when it
 * is missing or no longer valid a new one takes its place, and what was made with the old ones goes on with it.
 */
export async function ensureLocalOwner(
  database: Database,
  { name, secret }: { readonly name: string; readonly secret: string | null },
): Promise<LocalOwner> {
  const owner = await findOwner(database, { name, secret });
  await inTransaction(database, (tx) => reinstate(tx, owner.user_id));
  return owner;
}

async function findOwner(
  database: Database,
  { name, secret }: { readonly name: string; readonly secret: string | null },
): Promise<LocalOwner> {
  const kept = secret === null ? null : await database.row<KeptToken>(SIDECAR_TOKEN, [hashSecret(secret)]);
  if (kept && secret !== null) {
    if (kept.is_successor) await inTransaction(database, (tx) => finishRotation(tx, kept.id));
    return { user_id: kept.user_id, secret, created: false };
  }
  return inTransaction(database, async (tx) => {
    const userId = (await createFirst(tx, name)) ?? (await tx.row<{ user_id: string }>(FIRST_ADMINISTRATOR))?.user_id;
    if (userId === undefined) throw new Error('The owner of the local workspace is missing');
    return { user_id: userId, secret: await renewSidecar(tx, userId), created: true };
  });
}

/** They may have been disabled or lowered elsewhere, before a backup of that was restored here. */
async function reinstate(tx: Transaction, userId: string): Promise<object> {
  const before = await tx.row<{ disabled: boolean; max_scope: string }>(REINSTATE_OWNER, [userId]);
  const changes = before && changedFields({ ...before }, { disabled: false, max_scope: 'manage' });
  if (changes) tx.audit({ action: BOOTSTRAP, targetKind: 'user', targetId: userId, ...changes });
  return {};
}

/** Ends the sidecar's tokens of before; what was made with them goes on with a new one, whose secret it answers. */
async function renewSidecar(tx: Transaction, userId: string): Promise<string> {
  const before = await tx.rows<{ id: string }>(SIDECAR_TOKENS);
  const { token, secret } = await insertToken(tx, BOOTSTRAP, {
    kind: 'device',
    label: SIDECAR_LABEL,
    scope: 'manage',
    userId,
    expiresAt: inDays(LIMITS.tokenDaysMax),
    origin: 'workspace',
  });
  for (const { id } of before) await endTokens(tx, SUCCEED_TOKEN, [id, token.id]);
  return secret;
}

/** The new secret was stored, and whoever stored it did not come to say so. */
async function finishRotation(tx: Transaction, tokenId: string): Promise<object> {
  await completeRotationOf(tx, tokenId);
  return {};
}

/** The first user of a workspace; null when another one was first. */
async function createFirst(tx: Transaction, name: string): Promise<string | null> {
  const id = newId();
  const claimed = await tx.row<{ claimed: boolean }>(CLAIM_BOOTSTRAP, [id, name]);
  if (!claimed) return null;
  tx.audit({ action: BOOTSTRAP, targetKind: 'user', targetId: id, after: { name, max_scope: 'manage' } });
  return id;
}

async function inTransaction<R extends object>(database: Database, work: (tx: Transaction) => Promise<R>): Promise<R> {
  const reply = await runCommand(database, systemContext(BOOTSTRAP), work, { keepReply: false });
  if (reply instanceof RawJson) throw new Error('A call id was used twice');
  return reply;
}
