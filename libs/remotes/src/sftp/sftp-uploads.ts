import { temporaryName } from '@workspace-graph/disk';
import { abortable } from '@workspace-graph/platform';
import {
  type CallOptions,
  growingFile,
  keptUpload,
  NotedStream,
  passingParts,
  RemoteFailure,
  type RemoteFile,
  type ResumableUploads,
  unlessAborted,
  type WriteOptions,
} from '../port/index.js';
import { failureOf, STATUS, statusOf } from './sftp-failure.js';
import type { SftpFiles, SftpHandle } from './sftp-files.js';

/** What the remote does with paths and with contents. */
export interface UploadPlaces {
  /** Looks whether a content may be written there, and makes the folders above it. Answers the path. */
  begun(path: string, options: CallOptions): Promise<string>;
  /** Makes a file, and its folder where that is not there. */
  make(file: string): Promise<SftpHandle>;
  /** Gives a content that is whole its name, in its turn. */
  give(file: string, path: string, options: WriteOptions): Promise<RemoteFile>;
  /** What failed while a content was written. */
  writeFailure(error: unknown, path: string, file: string): Promise<RemoteFailure>;
}

/** Uploads into files of a folder of their own, which are synced part by part. */
export class SftpUploads implements ResumableUploads {
  readonly partBytes = 4 * 1_048_576;

  /** @param folder where the contents grow */
  constructor(
    private readonly files: SftpFiles,
    private readonly folder: string,
    private readonly places: UploadPlaces,
  ) {}

  async begin(path: string, options: CallOptions = {}): Promise<string> {
    const at = await this.places.begun(path, options);
    const id = temporaryName();
    try {
      await this.files.close(await this.places.make(`${this.folder}/${id}`));
    } catch (error) {
      throw await this.places.writeFailure(error, at, `${this.folder}/${id}`);
    }
    return keptUpload({ id, path: at });
  }

  async received(upload: string, options: CallOptions = {}): Promise<number> {
    const { file, path } = this.grown(upload);
    return await unlessAborted(options, async () => {
      try {
        const found = await this.files.lstat(file);
        if (found?.isFile()) return found.size;
      } catch (error) {
        throw failureOf(error, path);
      }
      throw new RemoteFailure('not_found', { path });
    });
  }

  async append(
    upload: string,
    offset: number,
    bytes: AsyncIterable<Uint8Array>,
    options: CallOptions = {},
  ): Promise<number> {
    const { file, path } = this.grown(upload);
    if (offset > (await this.received(upload, options))) throw new RemoteFailure('changed', { path });
    const noted = new NotedStream(passingParts(abortable(bytes, options.signal), this.partBytes));
    let done = offset;
    try {
      await this.files.truncate(file, offset);
      const handle = await this.files.open(file, 'r+');
      try {
        for await (const part of noted.passing()) {
          await this.files.write(handle, [part], done);
          await this.files.sync(handle);
          done += part.byteLength;
        }
      } finally {
        await this.files.close(handle).catch(() => undefined);
      }
      return done;
    } catch (error) {
      noted.rethrow();
      options.signal?.throwIfAborted();
      throw await this.places.writeFailure(error, path, file);
    }
  }

  async finish(upload: string, options: WriteOptions): Promise<RemoteFile> {
    await this.received(upload, options);
    const { file, path } = this.grown(upload);
    return this.places.give(file, path, options);
  }

  async abandon(upload: string): Promise<void> {
    const { file, path } = this.grown(upload);
    try {
      await this.files.unlink(file);
    } catch (error) {
      if (statusOf(error) !== STATUS.noSuchFile) throw failureOf(error, path);
    }
  }

  /** @throws RemoteFailure `not_found` for a name that is none of ours */
  private grown(upload: string): { readonly file: string; readonly path: string } {
    const { id, path } = growingFile(upload);
    return { file: `${this.folder}/${id}`, path };
  }
}
