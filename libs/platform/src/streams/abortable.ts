/**
 * Passes a stream on until the signal is aborted, also while the stream keeps it waiting.
 * @throws the reason of the signal; whatever the stream throws
 */
export async function* abortable<T>(bytes: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  const iterator = bytes[Symbol.asyncIterator]();
  let end: (reason: unknown) => void = ignore;
  const abort = (): void => end(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      // A promise of its own for each part: one that lasts as long as the stream would hold all of its parts.
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        end = reject;
        iterator.next().then(resolve, reject);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    // A generator that waits ends only when its wait does: nobody waits for that.
    void Promise.resolve(iterator.return?.()).catch(ignore);
  }
}

function ignore(): void {
  // Nothing hangs on it.
}
