import { BackupError } from './backup-error.js';

/** The first frame. */
export interface BackupHeader {
  /** UTC, ISO 8601. */
  readonly createdAt: string;
  /** Version of the PostgreSQL that held the data. */
  readonly server: string;
  /** Applied migrations by name, with Prisma's checksums. */
  readonly migrations: readonly { readonly name: string; readonly checksum: string }[];
}

/** Table and columns are quoted as SQL takes them. */
export interface TableStart {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface TableEnd {
  readonly rows: number;
}

export interface SequenceState {
  readonly sequence: string;
  readonly lastValue: string;
  readonly isCalled: boolean;
}

export interface BackupFooter {
  readonly sequences: readonly SequenceState[];
}

/** The content of a backup in its order: header, then each table with its rows as COPY's text, then footer. */
export type Frame =
  | { readonly kind: 'header'; readonly value: BackupHeader }
  | { readonly kind: 'table'; readonly value: TableStart }
  | { readonly kind: 'rows'; readonly value: Buffer }
  | { readonly kind: 'end'; readonly value: TableEnd }
  | { readonly kind: 'footer'; readonly value: BackupFooter };

const letters = { header: 'H', table: 'T', rows: 'R', end: 'E', footer: 'F' } as const satisfies Record<
  Frame['kind'],
  string
>;
const headBytes = 5;
const longestFrameBytes = 1024 * 1024 * 1024;

/** A letter, the length of the content in four bytes, the content: JSON except for rows. */
export function encodeFrame(frame: Frame): Buffer {
  const content = frame.kind === 'rows' ? frame.value : Buffer.from(JSON.stringify(frame.value));
  const head = Buffer.alloc(headBytes);
  head.write(letters[frame.kind], 'latin1');
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

function decodeFrame(letter: string, content: Buffer): Frame {
  if (letter === letters.rows) return { kind: 'rows', value: content };
  const kind = (Object.keys(letters) as Frame['kind'][]).find((name) => letters[name] === letter);
  if (kind === undefined)
    throw new BackupError('DAMAGED', `The backup has a part of an unknown kind (${JSON.stringify(letter)}).`);
  const value: unknown = JSON.parse(content.toString());
  return { kind, value } as Frame;
}

/** Length of the frame that begins here; of its head alone while that is incomplete. */
function frameBytes(held: Buffer): number {
  if (held.length < headBytes) return headBytes;
  const length = held.readUInt32BE(1);
  if (length > longestFrameBytes) throw new BackupError('DAMAGED', 'The backup has a part with an invalid length.');
  return headBytes + length;
}

/** Reads frames from a stream of bytes, holding one frame at a time. */
export async function* decodeFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let parts: Buffer[] = [];
  let heldBytes = 0;
  let neededBytes = headBytes;
  for await (const chunk of source) {
    parts.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < neededBytes) continue;
    let held = Buffer.concat(parts);
    for (neededBytes = frameBytes(held); held.length >= neededBytes; neededBytes = frameBytes(held)) {
      yield decodeFrame(held.toString('latin1', 0, 1), held.subarray(headBytes, neededBytes));
      held = held.subarray(neededBytes);
    }
    parts = [held];
    heldBytes = held.length;
  }
  if (heldBytes > 0) throw new BackupError('DAMAGED', 'The backup ends in the middle of a part.');
}
