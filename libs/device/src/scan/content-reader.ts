import type { ReadFile } from '@workspace-graph/domain';
import { mimeTypeOf } from '../paths/content.js';
import { timesOf } from '../paths/stamp.js';
import type { SeenContent } from '../records/tracked-files.js';
import type { MirrorRow } from '../store/device-store.js';
import { packStat, type ReadOutcome } from './disk-read.js';
import type { WalkedFile } from './disk-walk.js';
import type { ScanThreads } from './scan-threads.js';

/** Content that was read, with what its file looked like then. */
export interface ScannedContent extends SeenContent {
  readonly onDisk: string;
  /** As `packStat`. */
  readonly stat: string;
}

export type Scanned = ReadFile<ScannedContent>;

/** What a reader is told and where it leaves what it could not read. */
export interface ReaderOptions {
  readonly row: MirrorRow;
  readonly again: Map<string, string>;
  readonly failures: Map<string, string>;
  readonly progress: { toRead: number };
}

const FILES_PER_READ = 256;
const BYTES_PER_READ = 8 * 1_048_576;
const READS_AT_ONCE = 8;
/** File systems stamp changes by a clock that stands still for some milliseconds, simple ones for two seconds. */
const CLOCK_MS = 50;
const COARSE_CLOCK_MS = 2_000;
const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_MS = 1_000_000n;

/** Reads the files that a scan found changed; what it cannot read is left for another look or told as a failure. */
export class ContentReader {
  /** Read so soon after a change that the next one could leave the stamp as it is, with that stamp. */
  readonly racy = new Map<string, string>();

  constructor(
    private readonly threads: ScanThreads,
    private readonly options: ReaderOptions,
  ) {}

  /** Reads files in several threads at once, some batches ahead of whoever takes them. */
  async *readAll(files: readonly WalkedFile[]): AsyncGenerator<Scanned[]> {
    const batches = batchesOf(files);
    const running: Promise<Scanned[]>[] = [];
    try {
      for (const batch of batches) {
        const reading = this.readBatch(batch);
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

  private async readBatch(files: readonly WalkedFile[]): Promise<Scanned[]> {
    const startedMs = Date.now();
    const outcomes = await this.threads.read({ root: this.options.row.path, files });
    this.options.progress.toRead -= files.length;
    return files.flatMap((file, index) => {
      const seen = this.contentOf(file, outcomes[index], startedMs);
      return seen ? [{ path: file.path, seen }] : [];
    });
  }

  private contentOf(file: WalkedFile, outcome: ReadOutcome | undefined, startedMs: number): ScannedContent | null {
    switch (outcome?.state) {
      case 'read': {
        const isRacy = mayChangeUnseen(file, startedMs);
        if (isRacy) this.racy.set(file.path, file.stamp);
        return {
          sha256: outcome.sha256,
          sizeBytes: outcome.sizeBytes,
          mimeType: mimeTypeOf(file.path),
          modifiedAt: timeOf(file.mtimeMs),
          stamp: isRacy ? null : file.stamp,
          inode: file.inode,
          onDisk: file.onDisk,
          stat: packStat(file.stamp, file.inode),
        };
      }
      case 'failed':
        this.options.failures.set(file.path, `It cannot be read (${outcome.code}).`);
        return null;
      case 'changed':
      case undefined:
        this.options.again.set(file.path, '');
        return null;
    }
  }
}

async function takeFirst(running: Promise<Scanned[]>[]): Promise<Scanned[]> {
  return (await running.shift()) ?? [];
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
