import { jest } from '@jest/globals';
import { OutboxWake } from './outbox-wake.js';

const GATHER_MS = 5;

describe('changes that follow one another', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('are told by one notification after the one that is under way', async () => {
    const sent: (() => void)[] = [];
    const wake = new OutboxWake(() => new Promise<void>((resolve) => sent.push(resolve)));
    for (let change = 0; change < 100; change += 1) wake.tell();
    expect(sent).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(10 * GATHER_MS);
    expect(sent).toHaveLength(1);
    sent[0]?.();
    await jest.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(2);
    sent[1]?.();
    await jest.advanceTimersByTimeAsync(10 * GATHER_MS);
    expect(sent).toHaveLength(2);
    wake.tell();
    expect(sent).toHaveLength(3);
  });

  it('are told at most once in some milliseconds, and the one that comes after a pause at once', async () => {
    let sent = 0;
    const wake = new OutboxWake(async () => {
      sent += 1;
    });
    for (let ms = 0; ms < 20 * GATHER_MS; ms += 1) {
      wake.tell();
      await jest.advanceTimersByTimeAsync(1);
    }
    expect([sent >= 15, sent <= 21]).toEqual([true, true]);
    await jest.advanceTimersByTimeAsync(GATHER_MS);
    const before = sent;
    wake.tell();
    expect(sent).toBe(before + 1);
  });

  it('are told also after a notification that failed', async () => {
    let sent = 0;
    const wake = new OutboxWake(async () => {
      sent += 1;
      throw new Error('The database is away');
    });
    for (const count of [1, 2]) {
      wake.tell();
      await jest.advanceTimersByTimeAsync(GATHER_MS);
      expect(sent).toBe(count);
    }
  });
});
