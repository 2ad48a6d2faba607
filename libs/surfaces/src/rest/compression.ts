import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
  type ZlibOptions,
} from 'node:zlib';
import { qualityValues } from './quality-values.js';

export type Encoding = 'br' | 'gzip';

/** Smaller answers fit into a packet anyway. */
export const COMPRESS_FROM_BYTES = 1_024;
/** Up to here compressing at once is faster than asking another thread. */
const SYNC_BELOW_BYTES = 32_768;
/** From here on an answer leaves in pieces, so that it is never held twice. */
export const STREAM_FROM_CHARACTERS = 4_194_304;
const PIECE_CHARACTERS = 65_536;
const MAX_REMEMBERED = 100;

const GZIP: ZlibOptions = { level: 1 };
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

const choices = new Map<string, Encoding | undefined>();
const gzipLater = promisify<string | Uint8Array, ZlibOptions, Buffer>(gzip);
const brotliLater = promisify<string | Uint8Array, BrotliOptions, Buffer>(brotliCompress);

/** What an Accept-Encoding header lets us use; clients send few different ones, so choices are remembered. */
export function chooseEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (typeof header !== 'string') return undefined;
  if (choices.has(header)) return choices.get(header);
  if (choices.size >= MAX_REMEMBERED) choices.clear();
  const choice = choose(header);
  choices.set(header, choice);
  return choice;
}

/** Compresses JSON at once or, when it is long, on another thread. */
export function compress(json: string | Uint8Array, encoding: Encoding): Buffer | Promise<Buffer> {
  const isShort = json.length < SYNC_BELOW_BYTES;
  switch (encoding) {
    case 'br':
      return isShort ? brotliCompressSync(json, BROTLI) : brotliLater(json, BROTLI);
    case 'gzip':
      return isShort ? gzipSync(json, GZIP) : gzipLater(json, GZIP);
    default:
      return encoding satisfies never;
  }
}

/** Long JSON as a stream of bytes, compressed on the way. */
export function streamOf(json: string | Uint8Array, encoding: Encoding | undefined): Readable {
  const source = Readable.from(typeof json === 'string' ? pieces(json) : piecesOfBytes(json), { objectMode: false });
  if (!encoding) return source;
  const compressor: Transform = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP);
  pipeline(source, compressor).catch((error: unknown) =>
    compressor.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  return compressor;
}

function* piecesOfBytes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_CHARACTERS) yield bytes.subarray(at, at + PIECE_CHARACTERS);
}

function* pieces(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE_CHARACTERS, text.length);
    // A character of two units is not torn apart.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
}

/** The encoding with the greatest weight; none where plain is given a greater one. */
function choose(header: string): Encoding | undefined {
  const weights = qualityValues(header);
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const best: Encoding = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip';
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}
