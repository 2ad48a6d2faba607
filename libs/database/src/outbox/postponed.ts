/** An event that has not been tried again so long after its wait was published by another instance. */
const FORGOTTEN_AFTER_MS = 600_000;

/** Events that were not taken by the bus: each waits longer after each failure, and lets the others pass. */
export class Postponed {
  private readonly waiting = new Map<string, { failures: number; untilMs: number }>();

  /** @returns for how many milliseconds the event waits now */
  add(id: string): number {
    const failures = (this.waiting.get(id)?.failures ?? 0) + 1;
    const waitMs = Math.min(500 * 2 ** failures, 60_000);
    this.waiting.set(id, { failures, untilMs: performance.now() + waitMs });
    return waitMs;
  }

  forget(id: string): void {
    this.waiting.delete(id);
  }

  /** Events that are not to be tried yet. */
  ids(): string[] {
    const nowMs = performance.now();
    for (const [id, { untilMs }] of this.waiting) if (untilMs + FORGOTTEN_AFTER_MS < nowMs) this.waiting.delete(id);
    return [...this.waiting].filter(([, { untilMs }]) => untilMs > nowMs).map(([id]) => id);
  }
}
