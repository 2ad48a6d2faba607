import type { Transferable } from 'node:worker_threads';
import type { NotedFile, Term } from '@workspace-graph/domain';
import { startWorker } from '../threads/start-worker.js';
import { Thread } from '../threads/thread.js';
import type { FoundFile, IndexReply, IndexRequest, IndexSearch, ReadFile } from './index-messages.js';

/** What is new and soon garbage: without a limit it takes several times as much. */
const YOUNG_MEGABYTES = 16;

/** The index, in its worker thread. Requests are carried out in the order in which they are made. */
export class IndexThread {
  private readonly thread: Thread<IndexRequest, IndexReply>;
  private rebuilt: () => void = () => undefined;

  constructor(file: string) {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MEGABYTES };
    this.thread = new Thread(() =>
      startWorker(new URL('./index-worker.js', import.meta.url), { data: file, resourceLimits }),
    );
  }

  /** Told when the index was damaged and is a new one: all files are to be noted again. */
  onRebuilt(listener: () => void): void {
    this.rebuilt = listener;
  }

  async note(files: readonly NotedFile[], removed: readonly string[]): Promise<readonly string[]> {
    return (await this.ask({ kind: 'note', files, removed })).toRead;
  }

  async put(files: readonly ReadFile[], comesMore: boolean): Promise<void> {
    const buffers = files.flatMap(({ text, words }) => [text, words].filter((bytes) => bytes !== null));
    await this.ask(
      { kind: 'put', files, comesMore },
      buffers.map((bytes) => bytes.buffer as ArrayBuffer),
    );
  }

  async beginCensus(): Promise<void> {
    await this.ask({ kind: 'begin-census' });
  }

  async endCensus(): Promise<void> {
    await this.ask({ kind: 'end-census' });
  }

  async removeNode(nodeId: string): Promise<void> {
    await this.ask({ kind: 'remove-node', nodeId });
  }

  async search(search: IndexSearch): Promise<readonly FoundFile[]> {
    return (await this.ask({ kind: 'search', search })).found;
  }

  async snippets(fileIds: readonly string[], terms: readonly Term[]): Promise<readonly (string | null)[]> {
    return (await this.ask({ kind: 'snippets', fileIds, terms })).snippets;
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  private async ask(request: IndexRequest, transfer: readonly Transferable[] = []): Promise<IndexReply> {
    const reply = await this.thread.ask(request, transfer);
    if (reply.rebuilt) this.rebuilt();
    return reply;
  }
}
