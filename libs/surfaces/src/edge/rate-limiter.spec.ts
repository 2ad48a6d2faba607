import { startEdge } from '../../test/edge/edge-harness.js';
import { FAILURES_PER_MINUTE, network, RateLimiter } from './rate-limiter.js';
import { TokenBuckets } from './token-buckets.js';

const PATH = '/no/such/route';

function limiter(requestsPerMinute: number) {
  const clock = { ms: 0 };
  return { clock, limiter: new RateLimiter({ requestsPerMinute, now: () => clock.ms }) };
}

describe('the rate limit', () => {
  it('holds one credential back and leaves the others alone [edge.rate-limit.per-credential]', () => {
    const { limiter: limits, clock } = limiter(60);
    for (let count = 0; count < 60; count += 1) expect(limits.takeKnown('busy')).toBeUndefined();

    expect(limits.takeKnown('busy')).toEqual({ by: 'credential', retryAfterSeconds: 1 });
    expect(limits.takeKnown('calm')).toBeUndefined();
    clock.ms += 1_000;
    expect(limits.takeKnown('busy')).toBeUndefined();
    expect(limits.takeKnown('busy')).toBeDefined();
  });

  it('holds an address without credentials back, not those who are known there [edge.rate-limit.per-address]', () => {
    const { limiter: limits } = limiter(10);
    for (let count = 0; count < 10; count += 1) limits.takeUnknown('10.0.0.1', false);

    expect(limits.takeUnknown('10.0.0.1', false)).toMatchObject({ by: 'address' });
    expect(limits.takeUnknown('10.0.0.2', false)).toBeUndefined();
    expect(limits.takeKnown('somebody')).toBeUndefined();
  });

  it('allows few wrong credentials, then makes the address wait', () => {
    const { limiter: limits, clock } = limiter(100_000);
    for (let count = 0; count < FAILURES_PER_MINUTE; count += 1) {
      expect(limits.takeUnknown('10.0.0.1', true)).toBeUndefined();
      limits.failed('10.0.0.1');
    }

    expect(limits.takeUnknown('10.0.0.1', true)).toMatchObject({ by: 'failures' });
    expect(limits.takeUnknown('10.0.0.1', false)).toBeUndefined();
    clock.ms += 60_000;
    expect(limits.takeUnknown('10.0.0.1', true)).toBeUndefined();
  });

  it('is off at 0', () => {
    const { limiter: limits } = limiter(0);
    for (let count = 0; count < 1_000; count += 1) limits.failed('a');

    expect([limits.takeKnown('a'), limits.takeUnknown('a', true)]).toEqual([undefined, undefined]);
  });

  it('remembers a bounded number of keys, whatever is invented', () => {
    const buckets = new TokenBuckets(10, 100, () => 0);
    for (let count = 0; count < 10_000; count += 1) buckets.take(`key-${count}`);

    expect(buckets.size).toBe(100);
  });

  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('counts the address %s as %s', (address, expected) => {
    expect(network(address)).toBe(expected);
  });

  it('answers 429 with Retry-After and leaves known credentials alone [errors.rate-limited]', async () => {
    const edge = await startEdge({ settings: { requestsPerMinute: 5 } });
    await edge.fetch(PATH, { token: edge.tokens.read });
    const anonymous = [];
    for (let count = 0; count < 6; count += 1) anonymous.push(await edge.fetch(PATH));
    const known = await edge.fetch(PATH, { token: edge.tokens.read });
    await edge.close();

    expect(anonymous.map(({ status }) => status)).toEqual([401, 401, 401, 401, 429, 429]);
    expect(Number(anonymous.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await anonymous.at(-1)?.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(known.status).toBe(404);
  });

  it('never holds back who asks whether the process is alive [edge.health.live-unlimited]', async () => {
    const edge = await startEdge({ settings: { requestsPerMinute: 5 } });
    const wrong = { token: `svc_pat_${'A'.repeat(43)}` };
    for (let count = 0; count < 10; count += 1) await edge.fetch(PATH, wrong);
    const refused = [await edge.fetch(PATH), await edge.fetch(PATH, wrong), await edge.fetch('/health/ready', wrong)];
    const alive = [];
    for (let count = 0; count < 20; count += 1) alive.push(await edge.fetch('/health/live', count % 2 ? wrong : {}));
    await edge.close();

    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(new Set(alive.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
