import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { EmbeddedDatabaseError } from './embedded-error.js';

/** The user that runs the server where this process is root, which PostgreSQL refuses to be. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

function idOf(name: string): ServerUser | undefined {
  try {
    const read = (flag: string): number =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: read('-u'), gid: read('-g') };
  } catch (error) {
    // `id` ends with 1 when there is no such user; anything else is a broken system.
    if ((error as { status?: number }).status === 1) return undefined;
    throw error;
  }
}

/** The owner of existing data goes on; new data gets `postgres`, else `nobody`. Undefined when this process is not root. */
export function serverUser(dataFolder: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(dataFolder)) {
    const { uid, gid } = statSync(dataFolder);
    if (uid !== 0) return { uid, gid };
  }
  const user = databaseUser();
  if (user === undefined) {
    throw new EmbeddedDatabaseError(
      'BINARIES_UNUSABLE',
      'PostgreSQL refuses to run as root, and this system has neither the user "postgres" nor "nobody".',
      {
        advice: 'Start as an ordinary user, or create one of these users.',
      },
    );
  }
  return user;
}

/** The user that runs the database of this process, where that is another one. */
export function databaseUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return idOf('postgres') ?? idOf('nobody');
}

/** Options for child processes that make them run as the server's user, free of root's groups. */
export function identityOf(user: ServerUser | undefined): { uid?: number; gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid };
}

/** Whether the user can enter the folder; asked of the system itself, which knows of groups and access lists. */
export function canEnter(user: ServerUser | undefined, folder: string): boolean {
  if (user === undefined) return true;
  return (
    spawnSync('/bin/sh', ['-c', 'cd -- "$0"', folder], { ...identityOf(user), cwd: '/', stdio: 'ignore', env: {} })
      .status === 0
  );
}

/** Variables that the server's programs need; neither secrets of this process nor settings of other databases. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: these belong to the system and are passed on as they are
  const { PATH, SystemRoot, TEMP, TMP, TMPDIR } = process.env;
  return { PATH, SystemRoot, TEMP, TMP, TMPDIR, LC_ALL: 'C' };
}
