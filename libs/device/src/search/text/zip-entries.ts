import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { EXTRACTION } from './extraction.js';

export interface ZipReading {
  readonly wants: (name: string) => boolean;
  /** Asked before each entry; true ends the reading. */
  readonly isEnough: () => boolean;
  readonly read: (name: string, chunks: AsyncIterable<Uint8Array>) => Promise<void>;
}

/**
 * Reads entries of a zip file one after another, and no more bytes than the limit whatever the file says of itself.
 * @throws when it is damaged or unpacks to too much
 */
export async function readZip(bytes: Buffer, { wants, isEnough, read }: ZipReading): Promise<void> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, validateEntrySizes: true });
  const budget = { left: EXTRACTION.unpackedBytes };
  let entries = 0;
  for await (const entry of zip.eachEntry()) {
    entries += 1;
    if (entries > EXTRACTION.entries) throw new Error(`The bundle has more than ${EXTRACTION.entries} entries`);
    if (isEnough()) return;
    if (wants(entry.fileName)) await read(entry.fileName, chunksOf(zip, entry, budget));
  }
}

async function* chunksOf(zip: ZipFile, entry: Entry, budget: { left: number }): AsyncGenerator<Uint8Array> {
  const stream = await zip.openReadStreamPromise(entry);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      budget.left -= chunk.length;
      if (budget.left < 0) throw new Error(`The bundle unpacks to more than ${EXTRACTION.unpackedBytes} bytes`);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
}
