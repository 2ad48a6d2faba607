import type { CallOptions } from './options.js';

/**
 * Passes a stream on until the signal is aborted, also while the stream keeps it waiting.
 * @throws the reason of the signal; whatever the stream throws
 */
export async function* abortable(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  if (!signal) {
    yield* bytes;
    return;
  }
  const iterator = bytes[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  aborted.promise.catch(() => undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted.promise]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    // A generator that waits ends only when its wait does: nobody waits for that.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
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
