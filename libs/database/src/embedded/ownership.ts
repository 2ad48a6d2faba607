import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EmbeddedDatabaseError } from './embedded-error.js';
import { failureOfFolder, withAdvice } from './failures.js';
import { keepOwner } from './places.js';

/** Held for as long as this process uses the folder; the system frees it when the process dies, however it dies. */
export interface Ownership {
  /** Releases the folder, so that another process can take it. A second call does nothing. */
  release(): void;
}

/** The process that holds a folder; its pid is null in the moment before it has written it down. */
export interface Owner {
  /** Null while the process has not written its pid yet. */
  readonly pid: number | null;
}

const sqliteBusy = 5;
/** Longer than a look at the lock takes. */
const lookMs = 300;
/** Holds the locks themselves too: one that is collected as garbage would be free. */
const ownedHere = new Map<string, DatabaseSync>();

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === sqliteBusy;
}

function holderPid(folder: string): string {
  try {
    return readFileSync(join(folder, 'owner.pid'), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'unknown';
    throw error;
  }
}

function inUse(folder: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    'IN_USE',
    `The workspace database in ${folder} is in use by the process ${holderPid(folder)}.`,
    {
      advice: 'Stop it with `svc stop` or by ending that process, or start with another workspace folder.',
    },
  );
}

function writePid(folder: string): void {
  const file = join(folder, 'owner.pid');
  writeFileSync(`${file}.new`, `${process.pid}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  keepOwner(folder, file);
}

/**
 * Takes the folder for this process. SQLite's file lock serves as the lock because Node has no other that the kernel
 * frees by itself: no stale file, no reused process number, on every platform.
 * @throws EmbeddedDatabaseError IN_USE naming the holder's pid
 */
export function takeOwnership(folder: string): Ownership {
  const file = join(folder, 'owner.lock');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file, { timeout: lookMs });
    // Without a journal the lock leaves no second file behind when the process is killed.
    lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if (isBusy(error)) throw inUse(folder);
    throw failureOfFolder(folder, error);
  }
  const held = lock;
  try {
    withAdvice(folder, () => {
      keepOwner(folder, file);
      writePid(folder);
    });
  } catch (error) {
    held.close();
    throw error;
  }
  ownedHere.set(folder, held);
  return {
    release: () => {
      if (ownedHere.delete(folder)) held.close();
    },
  };
}

function isLocked(folder: string, file: string): boolean {
  let look: DatabaseSync | undefined;
  try {
    look = new DatabaseSync(file, { readOnly: true, timeout: 0 });
    look.exec('SELECT 1 FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw failureOfFolder(folder, error);
  } finally {
    look?.close();
  }
}

/**
 * Who holds the folder right now, without taking it; null when nobody does, whatever a killed process left there.
 * @throws EmbeddedDatabaseError FOLDER_UNUSABLE; errors of the file system as they are
 */
export function findOwner(folder: string): Owner | null {
  const file = join(folder, 'owner.lock');
  const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined;
  if (!(isThere && isLocked(folder, file))) return null;
  const pid = Number(holderPid(folder));
  return { pid: Number.isSafeInteger(pid) && pid > 0 ? pid : null };
}

/**
 * Whether the process of this number is the one that holds the folder, and not another that a container's number means
 * here. True where the system does not tell: outside of Linux, and for processes of other users.
 */
export function holdsLock(folder: string, pid: number): boolean {
  if (process.platform !== 'linux') return true;
  const lock = statSync(join(folder, 'owner.lock'));
  try {
    return readdirSync(`/proc/${pid}/fd`).some((name) => {
      const open = statSync(`/proc/${pid}/fd/${name}`, { throwIfNoEntry: false });
      return open?.ino === lock.ino && open.dev === lock.dev;
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code === 'EACCES' || code === 'EPERM') return true;
    throw error;
  }
}
