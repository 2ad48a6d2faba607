import { lstat, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';
import { type NodePlace, ServiceError, validationFailed } from '@workspace-graph/contracts';
import { isOfUnseenOrganization, nodeFolder, SHARED_FOLDER } from '@workspace-graph/domain';
import { folderKey } from './mirrors.js';
import { type SystemFolders, systemFolders } from './system-folders.js';

/** Why a folder cannot be a mirror. */
export type RefusalReason =
  | 'reserved'
  | 'not_a_folder'
  | 'section_blocked'
  | 'unusable'
  | 'other_mirror'
  | 'inside_itself'
  | 'holds_mirrors';

export function pathRefused(
  reason: RefusalReason,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): ServiceError {
  return new ServiceError('MIRROR_PATH_REFUSED', message, { reason, ...details });
}

/**
 * The real path of a folder that exists or is to be made: symlinks on the way are followed, what does not exist yet is
 * kept as it is written.
 * @throws ServiceError MIRROR_PATH_REFUSED when a part of the way is no folder
 */
export async function realFolder(path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = await realOrNull(at);
    if (real !== null) return join(real, ...missing);
    if (dirname(at) === at) return path;
    missing.unshift(basename(at));
  }
}

/** Checks the form of a path that somebody chose. @throws ServiceError VALIDATION_FAILED */
export function chosenPath(field: string, text: string): string {
  if (!isAbsolute(text)) throw validationFailed([{ path: field, message: 'must be an absolute path' }]);
  if (/\p{Cc}/u.test(text)) throw validationFailed([{ path: field, message: 'must not contain control characters' }]);
  // Nobody sees from such a path where it leads, least of all behind a link.
  if (text.split(sep === '/' ? '/' : /[\\/]/).some((name) => name === '.' || name === '..'))
    throw validationFailed([{ path: field, message: 'must not contain the segments . or ..' }]);
  return resolve(text);
}

/** @throws ServiceError MIRROR_PATH_REFUSED for folders that belong to the system, the user or the product */
export async function refuseReserved(path: string, root: string): Promise<void> {
  const key = keyParts(path);
  if (key.includes('.svc'))
    throw pathRefused('reserved', 'A folder named .svc belongs to the workspace itself. Choose another folder.');
  const own = [parse(path).root, root, homedir()];
  for (const folder of own)
    if (holds(path, await realFolder(folder)))
      throw pathRefused(
        'reserved',
        'The root of the disk, the home folder, the folder of the workspace and their parent folders cannot be the folder of a node. Choose a separate folder.',
      );
  // Where the workspace itself is was decided by whoever set it up.
  if (!holds(await realFolder(root), path) && isOfSystem(path, systemFolders()))
    throw pathRefused(
      'reserved',
      'This folder belongs to the operating system, or contains one that does. Choose an ordinary working folder.',
    );
}

/** Whether a folder is, holds or lies in one of the system's. */
export function isOfSystem(path: string, { closed, open }: SystemFolders): boolean {
  const isBelowOpen = open.some((folder) => holds(folder, path) && !holds(path, folder));
  return closed.some((folder) => holds(path, folder) || (holds(folder, path) && !isBelowOpen));
}

/** Whether `outer` is `inner` or an ancestor of it, on a file system that may ignore case and form. */
export function holds(outer: string, inner: string): boolean {
  const [a, b] = [keyParts(outer), keyParts(inner)];
  return a.length <= b.length && a.every((part, index) => part === b[index]);
}

/** Whether two folders are one, or one lies in the other. */
export function overlap(one: string, other: string): boolean {
  return holds(one, other) || holds(other, one);
}

/** A node's folder and where it lies or is to lie. */
export interface PlacedFolder {
  readonly place: NodePlace;
  readonly path: string;
}

/** An organization's default folder may hold the default folders of its nodes; nothing else nests. */
export function mayNest(one: PlacedFolder, other: PlacedFolder, root: string): boolean {
  const [organization, node] = one.place.type === 'organization' ? [one, other] : [other, one];
  return organization.place.type === 'organization' && isDefault(organization, root) && isDefault(node, root);
}

export function defaultFolder(place: NodePlace, root: string): string {
  const within = nodeFolder(place).split('/');
  return isOfUnseenOrganization(place) ? join(root, SHARED_FOLDER, ...within) : join(root, ...within);
}

/** Why the disk does not take a folder, as an answer to whoever chose it. */
export function folderError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ServiceError('STORAGE_FULL', 'The disk of this folder is full.', undefined, { cause: error });
  const what = code === undefined ? undefined : UNUSABLE[code];
  if (what === undefined) return error;
  return pathRefused(what[0], what[1], { system_code: code });
}

const UNUSABLE: Readonly<Record<string, readonly [RefusalReason, string]>> = {
  EACCES: ['unusable', 'This user has no permission to write in the folder.'],
  EPERM: ['unusable', 'This user has no permission to write in the folder.'],
  EROFS: ['unusable', 'The folder is on a read-only disk.'],
  ENOTDIR: ['not_a_folder', 'A part of the path is a file.'],
  EEXIST: ['not_a_folder', 'A part of the path is a file.'],
  ENAMETOOLONG: ['unusable', 'The path is longer than this disk allows.'],
  EINVAL: ['unusable', 'The path has a name that this disk does not allow.'],
  EILSEQ: ['unusable', 'The path has a name that this disk does not allow.'],
  ELOOP: ['unusable', 'The path has links that form a loop.'],
  ENOENT: ['unusable', 'The path leads through a broken link.'],
  EIO: ['unusable', 'The disk of this folder failed.'],
  ENODEV: ['unusable', 'The disk of this folder is not available.'],
};

/** For whoever sees its organization, and for who does not. */
function isDefault({ place, path }: PlacedFolder, root: string): boolean {
  const unseen = { ...place, organization_sync_key: null };
  return [place, unseen].some((each) => folderKey(path) === folderKey(defaultFolder(each, root)));
}

function keyParts(path: string): string[] {
  return folderKey(path)
    .split(sep)
    .filter((part) => part !== '');
}

async function realOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw folderError(error);
    if (await isLink(path)) throw folderError(error);
    return null;
  }
}

/** A link to nowhere has no real path, and a folder cannot be made in its place. */
async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw folderError(error);
    },
  );
}
