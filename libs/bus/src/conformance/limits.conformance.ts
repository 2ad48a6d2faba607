import { LIMITS, RawJson, ServiceError } from '@workspace-graph/contracts';
import { DEFAULT_SETTINGS } from '../settings.js';
import { envelope, failureOf, PROBE, pause } from './probes.js';
import type { Stage } from './stage.js';

/** Characters of one, two and four bytes, of a length that no size of a part is a multiple of. */
const SAMPLE = 'abcdefg ř 🐎 ';
/** Tens of megabytes on a machine that has much else to do. */
const LARGE_MS = 100_000;

export function limitScenarios(stage: () => Stage): void {
  it('has the limits of the contracts', () => {
    expect(DEFAULT_SETTINGS).toMatchObject({ requestBytes: LIMITS.busRequestBytes, replyBytes: LIMITS.busReplyBytes });
  });

  it('takes a request of the largest size and refuses the next byte, measured as encoded [bus.payload.too-large]', async () => {
    let calls = 0;
    await stage().server((input) => {
      calls += 1;
      return (input as { text: string }).text.length;
    });
    const room = LIMITS.busRequestBytes - '{"text":""}'.length;
    expect(await stage().ask({ text: 'ř'.repeat(room / 2) })).toBe(Math.floor(room / 2));
    expect(await failureOf(stage().ask({ text: 'ř'.repeat(room / 2 + 1) }))).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      details: { limit_bytes: LIMITS.busRequestBytes },
    });
    expect(calls).toBe(1);
  });

  it.each(['an object', 'RawJson'])('refuses a reply over the limit that is %s', async (form) => {
    const big = { text: 'x'.repeat(2_000_001) };
    await stage().server(() => (form === 'RawJson' ? new RawJson(JSON.stringify(big)) : big), {
      replyBytes: 2_000_000,
    });
    expect(await failureOf(stage().ask({}))).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      details: { limit_bytes: 2_000_000 },
    });
  });

  it('brings replies of any size in between, whole and in order', async () => {
    const sizes = [0, 1, 900_000, 959_990, 960_000, 960_010, 1_048_576, 2_000_003, 5_000_000];
    await stage().server((input) => 'x'.repeat((input as { size: number }).size));
    const bus = await stage().join();
    for (const size of sizes) expect(await bus.call(PROBE, { size }, envelope())).toHaveLength(size);
  });

  it('brings a reply of tens of megabytes, parsed or raw', async () => {
    const list = Array.from({ length: 1_500_000 }, (_, index) => `${SAMPLE}${index}`);
    const text = JSON.stringify(list);
    expect(Buffer.byteLength(text)).toBeGreaterThan(30_000_000);
    await stage().server((input) => ((input as { raw: boolean }).raw ? new RawJson(text) : list));
    const raw = (await stage().ask({ raw: true }, { timeoutMs: LARGE_MS })) as RawJson;
    expect(raw.text === text).toBe(true);
    const parsed = (await stage().ask({ raw: false }, { timeoutMs: LARGE_MS })) as string[];
    expect(parsed).toHaveLength(list.length);
    expect(parsed.every((line, index) => line === list[index])).toBe(true);
  });

  it('answers small calls while large replies are on their way', async () => {
    const text = JSON.stringify(SAMPLE.repeat(400_000));
    await stage().server((input) => ((input as { large: boolean }).large ? new RawJson(text) : 'small'));
    const bus = await stage().join();
    const large = Promise.all(
      Array.from({ length: 6 }, () => bus.call(PROBE, { large: true }, envelope(), { timeoutMs: LARGE_MS })),
    );
    await pause(5);
    expect(await bus.call(PROBE, { large: false }, envelope(), { timeoutMs: LARGE_MS })).toBe('small');
    for (const reply of await large) expect((reply as RawJson).text === text).toBe(true);
  });

  it('carries a refusal whose details are large', async () => {
    const uses = Array.from({ length: 50_000 }, (_, index) => ({ id: `node-${index}`, name: SAMPLE }));
    await stage().server(() => {
      throw new ServiceError('IN_USE', 'Still in use.', { uses });
    });
    expect(await failureOf(stage().ask({}))).toMatchObject({ code: 'IN_USE', details: { uses } });
  });
}
