/**
 * - `FILE_EXISTS`, `FILE_UNUSABLE`: the file named is there already, or cannot be written or read.
 * - `DISK_FULL`: no room for the file; what was written of it is removed.
 * - `NOT_A_BACKUP`, `DAMAGED`: the file is something else, or incomplete, or changed since it was written.
 * - `NEWER_BACKUP`: a newer version of the product made it.
 * - `NOT_MIGRATED`: the database to back up holds nothing of this product.
 * - `NOT_EMPTY`: the database to restore into holds data.
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
  return new BackupError('FILE_UNUSABLE', `The file ${file} cannot be used (${code}).`, {
    advice: 'Check the path and its rights, or choose another file.',
    cause: error,
  });
}
