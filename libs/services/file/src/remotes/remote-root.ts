import type { Database } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { type Remote, readRootMarker, writeRootMarker } from '@workspace-graph/remotes';
import { remoteRefused } from './refusals.js';
import { CLAIM_ROOT, FIND_ROOT } from './remote.statements.js';

/** What the mark at the root of a storage says to this workspace. */
export interface Root {
  /** Null for a root that has no mark yet. */
  readonly marker: string | null;
}

/** @throws ServiceError REMOTE_REFUSED for the root of another remote, of another workspace and for a mark that is none */
export async function readRoot(database: Database, remote: Remote, name: string): Promise<Root> {
  const marker = await readRootMarker(remote);
  if (marker === null) return { marker };
  const [known] = await database.rows<{ name: string | null }>(FIND_ROOT, [marker]);
  if (!known)
    throw remoteRefused(
      name,
      'foreign_root',
      'The root of this storage belongs to another workspace. Choose another root; if nothing uses it any more, remove the file .workspace-graph.json there.',
    );
  if (known.name !== null && known.name !== name)
    throw remoteRefused(name, 'root_in_use', `The root of this storage is that of the remote ${known.name}.`);
  return { marker };
}

/** Marks a root as ours. The mark is noted before it is written, so that a break in between leaves a root that is known. */
export async function markRoot(database: Database, remote: Remote): Promise<string> {
  const marker = newId();
  await database.rows(CLAIM_ROOT, [marker]);
  await writeRootMarker(remote, marker);
  return marker;
}
