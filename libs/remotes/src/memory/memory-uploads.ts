import { randomUUID } from 'node:crypto';
import { abortable } from '@workspace-graph/platform';
import {
  type CallOptions,
  keptUpload,
  partsOf,
  RemoteFailure,
  type RemoteFile,
  type ResumableUploads,
  type UploadedRange,
  uploadNamed,
  type WriteOptions,
} from '../port/index.js';

/** How a content gets its name. */
type Write = (path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions) => Promise<RemoteFile>;

/** Uploads in the memory of this process. */
export class MemoryUploads implements ResumableUploads {
  readonly partBytes = 1_048_576;
  private readonly parts = new Map<string, Uint8Array[]>();

  constructor(
    private readonly write: Write,
    private readonly begun: (path: string, options: CallOptions) => string,
  ) {}

  async begin(path: string, options: CallOptions = {}): Promise<string> {
    const at = this.begun(path, options);
    const id = randomUUID();
    this.parts.set(id, []);
    return keptUpload({ id, path: at });
  }

  async received(upload: string, options: CallOptions = {}): Promise<number> {
    return sizeOf(this.partsOf(upload, options));
  }

  async append(
    upload: string,
    offset: number,
    bytes: AsyncIterable<Uint8Array>,
    options: CallOptions = {},
  ): Promise<number> {
    const kept = this.partsOf(upload, options);
    while (sizeOf(kept) > offset) kept.pop();
    if (sizeOf(kept) !== offset) throw new RemoteFailure('changed', { path: uploadNamed(upload).path });
    for await (const part of partsOf(abortable(bytes, options.signal), this.partBytes)) {
      this.partsOf(upload, options);
      kept.push(Uint8Array.from(part));
    }
    return sizeOf(kept);
  }

  async *read(
    upload: string,
    { offset, length }: UploadedRange,
    options: CallOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const there = Buffer.concat(this.partsOf(upload, options)).subarray(offset, offset + length);
    if (there.byteLength < length) throw new RemoteFailure('changed', { path: uploadNamed(upload).path });
    yield there;
  }

  async finish(upload: string, options: WriteOptions): Promise<RemoteFile> {
    const { id, path } = uploadNamed(upload);
    const kept = this.partsOf(upload, options);
    const file = await this.write(
      path,
      (async function* () {
        yield* kept;
      })(),
      options,
    );
    this.parts.delete(id);
    return file;
  }

  async abandon(upload: string, options: CallOptions = {}): Promise<void> {
    this.begun(uploadNamed(upload).path, options);
    this.parts.delete(uploadNamed(upload).id);
  }

  private partsOf(upload: string, options: CallOptions): Uint8Array[] {
    const { id, path } = uploadNamed(upload);
    this.begun(path, options);
    const kept = this.parts.get(id);
    if (!kept) throw new RemoteFailure('not_found', { path });
    return kept;
  }
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
