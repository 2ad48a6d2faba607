import { setTimeout as sleep } from 'node:timers/promises';
import { Secret } from '@workspace-graph/platform';
import { type RedisServer, startRedis } from '@workspace-graph/testing';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { RateLimiter } from './rate-limiter.js';
import { SharedBuckets } from './shared-buckets.js';

const PATH = '/no/such/route';
/** So few that none flows in while a test runs, not even on a slow machine. */
const LIMIT = 20;
const ALONE = 'Redis cannot be used: this gateway counts its rate limits on its own';
const AGAIN = 'rate limits are shared with the other gateways again';

let redis: RedisServer;
let gateways: EdgeHarness[];
beforeEach(async () => {
  redis = await startRedis({ own: true });
  gateways = [];
});
afterEach(async () => {
  for (const gateway of gateways) await gateway.close();
  await redis.stop();
});

async function startGateway(): Promise<EdgeHarness> {
  const gateway = await startEdge({ settings: { requestsPerMinute: LIMIT, redisUrl: new Secret(redis.url) } });
  gateways.push(gateway);
  return gateway;
}

/** Asks until it is refused. Answers how often it was not. */
async function askUntilRefused(gateway: EdgeHarness): Promise<number> {
  for (let count = 0; ; count += 1) {
    const response = await gateway.fetch(PATH);
    await response.text();
    if (response.status === 429) return count;
    // What others took is known a moment after a request.
    await sleep(20);
  }
}

function said(gateway: EdgeHarness, message: string): number {
  return gateway.log.filter((line) => line.includes(message)).length;
}

/** Asks on: what is wrong with Redis shows when something is sent. */
async function untilSaid(gateway: EdgeHarness, message: string): Promise<void> {
  for (const endMs = Date.now() + 60_000; said(gateway, message) === 0; await sleep(50)) {
    if (Date.now() > endMs) throw new Error(`Not said: ${message}\n${gateway.log.join('')}`);
    await (await gateway.fetch(PATH, { token: gateway.tokens.read })).text();
  }
}

describe('gateways with one Redis', () => {
  it('hold one limit together [edge.rate-limit.per-address]', async () => {
    const [first, second] = [await startGateway(), await startGateway()];
    expect(await askUntilRefused(first)).toBeGreaterThanOrEqual(LIMIT);

    expect(await askUntilRefused(second)).toBeLessThan(LIMIT / 2);
    expect([said(first, ALONE), said(second, ALONE)]).toEqual([0, 0]);
  });

  it('hold one credential back everywhere and leave the others alone [edge.rate-limit.per-credential]', async () => {
    const logger = { info: () => undefined, warn: () => undefined };
    const shared = [1, 2].map(() => new SharedBuckets({ url: new Secret(redis.url), logger }));
    const [first, second] = shared.map((buckets) => new RateLimiter({ requestsPerMinute: LIMIT, shared: buckets }));
    for (let count = 0; count < LIMIT; count += 1) expect(first?.takeKnown('busy')).toBeUndefined();
    let passed = 0;
    for (; second?.takeKnown('busy') === undefined; passed += 1) await sleep(20);

    expect(passed).toBeLessThan(LIMIT / 2);
    expect(second.takeKnown('calm')).toBeUndefined();
    for (const buckets of shared) buckets.stop();
  });

  it('count alone while it is frozen, say so once, and share again when it answers', async () => {
    const gateway = await startGateway();
    await gateway.fetch(PATH);
    await redis.kill('SIGSTOP');
    try {
      expect(await askUntilRefused(gateway)).toBeGreaterThanOrEqual(LIMIT - 1);
      await untilSaid(gateway, ALONE);
    } finally {
      await redis.kill('SIGCONT');
    }
    await untilSaid(gateway, AGAIN);
    expect([said(gateway, ALONE), said(gateway, AGAIN)]).toEqual([1, 1]);
  });

  it('work while it is away, from the start on, and are ready', async () => {
    await redis.stop();
    const gateway = await startGateway();
    expect(await askUntilRefused(gateway)).toBeGreaterThanOrEqual(LIMIT);
    expect((await gateway.fetch('/health/live')).status).toBe(200);
    await untilSaid(gateway, ALONE);
    expect(said(gateway, ALONE)).toBe(1);
  });

  it('share again after it was killed and came back', async () => {
    const [first, second] = [await startGateway(), await startGateway()];
    await first.fetch(PATH);
    await redis.kill('SIGKILL');
    await first.fetch(PATH);
    await untilSaid(first, ALONE);
    await redis.restart();
    await untilSaid(first, AGAIN);
    await askUntilRefused(first);
    expect(await askUntilRefused(second)).toBeLessThan(LIMIT / 2);
  });
});
