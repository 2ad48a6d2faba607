import { abortable } from '@workspace-graph/platform';
import {
  type CallOptions,
  type KeptUpload,
  keptUpload,
  passingParts,
  RemoteFailure,
  type RemoteFile,
  type ResumableUploads,
  uploadNamed,
  type WriteOptions,
} from '../port/index.js';
import type { DropboxApi } from './dropbox-api.js';
import { DropboxError } from './dropbox-failure.js';
import { schemas } from './dropbox-metadata.js';

export const PART_BYTES = 4 * 1_048_576;
/** Behind the end of every upload, so that Dropbox tells where it is. */
const NOWHERE = 2 ** 50;

/** How a content gets its name: what the remote looks at before, and what it makes of the answer. */
export type Commit = (
  path: string,
  options: WriteOptions,
  send: (commit: object) => Promise<unknown>,
) => Promise<RemoteFile>;

/** Upload sessions, which Dropbox keeps for seven days and shows nobody. */
export class UploadSessions implements ResumableUploads {
  readonly partBytes = PART_BYTES;

  constructor(
    private readonly api: DropboxApi,
    private readonly commit: Commit,
    private readonly checked: (path: string) => string,
  ) {}

  async begin(path: string, options: CallOptions = {}): Promise<string> {
    const at = this.checked(path);
    const call = { path: at, signal: options.signal };
    const answer = await this.api.upload('files/upload_session/start', { close: false }, new Uint8Array(), call);
    return keptUpload({ id: schemas.session.parse(answer).session_id, path: at });
  }

  async received(upload: string, options: CallOptions = {}): Promise<number> {
    const at = uploadNamed(upload);
    const error = await this.send(at, { offset: NOWHERE, close: false }, new Uint8Array(), options).then(
      () => new Error('Dropbox took bytes behind the end of an upload'),
      (reason: unknown) => reason,
    );
    if (!(error instanceof DropboxError)) throw error;
    if (error.correctOffset !== null) return error.correctOffset;
    throw error.has('closed') ? new RemoteFailure('not_found', { path: at.path }, { cause: error }) : error;
  }

  async append(
    upload: string,
    offset: number,
    bytes: AsyncIterable<Uint8Array>,
    options: CallOptions = {},
  ): Promise<number> {
    const at = uploadNamed(upload);
    let done = offset;
    for await (const part of passingParts(abortable(bytes, options.signal), PART_BYTES)) {
      await this.send(at, { offset: done, close: false }, part, options).catch((error: unknown) => {
        throw isOtherOffset(error) ? new RemoteFailure('changed', { path: at.path }, { cause: error }) : error;
      });
      done += part.byteLength;
    }
    return done;
  }

  async finish(upload: string, options: WriteOptions): Promise<RemoteFile> {
    const { id, path } = uploadNamed(upload);
    const offset = await this.received(upload, options);
    const cursor = { session_id: id, offset };
    return this.commit(path, options, (commit) =>
      this.api.upload('files/upload_session/finish', { cursor, commit }, new Uint8Array(), {
        path,
        signal: options.signal,
      }),
    );
  }

  /** Dropbox deletes no session before its time: one that is closed takes no more bytes. */
  async abandon(upload: string, options: CallOptions = {}): Promise<void> {
    try {
      const offset = await this.received(upload, options);
      await this.send(uploadNamed(upload), { offset, close: true }, new Uint8Array(), options);
    } catch (error) {
      if (!(error instanceof RemoteFailure) || error.reason !== 'not_found') throw error;
    }
  }

  private send(
    { id, path }: KeptUpload,
    { offset, close }: { readonly offset: number; readonly close: boolean },
    part: Uint8Array,
    { signal }: CallOptions,
  ): Promise<unknown> {
    const cursor = { session_id: id, offset };
    return this.api.upload('files/upload_session/append_v2', { cursor, close }, part, { path, signal });
  }
}

function isOtherOffset(error: unknown): boolean {
  return error instanceof DropboxError && error.correctOffset !== null;
}
