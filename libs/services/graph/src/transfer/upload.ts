import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { LIMITS, ServiceError } from '@workspace-graph/contracts';
import { type RowSource, statement } from '@workspace-graph/database';

const CHUNK_BYTES = 32 * 1_024;

/** The parts of an uploaded document, read one after the other however often they are asked for. */
export class Upload {
  constructor(
    private readonly source: RowSource,
    private readonly id: string,
    private readonly userId: string,
    private readonly parts: number,
  ) {}

  /**
   * The bytes of the document.
   * @throws ServiceError UPLOAD_NOT_FOUND when a part is missing; PAYLOAD_TOO_LARGE
   */
  async *bytes(): AsyncGenerator<Uint8Array> {
    let left: number = LIMITS.importBytes;
    for (let index = 0; index < this.parts; index += 1) {
      const part = await this.part(index);
      for await (const chunk of Readable.from([part]).pipe(createGunzip({ chunkSize: CHUNK_BYTES }))) {
        left -= (chunk as Buffer).byteLength;
        if (left < 0) throw tooLarge();
        yield chunk as Buffer;
      }
    }
  }

  /** What tells this document from another one, and its size. */
  async digest(signal: AbortSignal): Promise<{ readonly document: string; readonly sizeBytes: number }> {
    await this.checkComplete();
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const chunk of this.bytes()) {
      signal.throwIfAborted();
      hash.update(chunk);
      sizeBytes += chunk.byteLength;
    }
    return { document: hash.digest('hex'), sizeBytes };
  }

  private async checkComplete(): Promise<void> {
    const [found] = await this.source.rows<{ parts: number }>(COUNT_PARTS, [this.id, this.userId]);
    if (found?.parts !== this.parts)
      throw new ServiceError('UPLOAD_NOT_FOUND', `The upload has ${found?.parts ?? 0} of ${this.parts} parts.`);
  }

  private async part(index: number): Promise<Buffer> {
    const [found] = await this.source.rows<{ data: Buffer }>(READ_PART, [this.id, this.userId, index]);
    if (!found) throw new ServiceError('UPLOAD_NOT_FOUND', `The upload has no part ${index}.`);
    return found.data;
  }
}

function tooLarge(): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', 'The document is too large.', { limit_bytes: LIMITS.importBytes });
}

const COUNT_PARTS = statement(
  'import.count_parts',
  `SELECT count(*)::int AS parts FROM graph.import_part WHERE upload_id = $1 AND user_id = $2`,
);

const READ_PART = statement(
  'import.read_part',
  `SELECT data FROM graph.import_part WHERE upload_id = $1 AND user_id = $2 AND index = $3`,
);
