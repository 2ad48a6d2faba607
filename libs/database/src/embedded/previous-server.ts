import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.js';
import { EmbeddedDatabaseError } from './embedded-error.js';
import { isRunning, isServerOf, processesIn, signal, waitFor } from './processes.js';

/** No process of any system has this number. */
const nobodysPid = '2147483646';

interface LockFile {
  readonly pid: number;
  readonly lines: readonly string[];
}

function readLockFile(dataFolder: string): LockFile | undefined {
  const file = join(dataFolder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  return { pid: Number.parseInt(lines[0] ?? '', 10), lines };
}

/**
 * PostgreSQL refuses to start while any process, even a zombie or a stranger, has the number in the lock file. The
 * file itself stays: by its other lines PostgreSQL makes sure that no old server process still writes.
 */
function disarmLockFile(dataFolder: string, lockFile: LockFile): void {
  // Written over, and never shorter: on a full disk the old content must not be cut off before the new one has its place.
  writeFileSync(join(dataFolder, 'postmaster.pid'), [nobodysPid, ...lockFile.lines.slice(1)].join('\n'), {
    flag: 'r+',
  });
}

async function stopOnWindows(binaries: Binaries, dataFolder: string): Promise<void> {
  try {
    await promisify(execFile)(binaries.pgCtl, ['stop', '-D', dataFolder, '-m', 'fast', '-w'], { windowsHide: true });
  } catch (error) {
    // It ends with 1 where no server runs; a server that did not stop makes the next start fail with its own message.
    if ((error as { code?: number }).code !== 1) throw error;
  }
}

function foreignServer(pid: number, folder: string, cause: unknown): EmbeddedDatabaseError {
  const message = `An earlier database server of ${folder} is still running as process ${pid} of another user.`;
  return new EmbeddedDatabaseError('IN_USE', message, { advice: 'End it as that user, or start as that user.', cause });
}

async function end(pid: number, folder: string): Promise<void> {
  const steps = [
    ['SIGINT', 30_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 5_000],
  ] as const;
  for (const [name, graceMs] of steps) {
    try {
      signal(pid, name);
    } catch (error) {
      throw foreignServer(pid, folder, error);
    }
    if (await waitFor(() => !isRunning(pid), graceMs)) return;
  }
}

/** Processes of a server whose first process was killed end by themselves; those that do not are ended. */
async function endLeftovers(dataFolder: string): Promise<void> {
  if (await waitFor(() => processesIn(dataFolder).length === 0, 5_000)) return;
  for (const pid of processesIn(dataFolder)) signal(pid, 'SIGKILL');
  await waitFor(() => processesIn(dataFolder).length === 0, 5_000);
}

/**
 * Ends the server that a killed workspace left on this data folder, and clears the way for a new one. Call it only
 * while holding the folder's ownership: then no living workspace uses that server.
 * @returns whether there was one
 */
export async function endPreviousServer(
  binaries: Binaries,
  dataFolder: string,
  onStop: (pid: number) => void,
): Promise<boolean> {
  const lockFile = readLockFile(dataFolder);
  if (lockFile === undefined) return false;
  if (process.platform === 'win32') {
    await stopOnWindows(binaries, dataFolder);
    return true;
  }
  const found = isServerOf(lockFile.pid, dataFolder);
  if (found) {
    onStop(lockFile.pid);
    await end(lockFile.pid, dataFolder);
  }
  await endLeftovers(dataFolder);
  const left = readLockFile(dataFolder);
  if (left !== undefined) disarmLockFile(dataFolder, left);
  return found;
}
