import { execFileSync } from 'node:child_process';

export interface ServerUser {
  uid: number;
  gid: number;
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

/** The unprivileged user for servers that refuse to run as root; undefined when this process is not root. */
export function unprivilegedUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = idOf('postgres') ?? idOf('nobody');
  if (user === undefined)
    throw new Error('PostgreSQL refuses to run as root, and this system has neither the user "postgres" nor "nobody"');
  return user;
}
