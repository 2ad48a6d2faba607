import { ServiceError } from '@workspace-graph/contracts';
import { assertNever } from '@workspace-graph/domain';

/** What a remote may answer instead of doing what it was asked. */
export type RemoteFailureReason =
  /** Nothing lies under the path, or a folder where a file is meant. */
  | 'not_found'
  /** What lies there is not what the caller expected. */
  | 'changed'
  /** Something lies there, be it under a name that differs only by case or normal form. */
  | 'exists'
  /** The credentials do not allow it. */
  | 'forbidden'
  /** Not reached, too busy, broken off: the same call may work later. */
  | 'unavailable'
  /** No room, or not for this account. */
  | 'full'
  /** The backend takes no content of this size, however much room it has. */
  | 'too_large'
  /** The backend cannot hold this name. */
  | 'name_refused'
  /** The range begins behind the end of the content. */
  | 'range';

export interface RemoteFailureFacts {
  /** Within the remote; never a path or address of the server behind it. */
  readonly path: string;
  /** Whole seconds that the backend asks to wait, where it tells. */
  readonly retryAfterSeconds?: number;
  /** What lies at the path, for `changed` and `exists`, where that is known: null for nothing. */
  readonly current?: { readonly revision: string; readonly sizeBytes: number } | null;
  /** For `forbidden` by a folder, which knows no credentials: why. */
  readonly folder?: 'no_permission' | 'read_only';
  /** Size of the content, for `range`. */
  readonly sizeBytes?: number;
}

/** The one error of every backend. What is thrown else is a fault of ours, or the reason of an abort. */
export class RemoteFailure extends Error {
  constructor(
    readonly reason: RemoteFailureReason,
    readonly facts: RemoteFailureFacts,
    options?: ErrorOptions,
  ) {
    super(`${facts.path}: ${reason}`, options);
    this.name = 'RemoteFailure';
  }
}

/** A failure as what callers of operations get, whose name for the remote is `remote`. */
export function serviceErrorOf(failure: RemoteFailure, remote: string): ServiceError {
  const { path } = failure.facts;
  const where = `${path} on the remote ${remote}`;
  const answer = (code: ServiceError['code'], message: string, more: object = {}): ServiceError =>
    new ServiceError(code, message, { remote_name: remote, remote_path: path, ...more }, { cause: failure });
  switch (failure.reason) {
    case 'not_found':
      return answer('FILE_NOT_FOUND', `There is no file ${where}.`);
    case 'changed':
      return answer('CONFLICT', `The file ${where} has been changed.`, currentOf(failure));
    case 'exists':
      return answer('DESTINATION_EXISTS', `There is something at ${where} already.`, currentOf(failure));
    case 'forbidden':
      return answer('REMOTE_REFUSED', forbiddenBy(failure, remote), { reason: failure.reason });
    case 'name_refused':
      return answer('REMOTE_REFUSED', `The remote ${remote} cannot hold the name ${path}.`, { reason: failure.reason });
    case 'unavailable':
      return answer('REMOTE_UNAVAILABLE', `The remote ${remote} cannot be reached at the moment.`, {
        retry_after_seconds: failure.facts.retryAfterSeconds ?? null,
      });
    case 'full':
      return answer('STORAGE_FULL', `The remote ${remote} has no room for ${path}.`);
    case 'too_large':
      return answer(
        'REMOTE_REFUSED',
        `The remote ${remote} takes no content as large as ${path}. Whoever runs its server may raise the limit.`,
        { reason: failure.reason },
      );
    case 'range':
      return answer('RANGE_NOT_SATISFIABLE', `The range begins behind the end of ${where}.`, {
        size_bytes: failure.facts.sizeBytes ?? null,
      });
    default:
      return assertNever(failure.reason);
  }
}

function forbiddenBy({ facts: { path, folder } }: RemoteFailure, remote: string): string {
  const about = path === '' ? '' : ` This was about ${path}.`;
  switch (folder) {
    case undefined:
      return `The credentials do not allow this for ${path} on the remote ${remote}.`;
    case 'read_only':
      return `The folder of the remote ${remote} cannot be written: its disk is read-only.${about}`;
    case 'no_permission':
      return `The folder of the remote ${remote} cannot be read or written: its server gives this service no permission there.${about}`;
    default:
      return assertNever(folder);
  }
}

function currentOf({ facts: { current } }: RemoteFailure): object {
  if (current === undefined) return {};
  return { current: current && { revision: current.revision, size_bytes: current.sizeBytes } };
}
