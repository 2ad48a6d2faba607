import { isTemporaryName } from '@workspace-graph/disk';
import { RemoteFailure } from './failure.js';

/** What is kept of an upload: its name in the words of the backend, and the path that it is for. */
export interface KeptUpload {
  readonly id: string;
  readonly path: string;
}

export function keptUpload({ id, path }: KeptUpload): string {
  return JSON.stringify({ id, path });
}

/** @throws RemoteFailure `not_found` for a text that names no upload */
export function uploadNamed(text: string): KeptUpload {
  try {
    const { id, path } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof id === 'string' && typeof path === 'string') return { id, path };
  } catch (error) {
    throw new RemoteFailure('not_found', { path: '' }, { cause: error });
  }
  throw new RemoteFailure('not_found', { path: '' });
}

/** The same of an upload that grows in a file under a temporary name. @throws RemoteFailure `not_found` also for any other name */
export function growingFile(text: string): KeptUpload {
  const upload = uploadNamed(text);
  if (isTemporaryName(upload.id)) return upload;
  throw new RemoteFailure('not_found', { path: upload.path });
}
