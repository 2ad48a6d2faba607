import type { Transferable } from 'node:worker_threads';
import { startWorker } from '../threads/start-worker.js';
import { Thread } from '../threads/thread.js';
import { EXTRACTION, type Extraction, type ExtractionRequest, type TrackedText } from './extraction.js';

export interface TextExtractorsOptions {
  /** Files read at the same time that may take long, each in a thread of its own. */
  readonly threads: number;
  /** Module of the thread; another one in specs. */
  readonly entry?: URL;
  readonly timeoutMs?: number;
  readonly heapMegabytes?: number;
}

/** What is new and soon garbage: without a limit it takes several times as much. */
const YOUNG_MEGABYTES = 16;

type Request = ExtractionRequest | readonly TrackedText[];
type ExtractorThread = Thread<Request, readonly Extraction[]>;

/**
 * Takes the text out of files, apart from the main thread. A thread that takes too long, or dies of a file, is
 * replaced; the file counts as failed. Quick requests have a thread of their own.
 */
export class TextExtractors {
  readonly threads: number;
  private readonly slow: Lane;
  private readonly quick: Lane;
  private readonly timeoutMs: number;

  constructor({
    threads,
    entry = new URL('./extract-worker.js', import.meta.url),
    timeoutMs = EXTRACTION.timeoutMs,
    heapMegabytes = EXTRACTION.heapMegabytes,
  }: TextExtractorsOptions) {
    const start = () =>
      startWorker(entry, {
        resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
      });
    this.threads = threads;
    this.slow = new Lane(Array.from({ length: threads }, () => new Thread(start)));
    this.quick = new Lane([new Thread(start)]);
    this.timeoutMs = timeoutMs;
  }

  /** Never rejects. The handle is not the caller's any more. */
  async extract(request: ExtractionRequest): Promise<Extraction> {
    try {
      const [extraction] = await this.ask(request.isQuick ? this.quick : this.slow, request, [request.handle]);
      if (!extraction) throw new Error('The worker thread did not answer');
      return extraction;
    } catch (error) {
      // Still ours when the thread was closed already.
      await request.handle.close();
      return failed(error);
    }
  }

  /** Reads small tracked files together. One answer for each; none when the thread died or was replaced. Never rejects. */
  async extractTracked(files: readonly TrackedText[]): Promise<readonly Extraction[]> {
    try {
      return await this.ask(this.quick, files, []);
    } catch {
      // Which of them it was is found out by reading one by one.
      return [];
    }
  }

  /** Ends all threads; the next file starts one again. */
  async rest(): Promise<void> {
    await Promise.all(this.all.map((thread) => thread.end()));
  }

  /** Ends all threads for good. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((thread) => thread.close()));
  }

  private async ask(lane: Lane, request: Request, transfer: readonly Transferable[]): Promise<readonly Extraction[]> {
    const thread = await lane.take();
    const timer = setTimeout(() => void thread.end(), this.timeoutMs);
    try {
      return await thread.ask(request, transfer);
    } finally {
      clearTimeout(timer);
      lane.give(thread);
    }
  }

  private get all(): readonly ExtractorThread[] {
    return [...this.quick.threads, ...this.slow.threads];
  }
}

function failed(error: unknown): Extraction {
  const problem = error instanceof Error ? error.message : String(error);
  return { state: 'failed', sha256: null, text: null, words: null, problem };
}

/** Threads that read one file each, in the order in which they are asked for. */
class Lane {
  private readonly free: ExtractorThread[];
  private readonly queue: ((thread: ExtractorThread) => void)[] = [];

  constructor(readonly threads: readonly ExtractorThread[]) {
    this.free = [...threads];
  }

  take(): Promise<ExtractorThread> {
    const thread = this.free.pop();
    if (thread) return Promise.resolve(thread);
    return new Promise((resolve) => this.queue.push(resolve));
  }

  give(thread: ExtractorThread): void {
    const next = this.queue.shift();
    if (next) next(thread);
    else this.free.push(thread);
  }
}
