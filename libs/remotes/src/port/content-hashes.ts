import { createHash, type Hash } from 'node:crypto';
import type { HashKind } from '@workspace-graph/contracts';

const DROPBOX_BLOCK_BYTES = 4 * 1_048_576;

interface Digest {
  update(chunk: Uint8Array): unknown;
  digest(): Buffer;
}

/** Several hashes of one stream, in one pass. */
export class ContentHashes {
  sizeBytes = 0;
  private readonly digests: ReadonlyMap<HashKind, Digest>;

  constructor(kinds: readonly HashKind[]) {
    this.digests = new Map(kinds.map((kind) => [kind, kind === 'dropbox' ? new BlockHash() : createHash(kind)]));
  }

  update(chunk: Uint8Array): void {
    this.sizeBytes += chunk.byteLength;
    for (const digest of this.digests.values()) digest.update(chunk);
  }

  /** Passes a stream on, and counts and hashes what passes. */
  async *passing(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.update(chunk);
      yield chunk;
    }
  }

  /** In hexadecimal; ends the pass. */
  end(): Partial<Record<HashKind, string>> {
    return Object.fromEntries([...this.digests].map(([kind, digest]) => [kind, digest.digest().toString('hex')]));
  }
}

class BlockHash implements Digest {
  private readonly whole = createHash('sha256');
  private block: Hash = createHash('sha256');
  private blockBytes = 0;

  update(chunk: Uint8Array): void {
    for (let done = 0; done < chunk.byteLength; ) {
      const part = chunk.subarray(done, done + DROPBOX_BLOCK_BYTES - this.blockBytes);
      this.block.update(part);
      this.blockBytes += part.byteLength;
      done += part.byteLength;
      if (this.blockBytes === DROPBOX_BLOCK_BYTES) this.endBlock();
    }
  }

  digest(): Buffer {
    if (this.blockBytes > 0) this.endBlock();
    return this.whole.digest();
  }

  private endBlock(): void {
    this.whole.update(this.block.digest());
    this.block = createHash('sha256');
    this.blockBytes = 0;
  }
}
