import { ServiceError } from '@workspace-graph/contracts';
import type { Database } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { type Remote, RemoteFailure, readRootMarker, writeRootMarker } from '@workspace-graph/remotes';
import { remoteRefused } from './refusals.js';
import { CLAIM_ROOT, FIND_ROOT } from './remote.statements.js';

/**
 * The mark at the root of a storage that may be this remote; null for none.
 * @throws ServiceError REMOTE_REFUSED for the root of another remote, of another workspace and for a mark that is none
 */
export async function readRoot(database: Database, remote: Remote, name: string): Promise<string | null> {
  const marker = await readRootMarker(remote).catch((error: unknown) => {
    throw isOccupied(error) ? foreignRoot(name, error) : error;
  });
  if (marker === null) return null;
  const [known] = await database.rows<{ name: string | null }>(FIND_ROOT, [marker]);
  if (!known) throw foreignRoot(name);
  if (known.name !== null && known.name !== name)
    throw remoteRefused(name, 'root_in_use', `The root of this storage is that of the remote ${known.name}.`);
  return marker;
}

/**
 * Marks a root as ours. The mark is noted before it is written, so that a break in between leaves a root that is known.
 * @throws ServiceError CONFLICT when somebody else marked it meanwhile
 */
export async function markRoot(database: Database, remote: Remote): Promise<string> {
  const marker = newId();
  await database.rows(CLAIM_ROOT, [marker]);
  await writeRootMarker(remote, marker).catch((cause: unknown) => {
    if (!isOccupied(cause)) throw cause;
    throw new ServiceError('CONFLICT', 'This root is being set up by another call: try again.', {}, { cause });
  });
  return marker;
}

function isOccupied(error: unknown): boolean {
  return error instanceof RemoteFailure && error.reason === 'exists';
}

function foreignRoot(name: string, cause?: unknown): ServiceError {
  return remoteRefused(
    name,
    'foreign_root',
    'The root of this storage belongs to another workspace. Choose another root; if nothing uses it any more, remove the file .workspace-graph.json there.',
    cause,
  );
}
