import { jest } from '@jest/globals';
import { Postponed } from './postponed.js';

afterEach(() => jest.restoreAllMocks());

describe('an event that the bus did not take', () => {
  it('waits longer after each failure', () => {
    const postponed = new Postponed();
    expect([postponed.add('event'), postponed.add('event'), postponed.add('event')]).toEqual([1_000, 2_000, 4_000]);
    postponed.forget('event');
    expect(postponed.add('event')).toBe(1_000);
  });

  it('waits no longer when the clock of the machine is put back', () => {
    const [wallMs, sinceStartMs] = [Date.now(), performance.now()];
    const postponed = new Postponed();
    const waitMs = postponed.add('event');
    expect(postponed.ids()).toEqual(['event']);
    jest.spyOn(Date, 'now').mockReturnValue(wallMs - 3_600_000);
    jest.spyOn(performance, 'now').mockReturnValue(sinceStartMs + waitMs + 60_000);
    expect(postponed.ids()).toEqual([]);
  });
});
