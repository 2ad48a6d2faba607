import { createHash, type Hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Database } from '@workspace-graph/database';
import type { ResumableUploads } from '@workspace-graph/remotes';
import type { ResumedHash } from './resumed-hash.js';
import { NOTE_UPLOAD } from './upload.statements.js';

/** SHA-256 of what is there of an upload, part by part. */
export interface UploadHash {
  /** Whether some of it was made of what the storage gave back, instead of what came. */
  readonly isReread: boolean;
  /** Before a part is sent. */
  announce(part: Uint8Array): Promise<void>;
  /** When it is there. */
  arrived(part: Uint8Array): void;
  /** In hexadecimal; ends it. */
  end(): string;
}

/** An upload of which the database keeps a row. */
export interface NotedUpload {
  readonly fileId: string;
  readonly handle: string;
  /** What is there of it. */
  readonly bytes: number;
}

/**
 * For a storage that gives nothing back before a content is whole: the state of the hash is kept in the database, at two ends of parts.
 * The later one is noted before its part is sent, so that whichever of the two is there after a break can be gone on from.
 */
export class NotedUploadHash implements UploadHash {
  readonly isReread = false;
  private bytes: number;

  constructor(
    private readonly database: Database,
    private readonly upload: NotedUpload,
    private readonly hash: ResumedHash,
  ) {
    this.bytes = upload.bytes;
  }

  async announce(part: Uint8Array): Promise<void> {
    const [bytes, state] = [this.bytes, this.hash.state()];
    this.hash.update(part);
    this.bytes += part.byteLength;
    const { fileId, handle } = this.upload;
    await this.database.rows(NOTE_UPLOAD, [fileId, handle, bytes, state, this.bytes, this.hash.state()]);
  }

  arrived(): void {
    // It was noted.
  }

  end(): string {
    return this.hash.end();
  }
}

/** Uploads whose hashes are kept in mind. */
const KEPT_HASHES = 256;

interface KeptHash {
  readonly bytes: number;
  readonly hash: Hash;
  readonly isReread: boolean;
}

/**
 * For a storage that gives back what is there of an upload: OpenSSL hashes six times as fast as what can keep its state. Hashes
 * stay in this process; where one is missing, as when another process began the upload, it is made of what is there.
 */
@Injectable()
export class KeptUploadHashes {
  private readonly kept = new Map<string, KeptHash>();

  /** The hash of the first `bytes` of an upload. @throws RemoteFailure */
  async at(
    uploads: Required<Pick<ResumableUploads, 'read'>>,
    { handle, bytes }: Pick<NotedUpload, 'handle' | 'bytes'>,
    signal: AbortSignal,
  ): Promise<UploadHash> {
    const known = this.kept.get(handle);
    const begun = known && known.bytes <= bytes ? known : { bytes: 0, hash: createHash('sha256'), isReread: false };
    const hash = begun.hash.copy();
    let done = begun.bytes;
    if (done === bytes) return this.from(handle, { ...begun, hash });
    for await (const chunk of uploads.read(handle, { offset: done, length: bytes - done }, { signal })) {
      hash.update(chunk);
      done += chunk.byteLength;
      // One that takes long goes on from there when it breaks off.
      this.keep(handle, { bytes: done, hash: hash.copy(), isReread: true });
    }
    return this.from(handle, { bytes, hash, isReread: true });
  }

  forget(handle: string): void {
    this.kept.delete(handle);
  }

  private from(handle: string, { bytes, hash, isReread }: KeptHash): UploadHash {
    let done = bytes;
    return {
      isReread,
      announce: () => Promise.resolve(),
      arrived: (part) => {
        hash.update(part);
        done += part.byteLength;
        this.keep(handle, { bytes: done, hash: hash.copy(), isReread });
      },
      end: () => hash.digest('hex'),
    };
  }

  private keep(handle: string, kept: KeptHash): void {
    this.kept.delete(handle);
    this.kept.set(handle, kept);
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT_HASHES && oldest !== undefined) this.kept.delete(oldest);
  }
}
