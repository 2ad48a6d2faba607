import { type BigIntStats, closeSync, linkSync, lstatSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { diskCode } from './disk-errors.js';
import { HeldFolder, MAKE_FLAGS } from './held-folder.js';
import { locate, type MirrorPath } from './mirror-path.js';

/** What disks answer that know no hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES']);

/** Where one disk ends, or where it knows no hard links. */
export const OTHER_DISK = new Set(['EXDEV', ...NO_LINKS]);

const TAKEN = new Set(['EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR']);
const ASIDE = '.svc-aside-';

/**
 * Gives out names under which files are taken aside: what lies at a name is renamed first and looked at then, so that
 * nothing is removed or replaced that nobody has looked at. A name is noted before it is given out.
 */
export interface Asides {
  /** Id of a name for what lies at a path; the name is `asideName` of it, in the same folder. */
  next(at: MirrorPath): string;
  /** Tells where else the file lies that is taken from a path: there it stays, so that its other name may go. */
  keptAt(at: MirrorPath, absolute: string): void;
  /** Tells that what was taken from a path is of no use to anybody: the same call had put it there, and it is unchanged. */
  discard(at: MirrorPath): void;
}

/** A name that ignore rules skip, beside the one from which the file was taken. */
export function asideName(id: string): string {
  return `${ASIDE}${id}`;
}

/** A name of a folder, and the id of the name under which it is taken aside. */
export interface Taking {
  readonly folder: HeldFolder;
  readonly name: string;
  readonly id: string;
}

/**
 * Takes away whatever lies under a name and answers what it is. The next step may not wait for anything: until then there
 * is nothing under the name, and other programs see that. @throws ENOENT
 */
export function takeAside({ folder, name, id }: Taking): BigIntStats {
  renameSync(folder.at(name), folder.at(asideName(id)));
  return lstatSync(folder.at(asideName(id)), { bigint: true });
}

/** Gives what was taken aside its name back; false when something else has that name by now. */
export function bringBack({ folder, name, id }: Taking): boolean {
  const aside = folder.at(asideName(id));
  try {
    // A folder has no second name, and never takes the place of anything but an empty one.
    if (lstatSync(aside).isDirectory()) renameSync(aside, folder.at(name));
    else if (nameOrRename(aside, folder.at(name))) unlinkSync(aside);
    return true;
  } catch (error) {
    if (TAKEN.has(diskCode(error) ?? '')) return false;
    throw error;
  }
}

/** Gives what lies aside the name of a path in the same folder; false when something else has that name by now. */
export async function bringBackTo(aside: MirrorPath, path: string): Promise<boolean> {
  const at = await locate(aside.mirrorRoot, path);
  if (at.exists) return false;
  await using folder = await HeldFolder.of(aside);
  const id = (aside.names.at(-1) ?? '').slice(ASIDE.length);
  return bringBack({ folder, name: at.names.at(-1) ?? '', id });
}

/**
 * Gives a file a name under which nothing lies. Where there are no hard links the old name ends; answers whether it is
 * still there. @throws EEXIST, EXDEV
 */
export function nameOrRename(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (!NO_LINKS.has(diskCode(error) ?? '')) throw error;
  }
  // The name is taken first, so that nothing is overwritten.
  closeSync(openSync(to, MAKE_FLAGS));
  renameSync(from, to);
  return false;
}
