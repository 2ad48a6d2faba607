import type { SeenContent } from '@workspace-graph/disk';
import { mimeTypeOf, timesOf } from '@workspace-graph/disk';
import type { ReadFile } from '@workspace-graph/domain';
import { packStat, type ReadOutcome } from './disk-read.js';
import type { WalkedFile } from './disk-walk.js';
import type { Findings } from './findings.js';
import type { ScanThreads } from './scan-threads.js';

/** Content that was read, with what its file looked like then. */
export interface ScannedContent extends SeenContent {
  readonly onDisk: string;
  /** As `packStat`. */
  readonly stat: string;
}

export type Scanned = ReadFile<ScannedContent>;

export interface ReadPart extends Findings {
  readonly looked: number;
  readonly read: readonly Scanned[];
}

const FILES_PER_READ = 256;
const BYTES_PER_READ = 8 * 1_048_576;
const READS_AT_ONCE = 8;
/** File systems stamp changes by a clock that stands still for some milliseconds, simple ones for two seconds. */
const CLOCK_MS = 50;
const COARSE_CLOCK_MS = 2_000;
const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_MS = 1_000_000n;

/** Reads the files that a scan found changed, in several threads at once, some batches ahead of whoever takes them. */
export async function* readContents(
  threads: ScanThreads,
  root: string,
  files: readonly WalkedFile[],
): AsyncGenerator<ReadPart> {
  const running: Promise<ReadPart>[] = [];
  try {
    for (const batch of batchesOf(files)) {
      const startedMs = Date.now();
      const reading = threads.read({ root, files: batch }).then((outcomes) => partOf(batch, outcomes, startedMs));
      // What fails before its turn is told then, and is no error that nobody catches meanwhile.
      reading.catch(() => undefined);
      running.push(reading);
      if (running.length < READS_AT_ONCE) continue;
      yield await takeFirst(running);
    }
    while (running.length > 0) yield await takeFirst(running);
  } finally {
    // Whoever stops taking leaves none of them under way.
    await Promise.allSettled(running);
  }
}

function partOf(files: readonly WalkedFile[], outcomes: readonly ReadOutcome[], startedMs: number): ReadPart {
  const read: Scanned[] = [];
  const again: [string, string][] = [];
  const racy: [string, string][] = [];
  const failures: [string, string][] = [];
  for (const [index, file] of files.entries()) {
    const outcome = outcomes[index];
    if (outcome?.state === 'failed') failures.push([file.path, `It cannot be read (${outcome.code}).`]);
    else if (outcome?.state !== 'read') again.push([file.path, '']);
    else {
      const isRacy = mayChangeUnseen(file, startedMs);
      if (isRacy) racy.push([file.path, file.stamp]);
      read.push({ path: file.path, seen: contentOf(file, outcome, isRacy) });
    }
  }
  return { looked: files.length, read, again, racy, failures };
}

function contentOf(
  { path, onDisk, stamp, inode, mtimeMs }: WalkedFile,
  { sha256, sizeBytes }: Extract<ReadOutcome, { state: 'read' }>,
  isRacy: boolean,
): ScannedContent {
  return {
    sha256,
    sizeBytes,
    mimeType: mimeTypeOf(path),
    modifiedAt: timeOf(mtimeMs),
    stamp: isRacy ? null : stamp,
    inode,
    onDisk,
    stat: packStat(stamp, inode),
  };
}

async function takeFirst(running: Promise<ReadPart>[]): Promise<ReadPart> {
  return (await running.shift()) ?? { looked: 0, read: [] };
}

function* batchesOf(files: readonly WalkedFile[]): Generator<WalkedFile[]> {
  let batch: WalkedFile[] = [];
  let bytes = 0;
  for (const file of files) {
    batch.push(file);
    bytes += Number.parseInt(file.stamp, 10);
    if (batch.length < FILES_PER_READ && bytes < BYTES_PER_READ) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Whether a change after the reading could leave the stamp as it is. */
function mayChangeUnseen({ stamp }: WalkedFile, readAtMs: number): boolean {
  return timesOf(stamp).some((timeNs) => {
    const isCoarse = timeNs % NS_PER_SECOND === 0n;
    const ageMs = readAtMs - Number(timeNs / NS_PER_MS);
    return ageMs > -COARSE_CLOCK_MS && ageMs < (isCoarse ? COARSE_CLOCK_MS : CLOCK_MS);
  });
}

/** Times that ISO 8601 cannot write with four digits of a year are of no use to anybody. */
function timeOf(ms: number): string {
  return new Date(ms >= 0 && ms < 253_402_300_800_000 ? ms : 0).toISOString();
}
