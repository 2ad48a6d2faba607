import { constants } from 'node:fs';
import { copyFile, link, lstat, open, rename, rmdir, unlink } from 'node:fs/promises';
import { ServiceError } from '@workspace-graph/contracts';
import { fileNotFound } from '../records/file-service.js';
import type { SeenContent } from '../records/tracked-files.js';
import { chunksOf, lastName, openForReading, readContent } from './content.js';
import { diskCode, isAbsent, occupied, onDisk } from './disk-errors.js';
import { HeldFolder } from './held-folder.js';
import { locate, type MirrorPath } from './mirror-path.js';
import { isSame, putNew, removeIfThere, StagedFile } from './write.js';

/** Where one disk ends, or where it knows no hard links. */
const OTHER_DISK = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES']);

/**
 * Moves a file to a place where nothing lies: on one volume it stays the same file, to another it is copied, verified and
 * removed. Makes folders as needed. Nothing is ever overwritten. With `leavesFolder` all of the old folder is on its way,
 * so the new one may differ from it by case alone.
 * @throws ServiceError FILE_NOT_FOUND, DESTINATION_EXISTS, CONFLICT when the file is changed meanwhile, STORAGE_FULL
 */
export async function moveFile(from: MirrorPath, to: MirrorPath, { leavesFolder = false } = {}): Promise<void> {
  if (!from.exists) throw fileNotFound({ path: from.path });
  await onDisk(to.path, async () => {
    await using source = await HeldFolder.of(from);
    const { dev, ino } = await mustBeFile(from, source);
    await using target = await HeldFolder.of(to, { create: true, leaving: leavesFolder ? from : undefined });
    const name = lastName(to);
    const there = await statOrNull(target.at(name));
    await Promise.all([source.mustBeInside(), target.mustBeInside()]);
    // One file, and one of its names is not listed: the disk ignores case or form, and only these change.
    const sameName = there?.ino === ino && there.dev === dev && !(await target.names()).includes(name);
    if (there && !sameName) throw occupied(to.path);
    if (sameName) await rename(source.at(lastName(from)), target.at(name));
    else await moveInto({ from, source }, { to, target });
    // Of a whole folder no name is synced by itself: one that is lost with the power is found again by the next scan.
    if (leavesFolder) return;
    await source.sync();
    await target.sync();
  });
}

/**
 * Removes a file if it is the one that was seen.
 * @throws ServiceError CONFLICT for another one
 */
export async function removeFile(at: MirrorPath, seen: Pick<SeenContent, 'stamp' | 'inode'>): Promise<void> {
  await onDisk(at.path, async () => {
    await using folder = await HeldFolder.of(at);
    const found = await statOrNull(folder.at(lastName(at)));
    if (!found) return;
    if (!found.isFile() || !isSame(found, seen)) throw changedMeanwhile(at.path);
    await unlink(folder.at(lastName(at)));
    await folder.sync();
  });
}

/** Removes the folders above a path that are empty, up to the section or to the first `keep` ones. */
export async function removeEmptyFolders({ mirrorRoot, path }: MirrorPath, keep = 1): Promise<void> {
  const segments = path.split('/');
  for (let depth = segments.length - 1; depth > Math.max(keep, 1); depth -= 1) {
    if (!(await removedEmpty(mirrorRoot, segments.slice(0, depth).join('/')))) return;
  }
}

/**
 * Gives a file of a mirror a second name outside of it, or copies it: where that is impossible, and where it has more
 * names already, under which its content may change. Nothing is overwritten.
 */
export async function keepAs(at: MirrorPath, path: string): Promise<void> {
  await onDisk(at.path, async () => {
    await using folder = await HeldFolder.of(at);
    const { nlink } = await mustBeFile(at, folder);
    const existing = folder.at(lastName(at));
    await (nlink > 1n ? copyOut(existing, path) : linkOrCopy(existing, path));
  });
}

/**
 * Puts a file from outside of the mirror where nothing lies; it stays where it was too. One that has more names already,
 * under which its content may change, is copied.
 * @throws ServiceError DESTINATION_EXISTS, STORAGE_FULL
 */
export async function putFrom(path: string, at: MirrorPath): Promise<void> {
  await onDisk(at.path, async () => {
    if ((await lstat(path)).nlink > 1) return copyFrom(path, at);
    await using folder = await HeldFolder.of(at, { create: true });
    await folder.mustBeInside();
    try {
      await putNew(folder, { from: path, to: lastName(at), besides: '', keep: true });
      await folder.sync();
    } catch (error) {
      if (!OTHER_DISK.has(diskCode(error) ?? '')) throw error;
      await copyFrom(path, at);
    }
  });
}

/**
 * Puts a file from outside of the mirror in the place of the one that was seen there.
 * @throws ServiceError CONFLICT when that was changed meanwhile
 */
export async function putBack(path: string, at: MirrorPath, expected: SeenContent): Promise<void> {
  await onDisk(at.path, async () => {
    await using handle = await open(path, 'r');
    await using staged = await StagedFile.of(at, chunksOf(handle), await copied(handle));
    await staged.commit({ replace: true, expected });
  });
}

interface Leaving {
  readonly from: MirrorPath;
  readonly source: HeldFolder;
}

interface Arriving {
  readonly to: MirrorPath;
  readonly target: HeldFolder;
}

async function moveInto({ from, source }: Leaving, { to, target }: Arriving): Promise<void> {
  const path = source.at(lastName(from));
  try {
    // The old name counts as no twin of the new one when both lie in one folder.
    const besides = (await source.isSame(target)) ? lastName(from) : '';
    await putNew(target, { from: path, to: lastName(to), besides, keep: true });
  } catch (error) {
    if (!OTHER_DISK.has(diskCode(error) ?? '')) throw error;
    return copyAcross(from, to);
  }
  try {
    await unlink(path);
  } catch (error) {
    await removeIfThere(target.at(lastName(to)));
    throw error;
  }
}

async function copyAcross(from: MirrorPath, to: MirrorPath): Promise<void> {
  await using handle = await openForReading(from);
  const before = await handle.stat({ bigint: true });
  await using staged = await StagedFile.of(to, chunksOf(handle), await copied(handle));
  const { seen } = staged.content;
  const read = await readContent(from);
  if (read.sha256 !== seen.sha256 || !isSame(before, read)) throw changedMeanwhile(from.path);
  await staged.commit({ replace: false });
  try {
    const written = await readContent(await locate(to.mirrorRoot, to.path));
    if (written.sha256 !== seen.sha256)
      throw new ServiceError('SERVICE_UNAVAILABLE', `The copy of ${from.path} is not what was read; try again.`);
    await removeFile(from, read);
  } catch (error) {
    await removeFile(await locate(to.mirrorRoot, to.path), seen);
    throw error;
  }
}

async function copyFrom(path: string, at: MirrorPath): Promise<void> {
  await using handle = await open(path, 'r');
  await using staged = await StagedFile.of(at, chunksOf(handle), await copied(handle));
  await staged.commit({ replace: false });
}

async function copied(handle: Awaited<ReturnType<typeof open>>) {
  const { atimeMs, mtimeMs, mode } = await handle.stat();
  return { modified: { atimeMs, mtimeMs }, mode: mode & 0o777 };
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!OTHER_DISK.has(diskCode(error) ?? '')) throw error;
    await copyOut(from, to);
  }
}

async function copyOut(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    const { atime, mtime } = await lstat(from);
    await using handle = await open(to, 'r+');
    await handle.utimes(atime, mtime);
    await handle.sync();
  } catch (error) {
    await removeIfThere(to);
    throw error;
  }
}

async function removedEmpty(mirrorRoot: string, path: string): Promise<boolean> {
  try {
    const at = await locate(mirrorRoot, path);
    await using folder = await HeldFolder.of(at);
    await rmdir(folder.at(lastName(at)));
    return true;
  } catch {
    // A folder that is not empty, or not ours to remove, stays: that is what was asked for.
    return false;
  }
}

async function mustBeFile(at: MirrorPath, folder: HeldFolder) {
  const found = await statOrNull(folder.at(lastName(at)));
  if (!found?.isFile()) throw fileNotFound({ path: at.path });
  return found;
}

async function statOrNull(path: string) {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

function changedMeanwhile(path: string): ServiceError {
  return new ServiceError('CONFLICT', `The file ${path} was changed meanwhile.`, { path });
}
