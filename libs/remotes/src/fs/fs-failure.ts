import { ServiceError } from '@workspace-graph/contracts';
import { diskCode, diskError } from '@workspace-graph/disk';
import { RemoteFailure, type RemoteFailureReason } from '../port/index.js';

const REASONS: Partial<Record<string, RemoteFailureReason>> = {
  FILE_NOT_FOUND: 'not_found',
  CONFLICT: 'changed',
  DESTINATION_EXISTS: 'exists',
  STORAGE_FULL: 'full',
  VALIDATION_FAILED: 'name_refused',
  // The root itself: a disk that is not mounted, a share that is not there.
  NO_MIRROR: 'unavailable',
  SERVICE_UNAVAILABLE: 'unavailable',
};
const FORBIDDEN: Partial<Record<string, 'no_permission' | 'read_only'>> = {
  EACCES: 'no_permission',
  EPERM: 'no_permission',
  EROFS: 'read_only',
};

/** Runs `work`; what the disk says becomes a failure about `path`. */
export async function onRemote<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failureOf(error, path);
  }
}

function failureOf(error: unknown, path: string): unknown {
  const told = diskError(error, path);
  if (!(told instanceof ServiceError)) return told;
  const folder = FORBIDDEN[diskCode(told.cause) ?? ''];
  if (folder) return new RemoteFailure('forbidden', { path, folder }, { cause: told });
  const reason = REASONS[told.code];
  return reason ? new RemoteFailure(reason, { path }, { cause: told }) : told;
}
