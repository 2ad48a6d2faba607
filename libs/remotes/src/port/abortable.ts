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
