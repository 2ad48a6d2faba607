import { ServiceError } from '@workspace-graph/contracts';
import { translateDatabaseError } from '../database-error.js';

/**
 * - `FILE_EXISTS`, `FILE_UNUSABLE`: the file named is there already, or cannot be written or read.
 * - `DISK_FULL`: no room for the file; what was written of it is removed.
 * - `NOT_A_BACKUP`, `DAMAGED`: the file is something else, or incomplete, or changed since it was written.
 * - `NEWER_BACKUP`: a newer version of the product made it.
 * - `NOT_MIGRATED`: the database to back up holds nothing of this product.
 * - `NOT_EMPTY`: the database to restore into holds data.
 * - `DATABASE_LOST`: the database could not be reached, or ended in the middle of the work.
 * - `RESTORE_FAILED`: the database refused the data; nothing of it stays.
 */
export type BackupErrorCode =
  | 'FILE_EXISTS'
  | 'FILE_UNUSABLE'
  | 'DISK_FULL'
  | 'NOT_A_BACKUP'
  | 'DAMAGED'
  | 'NEWER_BACKUP'
  | 'NOT_MIGRATED'
  | 'NOT_EMPTY'
  | 'DATABASE_LOST'
  | 'RESTORE_FAILED';

interface BackupErrorOptions extends ErrorOptions {
  readonly advice?: string;
}

/** A backup was not made or not restored: `message` says why, `advice` what to do. */
export class BackupError extends Error {
  readonly advice: string;

  constructor(
    readonly code: BackupErrorCode,
    message: string,
    options: BackupErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'BackupError';
    this.advice = options.advice ?? '';
  }
}

const databaseDiskFull = '53100';

/** The chain of causes, the error itself first. */
function* causesOf(error: unknown): Generator<Error & { readonly code?: unknown }> {
  for (let at = error; at instanceof Error; at = at.cause) yield at;
}

function isLoss(error: Error): boolean {
  const told = translateDatabaseError(error);
  return told instanceof ServiceError && told.retryable;
}

/**
 * Turns a connection that was not made or broke, and a database without room, into a BackupError that says what came of
 * the work; anything else stays as it is.
 */
export function lossOf(error: unknown, outcome: string): unknown {
  if (error instanceof BackupError) return error;
  const causes = [...causesOf(error)];
  if (causes.some(({ code }) => code === databaseDiskFull))
    return new BackupError('DISK_FULL', `The disk of the database is full. ${outcome}`, {
      advice: 'Free some space, then run the command again.',
      cause: error,
    });
  const loss = causes.find(isLoss);
  if (loss === undefined) return error;
  return new BackupError('DATABASE_LOST', `The database cannot be used right now (${loss.message}). ${outcome}`, {
    advice: 'It may be restarting: wait a moment, then run the command again. `svc doctor` shows details.',
    cause: error,
  });
}

/** Turns what the file system says into a BackupError; anything else stays as it is. */
export function fileError(file: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new BackupError('DISK_FULL', `There is no room for ${file}.`, {
      advice: 'Free some space, or choose another disk.',
      cause: error,
    });
  const unusable = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENAMETOOLONG'];
  if (code === undefined || !unusable.includes(code)) return error;
  if (code === 'EROFS')
    return new BackupError('FILE_UNUSABLE', `The file ${file} cannot be written: its disk is read-only.`, {
      advice: 'Make the disk writable, or choose another file.',
      cause: error,
    });
  return new BackupError('FILE_UNUSABLE', `The file ${file} cannot be used (${code}).`, {
    advice: 'Check the path and its permissions, or choose another file.',
    cause: error,
  });
}
