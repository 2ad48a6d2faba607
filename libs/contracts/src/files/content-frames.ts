import { ServiceError } from '../errors.js';

const LENGTH_BYTES = 4;
const MOST_HEADER_BYTES = 16_384;
/** Small contents are sent so many bytes at a time: each chunk costs a call of the system on every machine it passes. */
const CHUNK_BYTES = 65_536;

/** One of several contents in a stream, and what is told of it. */
export interface Framed<H> {
  readonly header: H;
  readonly bytes: Uint8Array;
}

/**
 * Several contents as one stream: of each the length of its header and of its bytes, 32 bit big-endian, then the header as
 * JSON, then the bytes.
 */
export async function* framed<H>(contents: AsyncIterable<Framed<H>>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let chunk = new Uint8Array();
  let size = 0;
  for await (const { header, bytes } of contents) {
    const told = encoder.encode(JSON.stringify(header));
    const frameBytes = 2 * LENGTH_BYTES + told.length + bytes.length;
    if (size + frameBytes > chunk.length) {
      if (size > 0) yield chunk.subarray(0, size);
      chunk = new Uint8Array(Math.max(CHUNK_BYTES, frameBytes));
      size = 0;
    }
    const view = new DataView(chunk.buffer, size);
    view.setUint32(0, told.length);
    view.setUint32(LENGTH_BYTES, bytes.length);
    chunk.set(told, size + 2 * LENGTH_BYTES);
    chunk.set(bytes, size + 2 * LENGTH_BYTES + told.length);
    size += frameBytes;
  }
  if (size > 0) yield chunk.subarray(0, size);
}

/**
 * The contents of such a stream, one at a time.
 * @throws ServiceError VALIDATION_FAILED for a stream that is none, and for a content above `mostBytes`; SERVICE_UNAVAILABLE
 * for one that ends in the midst of a content
 */
export async function* unframed(bytes: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<Framed<unknown>> {
  const source = bytes[Symbol.asyncIterator]();
  const reader = new ByteReader(source);
  try {
    for (;;) {
      const lengths = await reader.take(2 * LENGTH_BYTES);
      if (lengths === null) return;
      const view = new DataView(lengths.buffer, lengths.byteOffset, lengths.byteLength);
      const [headerBytes, contentBytes] = [view.getUint32(0), view.getUint32(LENGTH_BYTES)];
      if (headerBytes > MOST_HEADER_BYTES || contentBytes > mostBytes) throw malformed();
      const header = await reader.need(headerBytes);
      yield { header: parsed(header), bytes: await reader.need(contentBytes) };
    }
  } finally {
    // Whoever gives up here reads no further.
    await source.return?.();
  }
}

/** Takes from a stream so many bytes as are asked for. */
class ByteReader {
  private held: Uint8Array = new Uint8Array();

  constructor(private readonly source: AsyncIterator<Uint8Array>) {}

  /** Null at the end of the stream. */
  async take(count: number): Promise<Uint8Array | null> {
    const parts = [this.held];
    let size = this.held.length;
    while (size < count) {
      const next = await this.source.next();
      if (next.done && size === 0) return null;
      if (next.done) throw new ServiceError('SERVICE_UNAVAILABLE', 'The contents broke off: try again in a moment.');
      parts.push(next.value);
      size += next.value.length;
    }
    const all = parts.length === 1 ? this.held : joined(parts, size);
    this.held = all.subarray(count);
    return all.subarray(0, count);
  }

  async need(count: number): Promise<Uint8Array> {
    const taken = count === 0 ? new Uint8Array() : await this.take(count);
    if (taken) return taken;
    throw new ServiceError('SERVICE_UNAVAILABLE', 'The contents broke off: try again in a moment.');
  }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function parsed(header: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(header));
  } catch (cause) {
    throw malformed({ cause });
  }
}

function malformed(options?: ErrorOptions): ServiceError {
  return new ServiceError('VALIDATION_FAILED', 'The body is no stream of contents.', {}, options);
}
