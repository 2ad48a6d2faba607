import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const suffix = process.platform === 'win32' ? '.exe' : '';

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return false;
    throw error;
  }
}

/** The full path of a program, looked up on PATH and in the folders where servers live; undefined where it is absent. */
export function findOnPath(name: string): string | undefined {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
    '/opt/homebrew/bin',
  ];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name + suffix))
    .find(isExecutable);
}

/** Set to `1` to prove the ways that machines without installed servers take. */
function ignoresInstalled(): boolean {
  return process.env['SVC_TEST_IGNORE_INSTALLED'] === '1';
}

/** The full path of an installed server's program under the first of its names; undefined where it is absent. */
export function findServer(...names: string[]): string | undefined {
  return ignoresInstalled() ? undefined : names.map(findOnPath).find((file) => file !== undefined);
}

function debianPostgresFolders(): string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, 'bin'));
}

/** The major version of a PostgreSQL's programs in a folder. */
export function postgresMajor(folder: string): number {
  const told = execFileSync(join(folder, `postgres${suffix}`), ['--version'], { encoding: 'utf8' });
  return Number(/\(PostgreSQL\) (\d+)/.exec(told)?.[1]);
}

/**
 * The folder of an installed PostgreSQL's programs (`initdb` and `postgres` side by side), of a major version if one is
 * given; undefined where none is.
 */
export function findPostgresFolder(major?: number): string | undefined {
  if (ignoresInstalled()) return undefined;
  const onPath = findOnPath('postgres');
  const candidates = [...(onPath === undefined ? [] : [dirname(realpathSync(onPath))]), ...debianPostgresFolders()];
  return candidates.find(
    (folder) =>
      isExecutable(join(folder, `initdb${suffix}`)) &&
      isExecutable(join(folder, `postgres${suffix}`)) &&
      (major === undefined || postgresMajor(folder) === major),
  );
}
