import { abortable } from '@workspace-graph/platform';
import { callOf } from '../http/network.js';
import {
  type CallOptions,
  keptUpload,
  passingParts,
  RemoteFailure,
  type RemoteFile,
  type ResumableUploads,
  unlessAborted,
  uploadNamed,
  type WriteOptions,
} from '../port/index.js';
import { Multipart, PART_BYTES } from './multipart.js';
import type { S3Http } from './s3-http.js';

/** What the remote knows of keys. */
export interface UploadKeys {
  checked(path: string): string;
  keyOf(path: string): string;
  /** @throws RemoteFailure `unavailable` for a bucket that is not there */
  confirmBucket(options: CallOptions): Promise<void>;
  /** Gives a content that is whole its name, in its turn. */
  complete(path: string, upload: Multipart, options: WriteOptions): Promise<RemoteFile>;
}

/** Uploads in parts, which the server keeps and shows nobody. */
export class S3Uploads implements ResumableUploads {
  readonly partBytes = PART_BYTES;

  constructor(
    private readonly http: S3Http,
    private readonly keys: UploadKeys,
  ) {}

  async begin(path: string, options: CallOptions = {}): Promise<string> {
    const at = this.keys.checked(path);
    const call = callOf(at, options);
    const { id } = await unlessAborted(options, () => Multipart.begin(this.http, this.keys.keyOf(at), call));
    return keptUpload({ id, path: at });
  }

  async received(upload: string, options: CallOptions = {}): Promise<number> {
    return (await this.recalled(upload, options)).sizeBytes;
  }

  async append(
    upload: string,
    offset: number,
    bytes: AsyncIterable<Uint8Array>,
    options: CallOptions = {},
  ): Promise<number> {
    const { path } = uploadNamed(upload);
    const multipart = await this.recalled(upload, options);
    if (!multipart.goBackTo(offset)) throw new RemoteFailure('changed', { path });
    for await (const part of passingParts(abortable(bytes, options.signal), PART_BYTES))
      await multipart.add(part, callOf(path, options));
    return multipart.sizeBytes;
  }

  async finish(upload: string, options: WriteOptions): Promise<RemoteFile> {
    const { path } = uploadNamed(upload);
    return this.keys.complete(path, await this.recalled(upload, options), options);
  }

  async abandon(upload: string): Promise<void> {
    const { id, path } = uploadNamed(upload);
    await new Multipart(this.http, this.keys.keyOf(path), id).abandon(path);
  }

  /** @throws RemoteFailure `not_found` for an upload that the server does not know */
  private async recalled(upload: string, options: CallOptions): Promise<Multipart> {
    const { id, path } = uploadNamed(upload);
    const multipart = new Multipart(this.http, this.keys.keyOf(path), id);
    if (await unlessAborted(options, () => multipart.recall(callOf(path, options)))) return multipart;
    await this.keys.confirmBucket(options);
    throw new RemoteFailure('not_found', { path });
  }
}
