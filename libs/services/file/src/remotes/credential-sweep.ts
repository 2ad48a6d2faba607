import type { Database } from '@workspace-graph/database';
import type { CredentialStore } from '@workspace-graph/remotes';
import { USED_SECRETS } from './remote.statements.js';

/** Longer than any setting up takes, after which credentials that no remote names are those of none. */
const UNUSED_AFTER_MS = 3_600_000;

/** Removes credentials that a replaced, forgotten or half set up remote has left. @returns how many */
export async function removeUnusedCredentials(
  database: Database,
  credentials: CredentialStore,
  nowMs: number,
): Promise<number> {
  // The store is read first: what is written after that is left alone.
  const kept = (await credentials.list()).filter(({ writtenAtMs }) => nowMs - writtenAtMs > UNUSED_AFTER_MS);
  return removeUnused(
    database,
    credentials,
    kept.map(({ id }) => id),
  );
}

/** Removes those of these credentials that no remote names. @returns how many */
export async function removeUnused(
  database: Database,
  credentials: CredentialStore,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const used = new Set((await database.rows<{ id: string }>(USED_SECRETS, [])).map(({ id }) => id));
  const unused = ids.filter((id) => !used.has(id));
  for (const id of unused) await credentials.remove(id);
  return unused.length;
}
