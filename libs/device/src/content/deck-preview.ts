import { createHash } from 'node:crypto';
import { ServiceError } from '@workspace-graph/contracts';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';

const PREVIEW = 'preview.html';
export const DECK_LIMITS = {
  /** A preview is held in memory while it is answered. */
  previewBytes: 16 * 1_048_576,
  entries: 10_000,
  /** Text compresses some ten times; what unpacks to so much more is made to fill a memory. */
  ratio: 200,
} as const;
const RATIO_COUNTS_FROM_BYTES = 1_048_576;
const ENCRYPTED = 1;

export interface DeckPreview {
  readonly html: Buffer;
  readonly sha256: string;
}

/** Whether a file is a presentation bundle, by its name. */
export function isDeck(filename: string): boolean {
  return /\.deck$/i.test(filename);
}

/**
 * Reads the preview out of a presentation bundle, a zip archive; null for one of an older tool, which has none. The file
 * stays open.
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE for what is no such archive or goes beyond a limit
 */
export async function readPreview(fd: number, path: string): Promise<DeckPreview | null> {
  const refuse = (why: string, cause?: unknown): ServiceError =>
    new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      `${path} cannot be shown as a presentation: ${why}. Request its bytes with raw=true.`,
      { path },
      { cause },
    );
  try {
    const zip = await fromFdPromise(fd, { autoClose: false, lazyEntries: true });
    if (zip.entryCount > DECK_LIMITS.entries) throw refuse(`it has more than ${DECK_LIMITS.entries} entries`);
    const entry = await findEntry(zip);
    if (!entry) return null;
    const problem = problemOf(entry);
    if (problem !== null) throw refuse(problem);
    const html = await unpack(zip, entry);
    return { html, sha256: createHash('sha256').update(html).digest('hex') };
  } catch (error) {
    throw error instanceof ServiceError ? error : refuse('it is not a readable zip archive', error);
  }
}

async function findEntry(zip: ZipFile): Promise<Entry | null> {
  for await (const entry of zip.eachEntry()) if (entry.fileName === PREVIEW) return entry;
  return null;
}

function problemOf({ uncompressedSize, compressedSize, generalPurposeBitFlag }: Entry): string | null {
  if ((generalPurposeBitFlag & ENCRYPTED) !== 0) return 'its preview is encrypted';
  if (uncompressedSize > DECK_LIMITS.previewBytes) return `its preview has more than ${DECK_LIMITS.previewBytes} bytes`;
  if (uncompressedSize < RATIO_COUNTS_FROM_BYTES || uncompressedSize <= compressedSize * DECK_LIMITS.ratio) return null;
  return `its preview is compressed more than ${DECK_LIMITS.ratio} times`;
}

/** The archive library ends a stream that does not keep to the size that was told. */
async function unpack(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
