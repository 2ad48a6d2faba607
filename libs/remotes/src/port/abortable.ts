import type { CallOptions } from './options.js';

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
