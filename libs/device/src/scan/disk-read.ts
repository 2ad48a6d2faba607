import { createHash, hash } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync, statSync } from 'node:fs';
import { stampOf } from '@workspace-graph/disk/stamp';
import { codeOf } from './disk-walk.js';

/** What became of reading one file. */
export type ReadOutcome =
  | { readonly state: 'read'; readonly sha256: string; readonly sizeBytes: number }
  /** It is another file than the one that was found, or is being written. */
  | { readonly state: 'changed' }
  | { readonly state: 'failed'; readonly code: string };

export interface ReadOrder {
  readonly root: string;
  readonly files: readonly { readonly onDisk: string; readonly stamp: string; readonly inode: string | null }[];
}

const CHUNK_BYTES = 1_048_576;
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const CHANGED = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR']);
let chunk: Buffer | null = null;

/** Reads and hashes files with synchronous calls: for a worker thread. One answer for each, in their order. */
export function readFiles({ root, files }: ReadOrder): ReadOutcome[] {
  const rootDevice = statSync(root, { bigint: true }).dev;
  return files.map((file): ReadOutcome => {
    try {
      return readOne(`${root}/${file.onDisk}`, (stat) => isSame(stat, file, rootDevice));
    } catch (error) {
      const code = codeOf(error);
      return CHANGED.has(code) ? { state: 'changed' } : { state: 'failed', code };
    }
  });
}

/** The stamp and inode of paths, as `packStat`; null for what is no regular file. */
export function statFiles({
  root,
  paths,
}: {
  readonly root: string;
  readonly paths: readonly string[];
}): (string | null)[] {
  const rootDevice = statSync(root, { bigint: true }).dev;
  const folders = new Map<string, boolean>();
  return paths.map((path) => {
    try {
      if (!isInRealFolder(root, path, folders)) return null;
      const stat = lstatSync(`${root}/${path}`, { bigint: true, throwIfNoEntry: false });
      if (!stat?.isFile()) return null;
      return packStat(stampOf(stat), stat.dev === rootDevice ? `${stat.ino}` : null);
    } catch {
      // What cannot be looked at is not what was found before.
      return null;
    }
  });
}

function isInRealFolder(root: string, path: string, known: Map<string, boolean>): boolean {
  const end = path.lastIndexOf('/');
  if (end < 0) return true;
  const folder = path.slice(0, end);
  const before = known.get(folder);
  if (before !== undefined) return before;
  const isReal =
    isInRealFolder(root, folder, known) &&
    (lstatSync(`${root}/${folder}`, { throwIfNoEntry: false })?.isDirectory() ?? false);
  known.set(folder, isReal);
  return isReal;
}

export function packStat(stamp: string, inode: string | null): string {
  return `${stamp}|${inode ?? ''}`;
}

function readOne(path: string, isSameFile: (stat: BigIntStats) => boolean): ReadOutcome {
  const file = openSync(path, FLAGS);
  try {
    const stat = fstatSync(file, { bigint: true });
    if (!stat.isFile() || !isSameFile(stat)) return { state: 'changed' };
    const { sha256, sizeBytes } = digest(file);
    const isSettled = sizeBytes === Number(stat.size) && isSameFile(fstatSync(file, { bigint: true }));
    return isSettled ? { state: 'read', sha256, sizeBytes } : { state: 'changed' };
  } finally {
    closeSync(file);
  }
}

function digest(file: number): { sha256: string; sizeBytes: number } {
  chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const first = readSync(file, chunk, 0, CHUNK_BYTES, null);
  if (first < CHUNK_BYTES && readSync(file, chunk, first, CHUNK_BYTES - first, null) === 0)
    return { sha256: hash('sha256', chunk.subarray(0, first), 'hex'), sizeBytes: first };
  return digestAll(file);
}

function digestAll(file: number): { sha256: string; sizeBytes: number } {
  const buffer = chunk ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const whole = createHash('sha256');
  for (let position = 0; ; ) {
    const length = readSync(file, buffer, 0, CHUNK_BYTES, position);
    if (length === 0) return { sha256: whole.digest('hex'), sizeBytes: position };
    whole.update(buffer.subarray(0, length));
    position += length;
  }
}

function isSame(stat: BigIntStats, file: ReadOrder['files'][number], rootDevice: bigint): boolean {
  const inode = stat.dev === rootDevice ? `${stat.ino}` : null;
  return stampOf(stat) === file.stamp && inode === file.inode;
}
