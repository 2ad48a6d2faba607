import { join } from 'node:path';
import { ServiceError } from '@workspace-graph/contracts';
import { locate, openForReading } from '@workspace-graph/disk';
import type { ReadLane } from '@workspace-graph/domain';
import type { DeviceParts } from '../device-parts.js';
import type { Mirrors } from '../mirrors/mirrors.js';
import type { FileState } from '../store/device-store.js';
import type { ReadFile } from './index/index-messages.js';
import { EXTRACTION, type Extraction, type TrackedText } from './text/extraction.js';
import type { TextExtractors } from './text/text-extractors.js';

/** `slow` is for the other lane; null for a file that is gone or cannot be opened now. */
export type ReadText = ReadFile | 'slow' | null;

/** What is read together: little enough to be there in a moment, and to be held in memory. */
const FILES_PER_BATCH = 32;
const BYTES_PER_BATCH = 1_048_576;

/** Reads the texts of tracked files for the search index. */
export class FileTexts {
  constructor(
    private readonly parts: DeviceParts,
    private readonly mirrors: Mirrors,
    private readonly extractors: TextExtractors,
    /** Told of nodes with files that cannot be opened now. */
    private readonly unreadable: (nodeId: string) => void,
  ) {}

  /** The first of these files, as many as are read together: of those that may take long one. */
  batchOf(fileIds: Iterable<string>, lane: ReadLane): string[] {
    const first = [...take(fileIds, lane === 'quick' ? FILES_PER_BATCH : 1)];
    const states = this.parts.store.files(first);
    let bytes = 0;
    const fits = (fileId: string, index: number): boolean => {
      bytes += states.get(fileId)?.sizeBytes ?? 0;
      return index === 0 || bytes <= BYTES_PER_BATCH;
    };
    const end = first.findIndex((fileId, index) => !fits(fileId, index));
    return end < 0 ? first : first.slice(0, end);
  }

  /** Those of small files that lie where they were registered, and as they were; others are to be read one by one. */
  async readTogether(fileIds: readonly string[]): Promise<Map<string, ReadText>> {
    const tracked = [...this.parts.store.files(fileIds).values()].flatMap((state) => this.trackedOf(state));
    if (tracked.length === 0) return new Map();
    const extractions = await this.extractors.extractTracked(tracked.map(({ text }) => text));
    const read = new Map<string, ReadText>();
    for (const [index, { state }] of tracked.entries()) {
      const extraction = extractions[index];
      if (extraction && extraction.state !== 'changed') read.set(state.fileId, this.readOf(state, extraction));
    }
    return read;
  }

  /** Opens a file with care and reads it. */
  async readOne(fileId: string, lane: ReadLane): Promise<ReadText> {
    const state = this.parts.store.file(fileId);
    const mirror = state && this.mirrors.of(state.nodeId);
    if (!mirror || state.isDeleted) return null;
    if (state.sizeBytes > EXTRACTION.fileBytes)
      return { fileId, sha256: state.sha256, state: 'too_large', text: null, words: null };
    if (lane === 'quick' && state.sizeBytes > EXTRACTION.quickBytes) return 'slow';
    const extraction = await this.extract(mirror.path, state, lane);
    return extraction && this.readOf(state, extraction);
  }

  private trackedOf(state: FileState): { state: FileState; text: TrackedText }[] {
    const { nodeId, path, stamp, inode, isDeleted, sizeBytes } = state;
    const mirror = this.mirrors.of(nodeId);
    if (!mirror || isDeleted || stamp === null || inode === null || sizeBytes > EXTRACTION.quickBytes) return [];
    return [{ state, text: { path: join(mirror.path, path), filename: path, stamp, inode } }];
  }

  private readOf({ fileId, sha256: known }: FileState, extraction: Extraction): ReadText {
    const { text, words, state, sha256, problem } = extraction;
    if (problem !== null) this.parts.logger.debug({ file: fileId, problem }, 'the text of a file could not be read');
    if (state === 'slow') return state;
    return state === 'changed' ? null : { fileId, sha256: sha256 ?? known, state, text, words };
  }

  private async extract(mirrorRoot: string, { nodeId, path }: FileState, lane: ReadLane): Promise<Extraction | null> {
    try {
      const handle = await openForReading(await locate(mirrorRoot, path));
      return await this.extractors.extract({ handle, filename: path, isQuick: lane === 'quick' });
    } catch (error) {
      // A file that is gone is told by who sees it; whatever else the disk says may pass.
      if (!(error instanceof ServiceError && error.code === 'FILE_NOT_FOUND')) {
        this.parts.logger.debug({ err: error, node: nodeId }, 'a file could not be opened for the search index');
        this.unreadable(nodeId);
      }
      return null;
    }
  }
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const item of items) {
    if (taken === count) return;
    taken += 1;
    yield item;
  }
}
