import { ServiceError } from '@workspace-graph/contracts';
import { RemoteFailure } from '@workspace-graph/remotes';

const ATTEMPTS = 3;

/**
 * Reads what lies on a remote now: what is replaced meanwhile is looked at again. `read` answers null for a content that is none.
 * @throws ServiceError SERVICE_UNAVAILABLE for one that is replaced again and again; what `read` throws
 */
export async function settled<T>(path: string, read: () => Promise<T | null>): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const found = await read().catch((error: unknown) => {
      if (isReplaced(error)) return null;
      throw error;
    });
    if (found !== null) return found;
  }
  throw beingWritten(path);
}

/** Whether a content is another one than was expected. */
export function isReplaced(error: unknown): boolean {
  return error instanceof RemoteFailure && error.reason === 'changed';
}

export function beingWritten(path: string): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', `${path} is being written right now: try again in a moment.`, {
    path,
  });
}
