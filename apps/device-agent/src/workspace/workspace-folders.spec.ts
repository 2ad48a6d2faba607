import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolders } from './workspace-folders.js';
import { workspacePaths } from './workspace-paths.js';

const MODE = 0o777;
/** Root's is passed through by the group of the user that runs the database. */
const CLOSED = process.getuid?.() === 0 ? 0o710 : 0o700;

it('the folder .svc is open to its user alone, also one that was open to others', async () => {
  const root = await mkdtemp(join(tmpdir(), 'svc-folders-'));
  try {
    const paths = workspacePaths(root);
    await makeFolders(paths);
    expect((await stat(paths.own)).mode & MODE).toBe(CLOSED);
    await chmod(paths.own, 0o755);
    await makeFolders(paths);
    expect((await stat(paths.own)).mode & MODE).toBe(CLOSED);
  } finally {
    await rm(root, { recursive: true });
  }
});
