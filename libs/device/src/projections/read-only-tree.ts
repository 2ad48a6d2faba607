import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { createWriteStream } from 'node:fs';
import { chmod, type FileHandle, link, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '@workspace-graph/contracts';
import { type MirrorPath, openForReading, stampOf } from '@workspace-graph/disk';

const OPEN = 0o700;
const CLOSED = 0o500;
const COPY = 0o400;
/** Why a volume does not link a file, which can then still be copied. */
const UNLINKABLE = new Set(['EXDEV', 'EMLINK', 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);
const COPY_ATTEMPTS = 3;

export interface PutOptions {
  /** What an earlier call answered for this target. */
  readonly mark?: string | undefined;
  /** Makes a hard link; told apart for volumes that cannot. */
  readonly link?: (existing: string, target: string) => Promise<void>;
}

/**
 * Makes folders under `root` and lets `work` write in the last of them; all of them are read-only before and after. What
 * is in the way and no folder is removed.
 */
export async function insideFolder<T>(
  root: string,
  names: readonly string[],
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const way = [root, ...names.map((_name, depth) => join(root, ...names.slice(0, depth + 1)))];
  for (const folder of way) await openFolder(folder);
  try {
    return await work(way.at(-1) ?? root);
  } finally {
    for (const folder of way.toReversed()) await chmod(folder, CLOSED);
  }
}

/**
 * Lets `target` show the file as it is now: a hard link or, where there can be none, a read-only copy. Answers a mark that
 * tells whether a copy is still current.
 * @throws ServiceError FILE_NOT_FOUND; SERVICE_UNAVAILABLE for a file that is written faster than it is copied
 */
export async function putFile(source: MirrorPath, target: string, options: PutOptions = {}): Promise<string> {
  const handle = await openForReading(source);
  try {
    const found = await handle.stat({ bigint: true });
    const there = await lstatOrNull(target);
    if (there && isSameFile(there, found)) return markOf(found);
    if (there?.isFile() && options.mark === markOf(found)) return options.mark;
    if (there?.isDirectory()) await removeTree(target);
    return await replace(handle, { found, existing: source.absolute, target, link: options.link ?? link });
  } finally {
    await handle.close();
  }
}

/** Removes a file or a folder with all in it, read-only or not. Nothing there is nothing to do. */
export async function removeTree(path: string): Promise<void> {
  if ((await lstatOrNull(path))?.isDirectory()) await openAll(path);
  await rm(path, { recursive: true, force: true });
}

interface Replacement {
  readonly found: BigIntStats;
  readonly existing: string;
  readonly target: string;
  readonly link: (existing: string, target: string) => Promise<void>;
}

async function replace(handle: FileHandle, { found, existing, target, link }: Replacement): Promise<string> {
  const temporary = join(dirname(target), `.svc-${randomUUID()}`);
  try {
    const linked = await linkSame(existing, temporary, found, link);
    const mark = linked ? markOf(found) : await copy(handle, temporary);
    await rename(temporary, target);
    return mark;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** True when `temporary` is the opened file; what has taken its name meanwhile is not shown. */
async function linkSame(
  existing: string,
  temporary: string,
  found: BigIntStats,
  link: Replacement['link'],
): Promise<boolean> {
  try {
    await link(existing, temporary);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (UNLINKABLE.has(code) || code === 'ENOENT') return false;
    throw error;
  }
  const made = await lstatOrNull(temporary);
  if (made && isSameFile(made, found)) return true;
  await rm(temporary, { force: true });
  return false;
}

async function copy(handle: FileHandle, temporary: string): Promise<string> {
  for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt += 1) {
    const before = markOf(await handle.stat({ bigint: true }));
    await pipeline(
      handle.createReadStream({ start: 0, autoClose: false }),
      createWriteStream(temporary, { flags: 'w', mode: COPY | OPEN }),
    );
    if (before !== markOf(await handle.stat({ bigint: true }))) continue;
    await chmod(temporary, COPY);
    return before;
  }
  throw new ServiceError('SERVICE_UNAVAILABLE', 'The file is being written; try again in a moment.');
}

async function openFolder(folder: string): Promise<void> {
  const there = await lstatOrNull(folder);
  if (there?.isDirectory()) return chmod(folder, OPEN);
  if (there) await rm(folder, { force: true });
  await mkdir(folder, { mode: OPEN, recursive: true });
}

async function openAll(folder: string): Promise<void> {
  await chmod(folder, OPEN);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await openAll(join(folder, entry.name));
}

async function lstatOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.isFile() && one.dev === other.dev && one.ino === other.ino;
}

function markOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stampOf(stat)}`;
}
