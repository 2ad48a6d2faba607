import { RemoteFailure } from '../port/index.js';

/** Status codes of version 3 of the protocol. */
export const STATUS = { eof: 1, noSuchFile: 2, permissionDenied: 3 } as const;

/** The status that the server answered; undefined for anything else, such as a broken connection. */
export function statusOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'number' ? code : undefined;
}

/** What failed about `path`, as a failure of the port; reasons of aborts and faults of streams pass. */
export function failureOf(error: unknown, path: string): RemoteFailure {
  if (error instanceof RemoteFailure) return error;
  const status = statusOf(error);
  if (status === STATUS.noSuchFile) return new RemoteFailure('not_found', { path }, { cause: error });
  const reason = status === STATUS.permissionDenied ? 'forbidden' : 'unavailable';
  return new RemoteFailure(reason, { path }, { cause: error });
}
