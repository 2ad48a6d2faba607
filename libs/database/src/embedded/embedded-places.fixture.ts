import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedDatabase } from './embedded-database.js';
import type { ServerUser } from './server-user.js';

export const isRoot = process.getuid?.() === 0;
export const nobody: ServerUser = { uid: 65_534, gid: 65_534 };

/** Folders for databases: short enough for sockets, and open to every user. */
export interface TestPlaces {
  readonly base: string;
  /** Path of a folder that is not there yet; its parent belongs to `user`. */
  fresh(user?: ServerUser): string;
  /** A workspace that was started once before. */
  used(user?: ServerUser): string;
  remove(): void;
}

export async function makeTestPlaces(): Promise<TestPlaces> {
  const base = mkdtempSync('/tmp/embedded-');
  chmodSync(base, 0o755);
  const template = join(base, 'template');
  await (await startEmbeddedDatabase({ folder: template })).stop();
  let count = 0;
  const parent = (user?: ServerUser): string => {
    const folder = mkdtempSync(join(base, `${++count}-`));
    chmodSync(folder, 0o755);
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    return folder;
  };
  return {
    base,
    fresh: (user) => join(parent(user), 'db'),
    used: (user) => {
      const folder = join(parent(user), 'db');
      execFileSync('cp', ['-a', template, folder]);
      if (user !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
      return folder;
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
