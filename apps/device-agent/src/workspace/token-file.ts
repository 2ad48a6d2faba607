import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ServiceError } from '@workspace-graph/contracts';
import { EmbeddedDatabaseError, keepOwner, type Ownership, takeOwnership } from '@workspace-graph/database/embedded';
import { replaceText } from '@workspace-graph/platform/disk';
import { CliError } from '../cli/cli-error.js';
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

/** Stores another credential in place of the old one, for the same user alone. */
export async function storeToken({ own, token }: Pick<WorkspacePaths, 'own' | 'token'>, secret: string): Promise<void> {
  await replaceText(token, `${secret}\n`);
  keepOwner(own, token);
}

/**
 * Held by whoever replaces the credential: of two at once the second would store what the first has ended.
 * @throws CliError ROTATION_UNDER_WAY
 */
export function lockRotation({ own, rotation }: Pick<WorkspacePaths, 'own' | 'rotation'>): Ownership {
  try {
    mkdirSync(rotation, { recursive: true, mode: 0o700 });
    keepOwner(own, rotation);
    return takeOwnership(rotation);
  } catch (error) {
    if (!(error instanceof EmbeddedDatabaseError && error.code === 'IN_USE')) throw error;
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

/** Replaces the credential of a workspace that runs, one caller at a time. @throws ServiceError CONFLICT; what the work throws */
export async function whileRotating<T>(
  paths: Pick<WorkspacePaths, 'own' | 'rotation'>,
  work: () => Promise<T>,
): Promise<T> {
  const lock = lockForCaller(paths);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function lockForCaller(paths: Pick<WorkspacePaths, 'own' | 'rotation'>): Ownership {
  try {
    return lockRotation(paths);
  } catch (cause) {
    if (!(cause instanceof CliError)) throw cause;
    throw new ServiceError('CONFLICT', cause.message, undefined, { cause });
  }
}
