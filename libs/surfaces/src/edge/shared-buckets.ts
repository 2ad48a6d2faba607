import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, Secret } from '@workspace-graph/platform';
import { Redis } from 'ioredis';
import type { TokenBuckets } from './token-buckets.js';

/**
 * Takes tokens out of buckets, and answers what each is left with. What gateways took at the same moment can be more than
 * there was: that is owed, so that the limit holds in the long run.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left = {}
for i, key in ipairs(KEYS) do
  local most, count = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local bucket = redis.call('HMGET', key, 'tokens', 'at')
  local passed = math.max(0, now - tonumber(bucket[2] or now))
  local tokens = math.min(most, tonumber(bucket[1] or most) + passed * most / 60000)
  tokens = math.max(-most, tokens - count)
  redis.call('HSET', key, 'tokens', tokens, 'at', now)
  redis.call('PEXPIRE', key, 120000)
  left[i] = tostring(tokens)
end
return left`;

/** Without an answer for so long, Redis is taken for away. */
const ANSWER_MS = 1_000;
const PAUSE_MS = 500;
/** Buckets of one call, and most that wait for the next. */
const BATCH = 500;
const MOST_WAITING = 10_000;
const PREFIX = 'svc:limit:';

interface Taken {
  readonly buckets: TokenBuckets;
  readonly key: string;
  count: number;
}

export interface SharedBucketsOptions {
  readonly url: Secret;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/**
 * The buckets that all gateways take from, in Redis. No request waits for them: each gateway decides by its own buckets,
 * which follow the shared ones a moment later. While Redis is away, slow or frozen, they are on their own.
 */
export class SharedBuckets {
  private readonly redis: Redis;
  private taken = new Map<string, Taken>();
  private sending: Promise<void> | undefined;
  private isUsable = true;
  private isStopped = false;

  constructor(private readonly options: SharedBucketsOptions) {
    this.redis = new Redis(options.url.reveal(), {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: ANSWER_MS,
      commandTimeout: ANSWER_MS,
      socketTimeout: 2 * ANSWER_MS,
      retryStrategy: () => PAUSE_MS,
    });
    // What is wrong shows when something is sent.
    this.redis.on('error', () => undefined);
  }

  /** Makes buckets follow those of the same name at every gateway. */
  share(name: string, buckets: TokenBuckets): void {
    buckets.onTaken = (key) => this.count(`${PREFIX}${name}:${key}`, buckets, key);
  }

  stop(): void {
    this.isStopped = true;
    this.taken.clear();
    this.redis.disconnect();
  }

  private count(id: string, buckets: TokenBuckets, key: string): void {
    const taken = this.taken.get(id);
    if (taken) taken.count += 1;
    else if (this.taken.size < MOST_WAITING && !this.isStopped) this.taken.set(id, { buckets, key, count: 1 });
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
    });
  }

  private async sendAll(): Promise<void> {
    while (this.taken.size > 0) {
      const batch = [...this.taken].slice(0, BATCH);
      for (const [id] of batch) this.taken.delete(id);
      await this.send(batch).then(
        () => this.report(true),
        (reason: unknown) => this.report(false, reason),
      );
      if (!this.isUsable) await sleep(PAUSE_MS, undefined, { ref: false });
    }
  }

  private async send(batch: readonly (readonly [string, Taken])[]): Promise<void> {
    if (this.redis.status !== 'ready') await once(this.redis, 'ready', { signal: AbortSignal.timeout(ANSWER_MS) });
    const ids = batch.map(([id]) => id);
    const amounts = batch.flatMap(([, { buckets, count }]) => [buckets.perMinute, count]);
    const left = (await this.redis.eval(TAKE, ids.length, ...ids, ...amounts)) as string[];
    for (const [index, [id, { buckets, key }]] of batch.entries())
      buckets.lower(key, Number(left[index]) - (this.taken.get(id)?.count ?? 0));
  }

  private report(isUsable: boolean, err?: unknown): void {
    if (isUsable === this.isUsable || this.isStopped) return;
    this.isUsable = isUsable;
    const { logger } = this.options;
    if (isUsable) logger.info({}, 'rate limits are shared with the other gateways again');
    else logger.warn({ err }, 'Redis cannot be used: this gateway counts its rate limits on its own');
  }
}
