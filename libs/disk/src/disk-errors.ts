import { ServiceError, validationFailed } from '@workspace-graph/contracts';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const TOO_LONG = new Set(['ENAMETOOLONG', 'EILSEQ', 'EINVAL']);
const NOT_NOW = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EIO', 'EMFILE', 'ENFILE', 'ETXTBSY', 'ESTALE']);

/** Code of an error of the file system; null for anything else. */
export function diskCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || error instanceof ServiceError || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** Whether a disk has no room, or not for this person. */
export function isFull(error: unknown): boolean {
  return FULL.has(diskCode(error) ?? '');
}

/** Whether the file system says that there is nothing under a name. */
export function isAbsent(error: unknown): boolean {
  const code = diskCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** An error of the file system as what the caller can do about it. `path` is within the node; others pass through. */
export function diskError(error: unknown, path: string): unknown {
  const code = diskCode(error);
  if (code === null) return error;
  const details = { path };
  if (FULL.has(code))
    return new ServiceError('STORAGE_FULL', `The disk of this device has no room for ${path}.`, details, {
      cause: error,
    });
  if (TOO_LONG.has(code))
    return validationFailed([{ path: 'path', message: 'is a name that this disk does not allow' }]);
  if (code === 'ENOTDIR' || code === 'EISDIR' || code === 'EEXIST' || code === 'ENOTEMPTY')
    return occupied(path, error);
  if (code === 'ENOENT')
    return new ServiceError('CONFLICT', `${path} has been moved or removed.`, details, { cause: error });
  if (NOT_NOW.has(code))
    return new ServiceError('SERVICE_UNAVAILABLE', `This device denies access to ${path} (${code}).`, details, {
      cause: error,
    });
  return error;
}

/** The answer to a path under which something lies already. */
export function occupied(path: string, cause?: unknown): ServiceError {
  return new ServiceError('DESTINATION_EXISTS', `The path ${path} already exists.`, { path }, { cause });
}

/** Runs `work`; errors of the file system are told about `path`. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskError(error, path);
  }
}

/** The answer to a path under which no file lies. */
export function fileNotFound(details: Readonly<Record<string, unknown>>): ServiceError {
  const which = details['file_id'] ?? details['path'];
  return new ServiceError('FILE_NOT_FOUND', `There is no file ${String(which)} that you may see.`, details);
}
