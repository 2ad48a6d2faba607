import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import {
  HeldFolder,
  isAbsent,
  isTemporaryName,
  locate,
  MAKE_FLAGS,
  statOrNull,
  temporaryName,
  WRITE_FLAGS,
} from '@workspace-graph/disk';
import { abortable } from '@workspace-graph/platform';
import {
  ABANDONED_UPLOAD_MS,
  type CallOptions,
  growingFile,
  keptUpload,
  passingParts,
  RemoteFailure,
  type RemoteFile,
  type ResumableUploads,
  type UploadedRange,
  type WriteOptions,
} from '../port/index.js';
import { onRemote } from './fs-failure.js';
import { removeIfThere } from './notes.js';

/** Where contents grow that are not whole yet; listings leave it out. */
const FOLDER = '.svc-uploads';

/** A content that is whole, and what it is to become. */
export interface Grown {
  /** Where it lies on this machine. */
  readonly file: string;
  /** In the remote. */
  readonly path: string;
}

/** What the remote does with paths and with a content that is whole. */
export interface UploadPlaces {
  checked(path: string): string;
  place(grown: Grown, options: WriteOptions): Promise<RemoteFile>;
}

/** Uploads into files of a folder of their own, which are synced part by part. */
export class FsUploads implements ResumableUploads {
  readonly partBytes = 4 * 1_048_576;

  constructor(
    private readonly root: string,
    private readonly places: UploadPlaces,
  ) {}

  begin(path: string, { signal }: CallOptions = {}): Promise<string> {
    return onRemote(path, async () => {
      signal?.throwIfAborted();
      const at = this.places.checked(path);
      const id = temporaryName();
      await using folder = await this.folder({ create: true });
      await using _file = await open(folder.at(id), MAKE_FLAGS, 0o666);
      await folder.sync();
      return keptUpload({ id, path: at });
    });
  }

  received(upload: string, options: CallOptions = {}): Promise<number> {
    return this.on(upload, options, async (file) => (await file.stat()).size);
  }

  append(upload: string, offset: number, bytes: AsyncIterable<Uint8Array>, options: CallOptions = {}): Promise<number> {
    return this.on(upload, options, async (file, { path }) => {
      if (offset > (await file.stat()).size) throw new RemoteFailure('changed', { path });
      await file.truncate(offset);
      let done = offset;
      for await (const part of passingParts(abortable(bytes, options.signal), this.partBytes)) {
        for (let written = 0; written < part.byteLength; )
          written += (await file.write(part, written, part.byteLength - written, done + written)).bytesWritten;
        await file.sync();
        done += part.byteLength;
      }
      return done;
    });
  }

  async *read(
    upload: string,
    { offset, length }: UploadedRange,
    options: CallOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const memory = Buffer.allocUnsafeSlow(Math.min(length, this.partBytes));
    for (let done = 0; done < length; ) {
      const chunk = memory.subarray(0, Math.min(memory.byteLength, length - done));
      const read = (file: FileHandle) => file.read(chunk, 0, chunk.byteLength, offset + done);
      const { bytesRead } = await this.on(upload, options, read);
      if (bytesRead === 0) throw new RemoteFailure('changed', { path: growingFile(upload).path });
      yield chunk.subarray(0, bytesRead);
      done += bytesRead;
    }
  }

  finish(upload: string, options: WriteOptions): Promise<RemoteFile> {
    return this.on(upload, options, async (file, grown) => {
      if (options.modifiedAt !== undefined) {
        const seconds = Date.parse(options.modifiedAt) / 1_000;
        await file.utimes(seconds, seconds);
        await file.sync();
      }
      return this.places.place(grown, options);
    });
  }

  async abandon(upload: string): Promise<void> {
    const { id, path } = growingFile(upload);
    await onRemote(path, async () => {
      await using folder = await this.folderIfThere();
      if (folder) await removeIfThere(folder.at(id));
    });
  }

  /** Removes those that nobody has gone on with for long. */
  async recover(nowMs: number): Promise<void> {
    await using folder = await this.folderIfThere();
    for (const id of folder ? await readdir(folder.at('')) : []) {
      const found = isTemporaryName(id) ? await statOrNull(folder?.at(id) ?? '') : null;
      if (folder && found && Number(found.mtimeMs) <= nowMs - ABANDONED_UPLOAD_MS) await unlink(folder.at(id));
    }
  }

  /** @throws RemoteFailure `not_found` for an upload that is not there */
  private async on<T>(
    upload: string,
    { signal }: CallOptions,
    work: (file: FileHandle, grown: Grown) => Promise<T>,
  ): Promise<T> {
    const { id, path } = growingFile(upload);
    return await onRemote(path, async () => {
      signal?.throwIfAborted();
      await using folder = await this.folderIfThere();
      const found = folder && (await statOrNull(folder.at(id)));
      if (!folder || !found?.isFile()) throw new RemoteFailure('not_found', { path });
      await using file = await open(folder.at(id), WRITE_FLAGS);
      return await work(file, { file: folder.at(id), path });
    });
  }

  private async folder(options: { readonly create?: boolean } = {}): Promise<HeldFolder> {
    const at = await locate(this.root, FOLDER);
    return await HeldFolder.of({ ...at, names: [...at.names, ''] }, options);
  }

  private async folderIfThere(): Promise<HeldFolder | null> {
    try {
      return await this.folder();
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }
}
