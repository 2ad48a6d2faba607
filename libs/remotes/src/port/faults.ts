import { setTimeout as sleep } from 'node:timers/promises';

/** How long the end of a write waits until what it left is removed, by a server that may be silent. */
const CLEARED_WITHIN_MS = 5_000;

/** A draft that nobody has written to for so long belongs to a process that did not live to end it. */
export const ABANDONED_DRAFT_MS = 24 * 60 * 60_000;
/** The same of an upload that may be gone on with: for as long as Dropbox keeps one. */
export const ABANDONED_UPLOAD_MS = 7 * ABANDONED_DRAFT_MS;

/** Passes a stream to a client that would tell its fault as one of the network, and remembers the fault. */
export class NotedStream {
  private fault: { readonly error: unknown } | null = null;

  constructor(private readonly bytes: AsyncIterable<Uint8Array>) {}

  async *passing(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.bytes;
    } catch (error) {
      this.fault = { error };
      throw error;
    }
  }

  /** @throws what the stream threw, if it did */
  rethrow(): void {
    if (this.fault) throw this.fault.error;
  }
}

/** Removes what a write left, and waits for it for a moment. What stays is seen by nobody. */
export async function cleared(work: () => Promise<unknown>): Promise<void> {
  await Promise.race([work().catch(() => undefined), sleep(CLEARED_WITHIN_MS, undefined, { ref: false })]);
}
