import { parentPort, type Transferable } from 'node:worker_threads';
import type { Answered, Asked } from './thread.js';

export interface Served<Reply> {
  readonly reply: Reply;
  /** Buffers of the reply that need no copy. */
  readonly transfer?: readonly Transferable[];
}

/** Answers the questions of `Thread`, in a worker thread. */
export function serveThread<Request, Reply>(
  answer: (request: Request) => Served<Reply> | Promise<Served<Reply>>,
): void {
  const port = parentPort;
  if (!port) throw new Error('This module runs in a worker thread');
  const reply = async ({ id, request }: Asked): Promise<void> => {
    try {
      const served = await answer(request as Request);
      port.postMessage({ id, reply: served.reply } satisfies Answered, served.transfer ?? []);
    } catch (error) {
      const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
      port.postMessage({ id, error: told } satisfies Answered);
    }
  };
  port.on('message', (asked: Asked) => void reply(asked));
}
