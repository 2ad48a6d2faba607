import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isRunning, listProcesses } from './processes.js';

const prefix = 'workspace-graph-test-';
const ownFolders = new Set<string>();
let exitHookSet = false;

/** Every user may pass through the folder and all above it: a server that runs as another user needs that. */
function isReachableByAll(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (dirname(at) === at) return true;
  }
}

function baseFolder(): string {
  const wanted = tmpdir();
  if (process.platform === 'win32' || isReachableByAll(wanted)) return wanted;
  accessSync('/tmp', constants.W_OK);
  return '/tmp';
}

function removeAllNow(): void {
  for (const folder of ownFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** What the servers of a whole run may come to, with room to spare; a small machine keeps them on its disk. */
const roomBytes = 4 * 1_024 ** 3;

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(folder);
    return isReachableByAll(folder) && Math.min(bavail * bsize, process.availableMemory()) >= roomBytes;
  } catch {
    // Not there, or not ours to write to: the disk does as well.
    return false;
  }
}

/**
 * A folder in memory for what need not outlast the run: making and removing a database there costs a third of what it
 * costs on a disk. `SVC_TEST_MEMORY_FOLDER` names another one, and nothing keeps everything on the disk.
 * @returns undefined where the system has none with room
 */
export function memoryFolder(): string | undefined {
  const wanted = process.env['SVC_TEST_MEMORY_FOLDER'] ?? (process.platform === 'linux' ? '/dev/shm' : '');
  return wanted !== '' && hasRoom(wanted) ? wanted : undefined;
}

export interface FolderOptions {
  /** On a disk, for what is about syncing. Default false: in memory, where the system has such a folder. */
  readonly onDisk?: boolean;
}

/** A fresh folder that other users can pass through but not list; removed by `removeFolder`, at the latest when this process exits. */
export function makeFolder({ onDisk = false }: FolderOptions = {}): string {
  const folder = mkdtempSync(join((onDisk ? undefined : memoryFolder()) ?? baseFolder(), prefix));
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, 'owner'), String(process.pid));
  ownFolders.add(folder);
  if (!exitHookSet) process.once('exit', removeAllNow);
  exitHookSet = true;
  return folder;
}

/** Removes a folder made by `makeFolder`; a second call does nothing. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  ownFolders.delete(folder);
}

function ownerOf(folder: string): number | undefined {
  try {
    return Number(readFileSync(join(folder, 'owner'), 'utf8'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function isMine(folder: string): boolean {
  return process.getuid === undefined || statSync(folder).uid === process.getuid();
}

/** Ends the servers and removes the folders of test runs that were killed before they could clean up. */
export function sweepAbandonedFolders(): void {
  for (const base of new Set([baseFolder(), memoryFolder() ?? baseFolder()])) sweep(base);
}

function sweep(base: string): void {
  for (const name of readdirSync(base)) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(base, name);
    const owner = ownerOf(folder);
    if (owner === undefined || isRunning(owner) || !isMine(folder)) continue;
    for (const entry of listProcesses()) {
      if (entry.command.includes(folder)) process.kill(entry.pid, 'SIGKILL');
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
