interface Bucket {
  tokens: number;
  atMs: number;
}

/** Token buckets by key, as many as `maxKeys`; the least recently used one makes room for a new one. */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>();
  private readonly perMs: number;
  /** Called with the key of each token that was taken. */
  onTaken: ((key: string) => void) | undefined;

  /** @param perMinute tokens that flow in during a minute, and most that a bucket holds */
  constructor(
    readonly perMinute: number,
    private readonly maxKeys: number,
    private readonly now: () => number,
  ) {
    this.perMs = perMinute / 60_000;
  }

  get size(): number {
    return this.buckets.size;
  }

  /** Takes one token. Answers 0, or when there is none the milliseconds until there will be. */
  take(key: string): number {
    const bucket = this.filled(key);
    if (bucket.tokens < 1) return (1 - bucket.tokens) / this.perMs;
    bucket.tokens -= 1;
    this.onTaken?.(key);
    return 0;
  }

  /** As `take`, without taking. */
  wait(key: string): number {
    if (!this.buckets.has(key)) return 0;
    const { tokens } = this.filled(key);
    return tokens < 1 ? (1 - tokens) / this.perMs : 0;
  }

  /** Leaves a bucket at most so many tokens, fewer than none where some are owed. */
  lower(key: string, tokens: number): void {
    const bucket = this.filled(key);
    bucket.tokens = Math.min(bucket.tokens, tokens);
  }

  private filled(key: string): Bucket {
    const nowMs = this.now();
    const bucket = this.buckets.get(key) ?? { tokens: this.perMinute, atMs: nowMs };
    bucket.tokens = Math.min(this.perMinute, bucket.tokens + (nowMs - bucket.atMs) * this.perMs);
    bucket.atMs = nowMs;
    this.buckets.delete(key);
    this.buckets.set(key, bucket);
    if (this.buckets.size > this.maxKeys) this.dropOldest();
    return bucket;
  }

  private dropOldest(): void {
    const oldest = this.buckets.keys().next();
    if (!oldest.done) this.buckets.delete(oldest.value);
  }
}
