import type { Transferable, Worker } from 'node:worker_threads';

export interface Asked {
  readonly id: number;
  readonly request: unknown;
}

export type Answered =
  | { readonly id: number; readonly reply: unknown }
  | { readonly id: number; readonly error: string };

interface Waiting {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Questions to a worker thread. It starts with the first one, and again after it died or was ended, until it is closed. */
export class Thread<Request, Reply> {
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;
  private isClosed = false;

  constructor(private readonly start: () => Worker) {}

  /** Rejects when the worker throws, dies or is ended meanwhile. */
  ask(request: Request, transfer: readonly Transferable[] = []): Promise<Reply> {
    if (this.isClosed) return Promise.reject(new Error('The worker thread is closed'));
    const worker = this.running();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.asked;
    this.waiting.set(id, { resolve, reject });
    worker.postMessage({ id, request } satisfies Asked, transfer);
    return promise as Promise<Reply>;
  }

  /** Ends the worker, whatever it does; what was asked and not answered is rejected. */
  async end(): Promise<void> {
    const { worker } = this;
    this.worker = null;
    this.fail(new Error('The worker thread was ended'));
    await worker?.terminate();
  }

  /** Ends the worker for good. */
  close(): Promise<void> {
    this.isClosed = true;
    return this.end();
  }

  private running(): Worker {
    if (this.worker) return this.worker;
    const worker = this.start();
    this.worker = worker;
    worker.on('message', (answered: Answered) => this.settle(answered));
    worker.on('error', (error) => this.lose(worker, error));
    worker.on('exit', (code) => this.lose(worker, new Error(`The worker thread ended with ${code}`)));
    return worker;
  }

  private settle(answered: Answered): void {
    const waiting = this.waiting.get(answered.id);
    this.waiting.delete(answered.id);
    if ('error' in answered) waiting?.reject(new Error(answered.error));
    else waiting?.resolve(answered.reply);
  }

  private lose(worker: Worker, error: unknown): void {
    if (this.worker !== worker) return;
    this.worker = null;
    this.fail(error instanceof Error ? error : new Error(String(error)));
  }

  private fail(error: Error): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}
