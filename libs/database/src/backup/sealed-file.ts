import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { syncFolder } from '@workspace-graph/platform/disk';
import { BackupError, fileError } from './backup-error.js';

/** Name and version of the format, so that any tool can tell what the file is. */
const magic = Buffer.from('workspace-graph-backup/1\n');
const magicName = 'workspace-graph-backup/';
const sealPrefix = 'sha256:';
const sealBytes = sealPrefix.length + 64 + 1;

/** First line, compressed content, and the SHA-256 of both as the last line. */
async function* seal(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256').update(magic);
  yield magic;
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  yield Buffer.from(`${sealPrefix}${hash.digest('hex')}\n`);
}

async function writeDraft(draft: string, content: AsyncIterable<Buffer>): Promise<void> {
  const target = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
  try {
    await pipeline(Readable.from(content, { objectMode: true, highWaterMark: 2 }), createZstdCompress(), seal, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function writeAside(file: string, content: AsyncIterable<Buffer>): Promise<number> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  if (await exists(file))
    throw new BackupError('FILE_EXISTS', `The file ${file} already exists.`, {
      advice: 'Choose another name, or move the file away.',
    });
  const draft = `${file}.${randomBytes(4).toString('hex')}.partial`;
  await writeDraft(draft, content);
  await rename(draft, file);
  // Windows cannot sync a folder, and does not need it after a rename.
  await syncFolder(dirname(file));
  return (await stat(file)).size;
}

/**
 * Writes content compressed and sealed, readable by its user only. The file appears under its name when it is whole
 * and on the disk. @returns its size in bytes
 * @throws BackupError FILE_EXISTS, FILE_UNUSABLE, DISK_FULL
 */
export async function writeSealed(file: string, content: AsyncIterable<Buffer>): Promise<number> {
  try {
    return await writeAside(resolve(file), content);
  } catch (error) {
    throw fileError(file, error);
  }
}

async function readEnds(file: string): Promise<{ first: string; last: string; sizeBytes: number }> {
  const handle = await open(file, 'r');
  try {
    const sizeBytes = (await handle.stat()).size;
    const read = async (position: number, length: number): Promise<string> => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, Math.max(0, position));
      return buffer.toString('latin1', 0, bytesRead);
    };
    return { first: await read(0, magic.length), last: await read(sizeBytes - sealBytes, sealBytes), sizeBytes };
  } finally {
    await handle.close();
  }
}

function checkKind(file: string, first: string): void {
  if (first === magic.toString('latin1')) return;
  if (first.startsWith(magicName))
    throw new BackupError('NEWER_BACKUP', `The backup ${file} has a newer format than this version can read.`, {
      advice: 'Restore it with the version that made it, or a newer one.',
    });
  throw new BackupError('NOT_A_BACKUP', `The file ${file} is not a backup of this product.`, {
    advice: 'Choose a file that `svc backup` wrote.',
  });
}

async function hashWithoutSeal(file: string, sizeBytes: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { end: sizeBytes - sealBytes - 1, highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function check(file: string): Promise<number> {
  const { first, last, sizeBytes } = await readEnds(file);
  checkKind(file, first);
  const whole =
    sizeBytes > magic.length + sealBytes && last === `${sealPrefix}${await hashWithoutSeal(file, sizeBytes)}\n`;
  if (!whole)
    throw new BackupError('DAMAGED', `The backup ${file} is incomplete or was changed after it was written.`, {
      advice: 'Use another copy of the file, or another backup.',
    });
  return sizeBytes;
}

/**
 * Reads all of the file and compares it with its seal.
 * @returns its size in bytes
 * @throws BackupError NOT_A_BACKUP, NEWER_BACKUP, DAMAGED, FILE_UNUSABLE
 */
export async function checkSeal(file: string): Promise<number> {
  try {
    return await check(file);
  } catch (error) {
    throw fileError(file, error);
  }
}

/** The content of a file whose seal was checked. */
export async function* readSealed(file: string, sizeBytes: number): AsyncGenerator<Buffer> {
  const source = createReadStream(file, { start: magic.length, end: sizeBytes - sealBytes - 1 });
  const plain = createZstdDecompress();
  const reading = pipeline(source, plain);
  try {
    for await (const chunk of plain) yield chunk as Buffer;
    await reading;
  } finally {
    plain.destroy();
    // The reader's own failure is what matters; stopping early is none.
    await reading.catch(() => undefined);
  }
}
