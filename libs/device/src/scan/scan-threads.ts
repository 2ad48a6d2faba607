import { startWorker } from '../search/threads/start-worker.js';
import { Thread } from '../search/threads/thread.js';
import type { ReadOrder, ReadOutcome } from './disk-read.js';
import type { WalkEnd, WalkOrder, WalkPart } from './disk-walk.js';
import type { ScanRequest } from './scan-worker.js';

/** Threads that read contents; one more walks and looks, so that it never waits behind a large file. */
const READERS = 2;
/** Threads end when there was nothing to do for so long: they hold memory. */
const REST_MS = 5_000;
/** What is new and soon garbage: without a limit it takes several times as much. */
const YOUNG_MEGABYTES = 4;

type ScanThread = Thread<ScanRequest, unknown>;

/** The worker threads of the scanner; they start when they are first needed. */
export class ScanThreads {
  private readonly looking = newThread();
  private readonly reading = Array.from({ length: READERS }, newThread);
  private readonly load = new Map(this.reading.map((thread) => [thread, 0]));
  private walking: Promise<unknown> = Promise.resolve();
  private isEnded = false;
  private asked = 0;
  private rest: NodeJS.Timeout | null = null;
  private resting: Promise<void> = Promise.resolve();

  /** Walks one order after another; `take` gets each part before the next one is looked for. */
  walk(order: WalkOrder, take: (part: WalkPart) => void): Promise<WalkEnd> {
    const work = this.walking.then(() => this.walkIn(this.looking, order, take));
    this.walking = work.catch(() => undefined);
    return work;
  }

  /** The same in a thread that has nothing to read, so that two walks go on at once; without one, after the other. */
  walkBeside(order: WalkOrder, take: (part: WalkPart) => void): Promise<WalkEnd> {
    const idle = this.reading.find((thread) => this.loadOf(thread) === 0);
    return idle ? this.occupy(idle, () => this.walkIn(idle, order, take)) : this.walk(order, take);
  }

  /** Stamp and inode of paths, as `packStat`; null for what is no regular file. */
  async stat(root: string, paths: readonly string[]): Promise<(string | null)[]> {
    return (await this.ask(this.looking, { kind: 'stat', root, paths })) as (string | null)[];
  }

  /** One answer for each file, in their order. */
  async read(order: ReadOrder): Promise<ReadOutcome[]> {
    const thread = this.reading.reduce((a, b) => (this.loadOf(b) < this.loadOf(a) ? b : a));
    return this.occupy(thread, async () => (await this.ask(thread, { kind: 'read', order })) as ReadOutcome[]);
  }

  /** Ends all threads for good; what was asked, and what is asked later, is rejected. */
  async end(): Promise<void> {
    this.isEnded = true;
    if (this.rest) clearTimeout(this.rest);
    await Promise.all([this.resting, this.endAll()]);
  }

  private async walkIn(thread: ScanThread, order: WalkOrder, take: (part: WalkPart) => void): Promise<WalkEnd> {
    for (let request: ScanRequest = { kind: 'walk', order }; ; request = { kind: 'next' }) {
      const part = (await this.ask(thread, request)) as WalkPart;
      take(part);
      if (part.end) return part.end;
    }
  }

  private async occupy<T>(thread: ScanThread, work: () => Promise<T>): Promise<T> {
    this.load.set(thread, this.loadOf(thread) + 1);
    try {
      return await work();
    } finally {
      this.load.set(thread, this.loadOf(thread) - 1);
    }
  }

  private async ask(thread: ScanThread, request: ScanRequest): Promise<unknown> {
    if (this.isEnded) throw new Error('The scanner was ended');
    if (this.rest) clearTimeout(this.rest);
    this.asked += 1;
    try {
      return await thread.ask(request);
    } finally {
      this.asked -= 1;
      this.restLater();
    }
  }

  private restLater(): void {
    if (this.asked > 0 || this.isEnded) return;
    this.rest = setTimeout(() => {
      this.resting = this.endAll();
    }, REST_MS);
  }

  private async endAll(): Promise<void> {
    await Promise.all([this.looking, ...this.reading].map((thread) => thread.end()));
  }

  private loadOf(thread: ScanThread): number {
    return this.load.get(thread) ?? 0;
  }
}

function newThread(): ScanThread {
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MEGABYTES };
  return new Thread(() => startWorker(new URL('./scan-worker.js', import.meta.url), { resourceLimits }));
}
