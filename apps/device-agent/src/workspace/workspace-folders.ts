import { access, chmod, chown, constants, mkdir, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { databaseUser } from '@workspace-graph/database/embedded';
import { CliError } from '../cli/cli-error.js';
import type { WorkspacePaths } from './workspace-paths.js';

type Own = Pick<WorkspacePaths, 'own'>;

const [MODE_BITS, OWN, PASSED_BY_GROUP] = [0o777, 0o700, 0o710];
/** A database that cannot grow by this much is not started: it would fail in the middle of somebody's work. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/** Makes the folders of the workspace, with room to work in. @throws CliError that tells what is wrong with the folder */
export async function ensureFolders(paths: WorkspacePaths): Promise<void> {
  await makeFolders(paths);
  const free = await freeBytes(paths.own);
  if (free < MIN_FREE_BYTES) throw diskFull(paths, free);
}

/** Makes the folders of the workspace. @throws CliError that tells what is wrong with the folder */
export async function makeFolders(paths: WorkspacePaths): Promise<void> {
  try {
    const first = await mkdir(paths.own, { recursive: true, mode: OWN });
    await mkdir(paths.backups, { recursive: true, mode: OWN });
    for (let made = dirname(paths.own); first && made.length >= first.length; made = dirname(made))
      await closeToOthers(made);
    await closeToOthers(paths.own);
    await access(paths.own, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw folderError(paths, cause as NodeJS.ErrnoException);
  }
}

/**
 * One that was unpacked or copied here may be open to others, and it holds credentials. Root's is passed through by the
 * user that runs the database, so that the data lie in the workspace where the way to it is open.
 */
async function closeToOthers(folder: string): Promise<void> {
  const server = databaseUser();
  const { mode, uid, gid } = await stat(folder);
  if (server && gid !== server.gid) await chown(folder, uid, server.gid);
  const wanted = server ? PASSED_BY_GROUP : OWN;
  if ((mode & MODE_BITS) !== wanted) await chmod(folder, wanted);
}

/** Whether the folders of the workspace could be used or made; makes nothing. @throws CliError that tells what is wrong */
export async function checkUsable(paths: WorkspacePaths): Promise<void> {
  try {
    const folder = await nearestFolder(paths.own);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const free = await freeBytes(folder);
    if (free < MIN_FREE_BYTES) throw diskFull(paths, free);
  } catch (cause) {
    throw cause instanceof CliError ? cause : folderError(paths, cause as NodeJS.ErrnoException);
  }
}

/** The folder itself, or the one above it in which it would be made. */
export async function nearestFolder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return nearestFolder(dirname(path));
  }
  throw Object.assign(new Error(`${path} is a file`), { code: 'ENOTDIR' });
}

/** Whether an error of the file system says that this user may not do it. */
export function isNoRight(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}

/** Whether an error of the file system says that nobody may write there. */
export function isReadOnly(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'EROFS';
}

/** Whether an error of the file system says that there is no room, or none for this user. */
export function isFull(error: unknown): boolean {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** Bytes that this user can still write below a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you have no permission to read and write there',
  EPERM: 'you have no permission to read and write there',
  EROFS: 'it is read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a part of its path is a file',
};

/** What the file system says of the folder of a workspace, as an error with a way out. */
export function folderError(paths: Own, cause: NodeJS.ErrnoException): CliError {
  if (isFull(cause)) return diskFull(paths, 0);
  const what = REASONS[cause.code ?? ''] ?? cause.message;
  const where = cause.path === undefined || cause.path === paths.own ? '' : ` (${cause.path})`;
  return new CliError('FOLDER_UNUSABLE', `The folder ${paths.own} cannot be used: ${what}${where}.`, {
    cause,
    hint: isReadOnly(cause)
      ? 'Make its disk writable, or choose another folder with --root or SVC_WORKSPACE_ROOT.'
      : 'Run the command as its owner, give yourself permission, or choose another folder with --root or SVC_WORKSPACE_ROOT.',
  });
}

function diskFull(paths: Own, free: number): CliError {
  return new CliError(
    'DISK_FULL',
    `The disk of ${paths.own} is full: ${Math.round(free / 1024 / 1024)} MB are free, ${MIN_FREE_BYTES / 1024 / 1024} MB are needed.`,
    {
      hint: 'Free some space, or choose a folder on another disk with --root or SVC_WORKSPACE_ROOT.',
    },
  );
}
