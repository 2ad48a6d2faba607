import { createHash, type Hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { TextDecoder } from 'node:util';
import { ServiceError } from '@workspace-graph/contracts';
import mime from 'mime';
import { diskCode, diskError, fileNotFound, isAbsent } from './disk-errors.js';
import { HeldFolder, READ_FLAGS } from './held-folder.js';
import type { MirrorPath } from './mirror-path.js';
import type { SeenContent } from './seen-content.js';
import { editOf, inodeOf, stampOf } from './stamp.js';

/** Read at a time: large enough for the speed of the disk, small beside the memory of a process. */
const CHUNK_BYTES = 256 * 1024;
const READ_ATTEMPTS = 3;
/** What the file system answers for a name that is no file to be read: a link, a socket, a device without driver. */
const NO_FILE = new Set(['ELOOP', 'EMLINK', 'ENXIO', 'ENODEV', 'EISDIR', 'EOPNOTSUPP']);

/** By the ending of the name. */
export function mimeTypeOf(path: string): string {
  return mime.getType(path) ?? 'application/octet-stream';
}

/**
 * Opens a file for reading: a regular one, inside the mirror, no link.
 * @throws ServiceError FILE_NOT_FOUND for anything else; SERVICE_UNAVAILABLE when the device refuses access
 */
export async function openForReading(at: MirrorPath): Promise<FileHandle> {
  const handle = await openTwice(at).catch((error: unknown) => {
    if (isAbsent(error) || NO_FILE.has(diskCode(error) ?? '')) throw fileNotFound({ path: at.path });
    throw diskError(error, at.path);
  });
  try {
    if ((await handle.stat()).isFile()) return handle;
    throw fileNotFound({ path: at.path });
  } catch (error) {
    await handle.close();
    throw diskError(error, at.path);
  }
}

/** What was read of a file. */
export interface ReadContent extends SeenContent {
  /** Whether all of it is UTF-8 text without NUL; false when nobody asked. */
  readonly isText: boolean;
  /** Permissions, as `chmod` takes them. */
  readonly mode: number;
}

/**
 * Reads a file to its end, with constant memory. A file that is written meanwhile is read again, and then answered
 * without a stamp.
 * @throws ServiceError FILE_NOT_FOUND
 */
export async function readContent(at: MirrorPath, { text = false } = {}): Promise<ReadContent> {
  await using handle = await openForReading(at);
  const rootDevice = await deviceOf(at);
  for (let attempt = 1; ; attempt += 1) {
    const before = await handle.stat({ bigint: true });
    const digest = new ContentDigest(text);
    for await (const chunk of chunksOf(handle)) digest.update(chunk);
    const after = await handle.stat({ bigint: true });
    const settled = stampOf(before) === stampOf(after) && digest.sizeBytes === Number(after.size);
    if (!settled && attempt < READ_ATTEMPTS) continue;
    const seen = seenContent(at.path, after, { sha256: digest.sha256(), sizeBytes: digest.sizeBytes, rootDevice });
    return { ...seen, stamp: settled ? seen.stamp : null, isText: digest.isText(), mode: Number(after.mode) & 0o777 };
  }
}

/**
 * The same, without reading a file whose stamp and inode are those of content that is known.
 * @throws ServiceError FILE_NOT_FOUND
 */
export async function seenOrRead(
  at: MirrorPath,
  known: Pick<SeenContent, 'sha256' | 'stamp' | 'inode'> | null,
): Promise<SeenContent> {
  if (known?.stamp) {
    await using handle = await openForReading(at);
    const found = await handle.stat({ bigint: true });
    const measured = { sha256: known.sha256, sizeBytes: Number(found.size), rootDevice: await deviceOf(at) };
    const seen = seenContent(at.path, found, measured);
    if (seen.stamp === known.stamp && seen.inode === known.inode) return seen;
  }
  const { isText, mode, ...seen } = await readContent(at);
  return seen;
}

/**
 * A file that was given another name, which changes its stamp: the content is the known one when size and time of edit
 * are. Its stamp is null then, so that the next scan looks whether somebody edited it in between and hid that.
 * @throws ServiceError FILE_NOT_FOUND
 */
export async function seenUnderNewName(at: MirrorPath, known: SeenContent): Promise<SeenContent> {
  await using handle = await openForReading(at);
  const found = await handle.stat({ bigint: true });
  const measured = { sha256: known.sha256, sizeBytes: Number(found.size), rootDevice: await deviceOf(at) };
  const seen = seenContent(at.path, found, measured);
  const isSame = known.stamp !== null && editOf(stampOf(found)) === editOf(known.stamp);
  return isSame ? { ...seen, stamp: null } : seenOrRead(at, null);
}

/** The bytes of an open file, from its beginning. The same memory holds each chunk: use one before asking for the next. */
export async function* chunksOf(handle: FileHandle): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** A content that is in memory, as a stream. */
export async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The last part of a content is held back until all of it is known to be the one that was told. @throws what `otherwise` makes */
export async function* verifiedBytes(
  bytes: AsyncIterable<Uint8Array>,
  sha256: string,
  otherwise: () => Error,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let held: Uint8Array | null = null;
  for await (const chunk of bytes) {
    if (held) yield held;
    hash.update(chunk);
    held = chunk;
  }
  if (hash.digest('hex') !== sha256) throw otherwise();
  if (held) yield held;
}

/** What passes through it: size, hash, and whether it is text. */
export class ContentDigest {
  sizeBytes = 0;
  private readonly hash: Hash | null;
  private decoder: TextDecoder | null;

  constructor(text: boolean, hash = true) {
    this.hash = hash ? createHash('sha256') : null;
    this.decoder = text ? new TextDecoder('utf-8', { fatal: true }) : null;
  }

  update(chunk: Uint8Array): void {
    this.sizeBytes += chunk.byteLength;
    this.hash?.update(chunk);
    this.decode(chunk);
  }

  /** Ends the digest; empty for one that hashes nothing. */
  sha256(): string {
    return this.hash?.digest('hex') ?? '';
  }

  isText(): boolean {
    if (this.decoder) this.decode();
    return this.decoder !== null;
  }

  private decode(chunk?: Uint8Array): void {
    if (!this.decoder) return;
    try {
      this.decoder.decode(chunk, { stream: chunk !== undefined });
      if (chunk?.includes(0)) this.decoder = null;
    } catch {
      // That it cannot be decoded is the answer.
      this.decoder = null;
    }
  }
}

interface Measured {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Device of the mirror's root: an inode counts on that volume only. */
  readonly rootDevice: bigint;
}

export function seenContent(
  path: string,
  found: BigIntStats,
  { sha256, sizeBytes, rootDevice }: Measured,
): SeenContent {
  return {
    sha256,
    sizeBytes,
    mimeType: mimeTypeOf(path),
    modifiedAt: timeOf(found),
    stamp: stampOf(found),
    inode: found.dev === rootDevice ? inodeOf(found) : null,
  };
}

/** Device of the folder of the mirror. */
export async function deviceOf({ mirrorRoot }: MirrorPath): Promise<bigint> {
  return (await stat(mirrorRoot, { bigint: true })).dev;
}

/** Times before the first or after the last that ISO 8601 writes with four digits are of no use to anybody. */
function timeOf({ mtimeMs }: BigIntStats): string {
  const ms = Number(mtimeMs);
  return new Date(ms >= 0 && ms < 253_402_300_800_000 ? ms : 0).toISOString();
}

/** A name whose file is just being replaced is back at the second look. */
async function openTwice(at: MirrorPath): Promise<FileHandle> {
  try {
    return await openInside(at);
  } catch (error) {
    if (diskCode(error) === 'ENOENT') return openInside(at);
    throw error;
  }
}

async function openInside(at: MirrorPath): Promise<FileHandle> {
  if (!at.exists) throw fileNotFound({ path: at.path });
  await using folder = await HeldFolder.of(at);
  const handle = await open(folder.at(lastName(at)), READ_FLAGS);
  try {
    await folder.mustBeInside();
    return handle;
  } catch (error) {
    await handle.close();
    if (error instanceof ServiceError && error.code === 'CONFLICT') throw fileNotFound({ path: at.path });
    throw error;
  }
}

/** Name of the file itself, as it stands on the disk. */
export function lastName({ names }: MirrorPath): string {
  return names.at(-1) ?? '';
}
