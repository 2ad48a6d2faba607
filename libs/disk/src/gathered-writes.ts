import type { FileHandle } from 'node:fs/promises';

/** Written at a time. A network brings an eighth of that, and each write takes a turn of another thread. */
const GATHERED_BYTES = 512 * 1024;

/** Writes chunks to a file one behind the other, small ones together. A chunk may be used for something else when `write` resolves. */
export class GatheredWrites {
  private buffer: Buffer | null = null;
  private heldBytes = 0;
  private isBegun = false;

  constructor(private readonly handle: FileHandle) {}

  async write(chunk: Uint8Array): Promise<void> {
    // A small content is one chunk, and needs no memory beside it.
    const isDirect = !this.isBegun || chunk.byteLength >= GATHERED_BYTES;
    this.isBegun = true;
    if (this.heldBytes + chunk.byteLength > GATHERED_BYTES) await this.end();
    if (isDirect) return await this.writeWhole(chunk);
    this.buffer ??= Buffer.allocUnsafeSlow(GATHERED_BYTES);
    this.buffer.set(chunk, this.heldBytes);
    this.heldBytes += chunk.byteLength;
  }

  /** Writes what was gathered. */
  async end(): Promise<void> {
    const { buffer, heldBytes } = this;
    this.heldBytes = 0;
    if (buffer && heldBytes > 0) await this.writeWhole(buffer.subarray(0, heldBytes));
  }

  private async writeWhole(chunk: Uint8Array): Promise<void> {
    for (let done = 0; done < chunk.byteLength; ) {
      const { bytesWritten } = await this.handle.write(chunk, done);
      done += bytesWritten;
    }
  }
}
