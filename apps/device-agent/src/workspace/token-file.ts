import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ServiceError } from '@workspace-graph/contracts';
import { EmbeddedDatabaseError, keepOwner, type Ownership, takeOwnership } from '@workspace-graph/database/embedded';
import { replaceText } from '@workspace-graph/platform/disk';
import { CliError } from '../cli/cli-error.js';
import { isFull } from './workspace-folders.js';
import type { WorkspacePaths } from './workspace-paths.js';

/** The credential that is kept for the user of a workspace; null where there is none. */
export async function readTokenFile({ token }: Pick<WorkspacePaths, 'token'>): Promise<string | null> {
  try {
    return (await readFile(token, 'utf8')).trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Stores another credential in place of the old one, for the same user alone.
 * @throws CliError DISK_FULL; the old one is as it was
 */
export async function storeToken({ own, token }: Pick<WorkspacePaths, 'own' | 'token'>, secret: string): Promise<void> {
  await replaceText(token, `${secret}\n`).catch((cause: unknown) => {
    throw isFull(cause) ? noRoom(own, cause) : cause;
  });
  keepOwner(own, token);
}

/**
 * Held by whoever replaces the credential: of two at once the second would store what the first has ended.
 * @throws CliError ROTATION_UNDER_WAY, DISK_FULL, FOLDER_UNUSABLE
 */
export function lockRotation({ own, rotation }: Pick<WorkspacePaths, 'own' | 'rotation'>): Ownership {
  try {
    mkdirSync(rotation, { recursive: true, mode: 0o700 });
    keepOwner(own, rotation);
    return takeOwnership(rotation);
  } catch (error) {
    if (isFull(error)) throw noRoom(own, error);
    if (!(error instanceof EmbeddedDatabaseError)) throw error;
    if (error.code === 'DISK_FULL') throw noRoom(own, error);
    if (error.code !== 'IN_USE') throw new CliError(error.code, error.message, { cause: error, hint: error.advice });
    throw new CliError('ROTATION_UNDER_WAY', 'The credential of this workspace is being replaced already.', {
      cause: error,
      hint: 'Wait until that has ended; nothing was changed.',
    });
  }
}

/** The credential of a workspace that runs. @throws ServiceError CONFLICT where its file is lost */
export async function keptSecret(paths: Pick<WorkspacePaths, 'token'>): Promise<string> {
  const secret = await readTokenFile(paths);
  if (secret === null)
    throw new ServiceError('CONFLICT', 'This workspace has lost the file of its token; a restart makes a new one.');
  return secret;
}

/** Replaces the credential of a workspace that runs, one caller at a time. @throws ServiceError CONFLICT, STORAGE_FULL; what the work throws */
export async function whileRotating<T>(
  paths: Pick<WorkspacePaths, 'own' | 'rotation'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const lock = lockRotation(paths);
    try {
      return await work();
    } finally {
      lock.release();
    }
  } catch (cause) {
    if (!(cause instanceof CliError)) throw cause;
    const code = cause.code === 'DISK_FULL' ? 'STORAGE_FULL' : 'CONFLICT';
    throw new ServiceError(code, cause.message, undefined, { cause });
  }
}

function noRoom(folder: string, cause: unknown): CliError {
  return new CliError('DISK_FULL', `The disk of ${folder} has no room for a new credential; the one before goes on.`, {
    cause,
    hint: 'Free some space, then do it again.',
  });
}
