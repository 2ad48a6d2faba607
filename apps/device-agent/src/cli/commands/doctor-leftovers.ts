import { basename } from 'node:path';
import type { Finding } from '@workspace-graph/contracts';
import { findLeftovers } from '../../workspace/leftovers.js';
import type { WorkspacePaths } from '../../workspace/workspace-paths.js';

/** Names what a backup or a restore left that was cut off; one that is under way has the same. */
export async function checkLeftovers(paths: WorkspacePaths): Promise<Finding> {
  const check = 'backups';
  try {
    const { databases, drafts } = await findLeftovers(paths);
    const names = [...databases.map((name) => `the database ${name}`), ...drafts.map((file) => basename(file))];
    if (names.length === 0) return { check, state: 'ok', found: 'none was interrupted' };
    return {
      check,
      state: 'warning',
      found: `of a backup or restore that is running or was interrupted: ${names.join(', ')}`,
      advice: `If none is running, the next \`svc start\` removes them; the files are in ${paths.backups}.`,
    };
  } catch (error) {
    return { check, state: 'failed', found: (error as Error).message, advice: 'See the finding about the folder.' };
  }
}
