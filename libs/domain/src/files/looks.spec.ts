import { lookAfterMs, verifyAfterMs } from './looks.js';

const MINUTE_MS = 60_000;
const TIMES = { doubleCheckMs: 5_000, verifyMs: MINUTE_MS, verifyMaxMs: 10 * MINUTE_MS, activeMs: 10 * MINUTE_MS };

describe('looks for what the system did not tell of', () => {
  it.each([
    { entries: 0, afterMs: 5_000 },
    { entries: 30_000, afterMs: 5_000 },
    { entries: 50_000 + 16_000, afterMs: 9_900 },
    { entries: 1_000_000, afterMs: 150_000 },
  ])(
    'come $afterMs ms after an event where they read $entries entries [watcher.look-bounded]',
    ({ entries, afterMs }) => {
      expect(lookAfterMs(entries, TIMES)).toBe(afterMs);
    },
  );

  it('go on as often for a while, and become rarer then', () => {
    for (const entries of [0, 66_000, 1_000_000]) {
      expect(verifyAfterMs(entries, 9 * MINUTE_MS, TIMES)).toBe(lookAfterMs(entries, TIMES));
      expect(verifyAfterMs(entries, 11 * MINUTE_MS, TIMES)).toBeGreaterThanOrEqual(MINUTE_MS);
      expect(verifyAfterMs(entries, 11 * MINUTE_MS, TIMES)).toBeLessThanOrEqual(10 * MINUTE_MS);
    }
  });
});
