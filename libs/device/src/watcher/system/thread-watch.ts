import { startWorker } from '../../search/threads/start-worker.js';
import { Thread } from '../../search/threads/thread.js';
import type { SystemWatch, WatchedFolder, WatchNews, WatchOrder } from './system-watch.js';
import type { TreeNews, TreeRequest } from './tree-messages.js';

/** What is new and soon garbage: without a limit it takes several times as much. */
const YOUNG_MEGABYTES = 4;

/** Watches folders one by one in a worker thread, so that no storm of events holds anything else up. */
export class ThreadWatch implements SystemWatch {
  private readonly thread = new Thread<TreeRequest, unknown>(() =>
    startWorker(new URL('./tree-worker.js', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    }),
  );
  private readonly takers = new Map<number, (news: WatchNews) => void>();
  private opened = 0;
  private asking: Promise<void> | null = null;
  private ending: Promise<void> = Promise.resolve();

  async open({ root, others }: WatchOrder, take: (news: WatchNews) => void): Promise<WatchedFolder> {
    await this.ending;
    const id = ++this.opened;
    this.takers.set(id, take);
    this.asking ??= this.ask();
    try {
      await this.thread.ask({ kind: 'open', id, root, others });
    } catch (error) {
      await this.drop(id);
      throw error;
    }
    return {
      refresh: async () => void (await this.thread.ask({ kind: 'refresh', id })),
      close: () => this.drop(id),
    };
  }

  async close(): Promise<void> {
    this.takers.clear();
    this.ending = this.end();
    await this.ending;
  }

  private async drop(id: number): Promise<void> {
    if (!this.takers.delete(id)) return;
    if (this.takers.size === 0) await this.close();
    else await this.thread.ask({ kind: 'close', id });
  }

  private async end(): Promise<void> {
    await this.thread.end();
    await this.asking;
  }

  /** Asks for news as long as somebody wants them. */
  private async ask(): Promise<void> {
    try {
      while (this.takers.size > 0) this.notify((await this.thread.ask({ kind: 'next' })) as TreeNews[]);
    } catch (error) {
      this.fail(error);
    } finally {
      this.asking = null;
    }
  }

  private notify(news: readonly TreeNews[]): void {
    for (const { id, changed, error } of news)
      this.takers.get(id)?.({ changed, unsure: [], error: error === null ? null : new Error(error) });
  }

  /** The thread is gone, and every watch with it. */
  private fail(reason: unknown): void {
    const error = reason instanceof Error ? reason : new Error(String(reason));
    const takers = [...this.takers.values()];
    this.takers.clear();
    for (const take of takers) take({ changed: [''], unsure: [], error });
  }
}
