import { lstatSync, type Stats } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ServiceError, validationFailed } from '@workspace-graph/contracts';
import { pathKey, segmentProblem } from '@workspace-graph/domain';
import { isAbsent, onDisk } from './disk-errors.js';

/** Most names are ASCII, and those need no normalising. */
const ASCII = /^[\x20-\x7e]*$/;

/** Those ASCII characters that are also the normal form of another one: of the Kelvin sign, and of two Greek ones. */
const HAS_OTHER_FORM = /[K;`]/;

/** A path in a mirror that was checked: every folder on the way is a real folder of the mirror, no symbolic link. */
export interface MirrorPath {
  readonly mirrorRoot: string;
  /** Within the node, in NFC. */
  readonly path: string;
  /** As the names stand on the disk, in whatever normal form. */
  readonly absolute: string;
  /** Whether something lies there, be it a file, a folder or anything else. */
  readonly exists: boolean;
  /** The names on the way and the last one, as they stand on the disk. */
  readonly names: readonly string[];
  /** How many of the names are there. */
  readonly found: number;
}

/**
 * Finds a path of a node on disk. What is not there yet is answered with `exists: false`.
 * @throws ServiceError VALIDATION_FAILED for a path that no node can hold or that leads through a symbolic link;
 * NO_MIRROR when the folder of the mirror is gone
 */
export async function locate(mirrorRoot: string, path: string): Promise<MirrorPath> {
  const segments = path.normalize('NFC').split('/');
  segments.forEach(mustBeSegment);
  await checkRoot(mirrorRoot);
  let at: MirrorPath = { mirrorRoot, path: '', absolute: mirrorRoot, exists: true, names: [], found: 0 };
  for (const segment of segments) at = await below(at, segment, { told: path, look: lstat });
  return at;
}

/** What lies under a name in a folder that was just found, so that its disk answers. @throws ServiceError VALIDATION_FAILED as `locate` */
export async function joinedTo(folder: MirrorPath, segment: string): Promise<MirrorPath> {
  mustBeSegment(segment);
  // A turn of another thread takes ten times as long as the look itself.
  return below(folder, segment, { told: `${folder.path}/${segment}`, look: lookNow });
}

function mustBeSegment(segment: string): void {
  const problem = segmentProblem(segment);
  if (problem !== null) throw validationFailed([{ path: 'path', message: problem }]);
}

/** What lies under a path itself. Undefined, or an error of the file system, where nothing does. */
type Look = (path: string) => Promise<Stats> | Stats | undefined;

/** `told`: the whole path, for errors of the file system. */
async function below(
  folder: MirrorPath,
  segment: string,
  { told, look }: { readonly told: string; readonly look: Look },
): Promise<MirrorPath> {
  const { mirrorRoot, absolute, exists, names, found } = folder;
  const name = exists ? await onDisk(told, () => nameOnDisk(absolute, segment, look)) : null;
  return {
    mirrorRoot,
    path: folder.path === '' ? segment : `${folder.path}/${segment}`,
    absolute: join(absolute, name ?? segment),
    exists: name !== null,
    names: [...names, name ?? segment],
    found: name === null ? found : found + 1,
  };
}

/** The answer to a path that leads through a symbolic link. */
export function throughLink(path: string): ServiceError {
  return validationFailed([
    { path: 'path', message: `leads through the symbolic link ${path}; symbolic links are not followed` },
  ]);
}

/** The answer when the folder of a mirror is not there. */
export function folderGone(): ServiceError {
  return new ServiceError('NO_MIRROR', 'The folder of this node is not on this device at the moment.');
}

/** A name that is the same one on a disk that ignores case or the form of characters; null when there is none. */
export function twinIn(names: readonly string[], name: string): string | null {
  const key = pathKey(name);
  return names.find((other) => other !== name && twinKeyOf(other) === key) ?? null;
}

/** What two names have in common that a disk may take for one: `pathKey`, for a name of whichever characters. */
export function twinKeyOf(name: string): string {
  return ASCII.test(name) ? name.toLowerCase() : pathKey(name);
}

/** The name that takes the place of a path: it itself, or a twin of it; null when the place is free. */
export async function occupantOf({ absolute, exists, names, found }: MirrorPath): Promise<string | null> {
  const name = names.at(-1) ?? '';
  if (exists) return name;
  // Without its folder the place is free.
  return found < names.length - 1 ? null : twinIn(await namesIn(dirname(absolute)), name);
}

async function checkRoot(mirrorRoot: string): Promise<void> {
  const root = await stat(mirrorRoot).catch((error: unknown) => {
    if (isAbsent(error)) return null;
    throw error;
  });
  if (!root?.isDirectory()) throw folderGone();
}

/** How a segment is written on disk: as it is, or in another normal form; null when it is not there. */
async function nameOnDisk(folder: string, segment: string, look: Look): Promise<string | null> {
  if (await isThere(folder, segment, look)) return segment;
  // Reading a large folder for each new file would take ever longer.
  if (ASCII.test(segment) && !HAS_OTHER_FORM.test(segment)) return null;
  for (const name of await namesIn(folder))
    if (name.normalize('NFC') === segment && (await isThere(folder, name, look))) return name;
  return null;
}

function lookNow(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

async function isThere(folder: string, name: string, look: Look): Promise<boolean> {
  try {
    const found = await look(join(folder, name));
    if (found?.isSymbolicLink()) throw throughLink(name);
    return found !== undefined;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
