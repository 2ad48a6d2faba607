import type { CallOptions } from './options.js';

/**
 * Passes a stream on until the signal is aborted, also while the stream keeps it waiting.
 * @throws the reason of the signal; whatever the stream throws
 */
export async function* abortable(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  const until = signal ? { signal } : {};
  try {
    for (;;) {
      // A promise of its own for each part: one that lasts as long as the stream would hold all of its parts.
      const next = await unlessAborted(until, () => iterator.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // A generator that waits ends only when its wait does: nobody waits for that.
    void Promise.resolve(iterator.return?.()).catch(ignore);
  }
}

export interface Unless<T> extends CallOptions {
  /** Releases what a call answers that was broken off before. */
  readonly unused?: (value: T) => unknown;
}

/** Does something, and ends with the reason of the signal at once, also while a server is silent. */
export async function unlessAborted<T>({ signal, unused }: Unless<T>, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const told = work();
  try {
    return await Promise.race([told, aborted.promise]);
  } catch (error) {
    // What comes after all is nobody's.
    if (signal?.aborted) told.then(unused, ignore).catch(ignore);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

function ignore(): void {
  // Nothing hangs on it.
}
