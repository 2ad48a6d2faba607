import { lstat, open, rename, rmdir } from 'node:fs/promises';
import { ServiceError } from '@workspace-graph/contracts';
import { type Asides, asideName, bringBack, nameOrRename, OTHER_DISK, type Taking, takeAside } from './aside.js';
import { chunksOf, lastName, openForReading, readContent } from './content.js';
import { diskCode, fileNotFound, occupied, onDisk } from './disk-errors.js';
import { HeldFolder, mustBeFile, statOrNull } from './held-folder.js';
import { locate, type MirrorPath } from './mirror-path.js';
import type { SeenContent } from './seen-content.js';
import {
  changedMeanwhile,
  copied,
  exchangeFile,
  isSame,
  mustBeFree,
  putNew,
  type Replaced,
  removeIfThere,
  StagedFile,
} from './write.js';

export interface MoveOptions {
  readonly asides: Asides;
  /** True: all of the old folder is on its way, so the new one may differ from it by case alone. */
  readonly leavesFolder?: boolean | undefined;
  /** Content that the file must have; without it, the file is moved with whatever is saved in it meanwhile. */
  readonly expected?: Pick<SeenContent, 'stamp' | 'inode'> | null;
}

/**
 * Moves a file to a place where nothing lies: on one volume it stays the same file, to another it is copied, verified and
 * taken aside. Makes folders as needed. Nothing is ever overwritten, and what another program saves meanwhile stays
 * under the old name or goes along.
 * @throws ServiceError FILE_NOT_FOUND, DESTINATION_EXISTS, CONFLICT when the file is changed meanwhile, STORAGE_FULL
 */
export async function moveFile(from: MirrorPath, to: MirrorPath, options: MoveOptions): Promise<void> {
  const { leavesFolder = false } = options;
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
    else await moveInto({ from, source }, { to, target }, options);
    // Of a whole folder no name is synced by itself: one that is lost with the power is found again by the next scan.
    if (leavesFolder) return;
    await source.sync();
    await target.sync();
  });
}

/**
 * Takes a file aside if it is the one that was seen; another one gets its name back.
 * @throws ServiceError CONFLICT for another one
 */
export async function removeFile(
  at: MirrorPath,
  seen: Pick<SeenContent, 'stamp' | 'inode'>,
  asides: Asides,
): Promise<void> {
  await onDisk(at.path, async () => {
    await using folder = await HeldFolder.of(at);
    const name = lastName(at);
    const found = await statOrNull(folder.at(name));
    if (!found) return;
    if (!isSame(found, seen)) throw changedMeanwhile(at.path);
    const taking = { folder, name, id: asides.next(at) };
    if (!isSame(takeAside(taking), seen)) {
      bringBack(taking);
      throw changedMeanwhile(at.path);
    }
    await folder.sync();
  });
}

/** Removes a file of ours that nobody else works with: one that was being written. */
export async function removeTemporary(at: MirrorPath, isOld: (mtimeMs: number) => boolean): Promise<void> {
  await using folder = await HeldFolder.of(at);
  const found = await statOrNull(folder.at(lastName(at)));
  if (found?.isFile() && isOld(Number(found.mtimeMs))) await removeIfThere(folder.at(lastName(at)));
}

/** Removes the folders above a path that are empty, up to the section or to the first `keep` ones. */
export async function removeEmptyFolders({ mirrorRoot, path }: MirrorPath, keep = 1): Promise<void> {
  const segments = path.split('/');
  for (let depth = segments.length - 1; depth > Math.max(keep, 1); depth -= 1) {
    if (!(await removedEmpty(mirrorRoot, segments.slice(0, depth).join('/')))) return;
  }
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
 * Puts a file from outside of the mirror in the place of the one that was seen there: the file itself, or a copy where
 * that is impossible.
 * @throws ServiceError CONFLICT when that was changed meanwhile
 */
export async function putBack(path: string, at: MirrorPath, replaces: Replaced): Promise<void> {
  await onDisk(at.path, async () => {
    await using folder = await HeldFolder.of(at);
    await folder.mustBeInside();
    if ((await lstat(path)).dev === (await folder.device())) {
      exchangeFile(path, { at, folder }, replaces);
      return folder.sync();
    }
    await using handle = await open(path, 'r');
    await using staged = await StagedFile.of(at, chunksOf(handle), await copied(handle));
    await staged.commit({ replaces });
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

async function moveInto(leaving: Leaving, arriving: Arriving, options: MoveOptions): Promise<void> {
  const { from, source } = leaving;
  const { to, target } = arriving;
  // The old name counts as no twin of the new one when both lie in one folder.
  const besides = (await source.isSame(target)) ? lastName(from) : '';
  await mustBeFree(target, lastName(to), besides);
  if (!exchangeNames(leaving, arriving, options)) await copyAcross(leaving, to, options);
}

/** False when the new place lies on another disk; then all is as before. */
function exchangeNames({ from, source }: Leaving, { to, target }: Arriving, options: MoveOptions): boolean {
  const { asides, expected } = options;
  const taking = { folder: source, name: lastName(from), id: asides.next(from) };
  const taken = takeAside(taking);
  try {
    if (!taken.isFile() || (expected && !isSame(taken, expected))) throw changedMeanwhile(from.path);
    nameOrRename(source.at(asideName(taking.id)), target.at(lastName(to)));
    asides.keptAt(from, to.absolute);
    return true;
  } catch (error) {
    bringBack(taking);
    if (diskCode(error) !== 'EXDEV') throw error;
    return false;
  }
}

async function copyAcross({ from, source }: Leaving, to: MirrorPath, { asides }: MoveOptions): Promise<void> {
  await using handle = await openForReading(from);
  await using staged = await StagedFile.of(to, chunksOf(handle), await copied(handle));
  const { seen } = staged.content;
  const read = await readContent(from);
  if (read.sha256 !== seen.sha256) throw changedMeanwhile(from.path);
  await staged.commit();
  try {
    const written = await readContent(await locate(to.mirrorRoot, to.path));
    if (written.sha256 !== seen.sha256)
      throw new ServiceError('SERVICE_UNAVAILABLE', `The copy of ${from.path} differs from what was read; try again.`);
    await takeCopied({ folder: source, name: lastName(from), id: asides.next(from) }, from, read);
  } catch (error) {
    const copy = await locate(to.mirrorRoot, to.path);
    await removeFile(copy, seen, asides);
    asides.discard(copy);
    throw error;
  }
}

/** Takes aside what was copied, after another look at its content: a save may come as late as that. */
async function takeCopied(taking: Taking, from: MirrorPath, read: SeenContent): Promise<void> {
  const taken = takeAside(taking);
  const aside = { ...from, names: [...from.names.slice(0, -1), asideName(taking.id)] };
  if (isSame(taken, read) && (await readContent(aside)).sha256 === read.sha256) return;
  bringBack(taking);
  throw changedMeanwhile(from.path);
}

async function copyFrom(path: string, at: MirrorPath): Promise<void> {
  await using handle = await open(path, 'r');
  await using staged = await StagedFile.of(at, chunksOf(handle), await copied(handle));
  await staged.commit();
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
