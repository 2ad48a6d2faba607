import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { ByteRange } from '@workspace-graph/contracts';
import { editOf, stampOf } from '@workspace-graph/disk';
import { beingWritten, type HashedFile } from '../reading/content-hashes.js';

const CHUNK_BYTES = 256 * 1024;

export interface HeldContent {
  readonly path: string;
  readonly handle: FileHandle;
  readonly hashed: HashedFile;
  /** Told when the whole content was read and has another hash. */
  readonly onWrongHash: () => void;
}

/**
 * The bytes of an open file. The last ones are given only when the file is still the one that was hashed, so that nobody
 * takes a mixture of two contents for a whole.
 * @throws ServiceError SERVICE_UNAVAILABLE for a file that was changed meanwhile
 */
export async function* bytesOf(content: HeldContent, range?: ByteRange): AsyncGenerator<Uint8Array> {
  const sizeBytes = Number(content.hashed.found.size);
  const hash = range ? null : createHash('sha256');
  let position = range?.start ?? 0;
  const end = range ? range.end + 1 : sizeBytes;
  while (position < end) {
    const { buffer, bytesRead } = await content.handle.read(
      Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position)),
      0,
      undefined,
      position,
    );
    if (bytesRead === 0) throw beingWritten(content.path);
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    hash?.update(chunk);
    if (position === end) await verify(content, hash);
    yield chunk;
  }
}

async function verify({ path, handle, hashed, onWrongHash }: HeldContent, hash: Hash | null): Promise<void> {
  // Another name alone does not end a download.
  const found = await handle.stat({ bigint: true });
  if (editOf(stampOf(found)) !== editOf(stampOf(hashed.found))) throw beingWritten(path);
  if (hash === null || hash.digest('hex') === hashed.sha256) return;
  onWrongHash();
  throw beingWritten(path);
}
