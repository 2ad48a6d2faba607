import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, type Dirent } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asideName, nameOrRename, stampOf } from '@workspace-graph/disk';
import { pathRefused } from './folder-rules.js';

/** Where the content of a folder differs from its copy. */
export class ChangedMeanwhile extends Error {}

/** What a copy does with the disk. */
export interface CopyDisk {
  copyFile(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
}

export const COPY_DISK: CopyDisk = { copyFile: (from, to) => copyFile(from, to), unlink };

/** Something in a folder; `path` is within it. */
interface Entry {
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'link';
}

/**
 * Copies a folder with the times of its files, and reads every copy again. `to` must not exist.
 * @throws ChangedMeanwhile when somebody worked in the folder; MIRROR_PATH_REFUSED for what is no file, folder or link
 */
export async function copyFolder(
  from: string,
  to: string,
  options: { disk: CopyDisk; signal: AbortSignal },
): Promise<void> {
  const before = await stamps(from);
  await mkdir(to);
  for await (const entry of entriesOf(from)) {
    options.signal.throwIfAborted();
    await copyEntry(entry, from, to, options.disk);
  }
  const after = await stamps(from);
  if (before.size !== after.size || [...before].some(([path, stamp]) => after.get(path) !== stamp))
    throw new ChangedMeanwhile('the folder changed while it was copied');
}

/** Removes from a folder what the other one has as well, byte for byte; anything else stays. Answers whether all is gone. */
export async function removeCopied(folder: string, other: string, disk: CopyDisk): Promise<boolean> {
  const folders = [folder];
  for await (const { path, kind } of entriesOf(folder)) {
    if (kind === 'folder') folders.push(join(folder, path));
    else await removeSame({ path: join(folder, path), kind }, join(other, path), disk);
  }
  let gone = true;
  for (const each of folders.toReversed())
    gone =
      (await rmdir(each).then(
        () => true,
        () => false,
      )) && gone;
  return gone;
}

/** Takes an entry aside before it is compared, so that nothing is removed that somebody saves there in this instant. */
async function removeSame({ path, kind }: Entry, other: string, disk: CopyDisk): Promise<void> {
  if (!(await isSame(kind, path, other))) return;
  const aside = join(dirname(path), asideName(randomUUID()));
  await rename(path, aside);
  if (await isSame(kind, aside, other)) return disk.unlink(aside);
  // Whatever has the name by now stays, and so does what lies aside.
  if (nameOrRename(aside, path)) await unlink(aside);
}

/** Folders before what lies in them. */
async function* entriesOf(root: string, within = ''): AsyncGenerator<Entry> {
  for (const found of await readdir(join(root, within), { withFileTypes: true })) {
    const path = within === '' ? found.name : join(within, found.name);
    const kind = kindOf(found, path);
    yield { path, kind };
    if (kind === 'folder') yield* entriesOf(root, path);
  }
}

function kindOf(found: Dirent, path: string): Entry['kind'] {
  if (found.isDirectory()) return 'folder';
  if (found.isFile()) return 'file';
  if (found.isSymbolicLink()) return 'link';
  throw pathRefused(
    'unusable',
    `${path} in the folder is not a file, folder or link, so it cannot be copied. Remove it first.`,
  );
}

async function copyEntry({ path, kind }: Entry, from: string, to: string, disk: CopyDisk): Promise<void> {
  const [source, target] = [join(from, path), join(to, path)];
  if (kind === 'folder') return void (await mkdir(target));
  if (kind === 'link') return symlink(await readlink(source), target);
  await disk.copyFile(source, target);
  if ((await hashOfFile(source)) !== (await hashOfFile(target)))
    throw new ChangedMeanwhile(`the copy of ${path} has different content`);
  const { atime, mtime, mode } = await lstat(source);
  await utimes(target, atime, mtime);
  await chmod(target, mode);
  const file = await open(target, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function stamps(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { path, kind } of entriesOf(folder)) {
    const entry = await lstat(join(folder, path), { bigint: true });
    found.set(path, kind === 'folder' ? kind : `${stampOf(entry)}:${entry.ino}`);
  }
  return found;
}

async function isSame(kind: Entry['kind'], path: string, other: string): Promise<boolean> {
  try {
    if (kind === 'link') return (await readlink(path)) === (await readlink(other));
    if (!(await lstat(other)).isFile()) return false;
    return (await hashOfFile(path)) === (await hashOfFile(other));
  } catch {
    // What cannot be compared is not the same, and stays.
    return false;
  }
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
