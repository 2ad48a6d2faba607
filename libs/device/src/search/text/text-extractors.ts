import { startWorker } from '../threads/start-worker.js';
import { Thread } from '../threads/thread.js';
import { EXTRACTION, type Extraction, type ExtractionRequest } from './extraction.js';

export interface TextExtractorsOptions {
  /** Files read at the same time, each in a thread of its own. */
  readonly threads: number;
  /** Module of the thread; another one in specs. */
  readonly entry?: URL;
  readonly timeoutMs?: number;
  readonly heapMegabytes?: number;
}

/** What is new and soon garbage: without a limit it takes several times as much. */
const YOUNG_MEGABYTES = 16;

type ExtractorThread = Thread<ExtractionRequest, Extraction>;

/**
 * Takes the text out of files, apart from the main thread. A thread that takes too long, or dies of a file, is
 * replaced; the file counts as failed.
 */
export class TextExtractors {
  readonly threads: number;
  private readonly free: ExtractorThread[];
  private readonly queue: ((thread: ExtractorThread) => void)[] = [];
  private readonly all: readonly ExtractorThread[];
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
    this.all = Array.from({ length: threads }, () => new Thread<ExtractionRequest, Extraction>(start));
    this.free = [...this.all];
    this.timeoutMs = timeoutMs;
  }

  /** Never rejects. The handle is not the caller's any more. */
  async extract(request: ExtractionRequest): Promise<Extraction> {
    const thread = await this.take();
    const timer = setTimeout(() => void thread.end(), this.timeoutMs);
    try {
      return await thread.ask(request, [request.handle]);
    } catch (error) {
      // Still ours when the thread was closed already.
      await request.handle.close();
      const problem = error instanceof Error ? error.message : String(error);
      return { state: 'failed', sha256: null, text: null, words: null, problem };
    } finally {
      clearTimeout(timer);
      this.give(thread);
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

  private take(): Promise<ExtractorThread> {
    const thread = this.free.pop();
    if (thread) return Promise.resolve(thread);
    return new Promise((resolve) => this.queue.push(resolve));
  }

  private give(thread: ExtractorThread): void {
    const next = this.queue.shift();
    if (next) next(thread);
    else this.free.push(thread);
  }
}
