/** Promises under way, so that a drain can wait for them. */
export class Work {
  private readonly pending = new Set<Promise<unknown>>();

  get size(): number {
    return this.pending.size;
  }

  /** The promise must not reject. */
  add(promise: Promise<unknown>): void {
    this.pending.add(promise);
    void promise.finally(() => this.pending.delete(promise));
  }

  /** Resolves with true when nothing is under way, false when that took too long. */
  async idle(withinMs: number): Promise<boolean> {
    const deadlineAtMs = performance.now() + withinMs;
    while (this.pending.size > 0) {
      const left = deadlineAtMs - performance.now();
      if (left <= 0 || !(await within(Promise.all(this.pending), left))) return false;
    }
    return true;
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
