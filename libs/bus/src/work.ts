/** Promises under way, so that a drain can wait for them. */
export class Work {
  private underway = 0;
  private quiet: PromiseWithResolvers<void> | undefined;

  get size(): number {
    return this.underway;
  }

  /** The promise must not reject. */
  add(promise: Promise<unknown>): void {
    this.underway += 1;
    void promise.finally(() => this.ended());
  }

  /** Resolves with true when nothing is under way, false when that took too long. */
  async idle(withinMs: number): Promise<boolean> {
    if (this.underway === 0) return true;
    this.quiet ??= Promise.withResolvers();
    return within(this.quiet.promise, withinMs);
  }

  private ended(): void {
    this.underway -= 1;
    if (this.underway > 0) return;
    this.quiet?.resolve();
    this.quiet = undefined;
  }
}

/** True when the promise settled in time. @throws what it rejects with */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
