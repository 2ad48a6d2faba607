/** What writers got done. */
export interface Written {
  readonly events: number;
  readonly elapsedMs: number;
}

/** Each writer writes its next batch as soon as the one before is confirmed, until the time is over. */
export async function keepWriting<Writer>(
  writers: readonly Writer[],
  forMs: number,
  batch: number,
  write: (writer: Writer, first: number) => Promise<void>,
): Promise<Written> {
  let events = 0;
  const startedMs = performance.now();
  const writeOn = async (writer: Writer): Promise<void> => {
    do {
      await write(writer, events);
      events += batch;
    } while (performance.now() - startedMs < forMs);
  };
  await Promise.all(writers.map(writeOn));
  return { events, elapsedMs: performance.now() - startedMs };
}
