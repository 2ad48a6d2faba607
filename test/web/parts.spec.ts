import { groupByDay } from '../../apps/desktop/web/src/parts/days.js';

describe('rows by their days', () => {
  const at = (hour: number, day = 20): string => new Date(2026, 10, day, hour, 30).toISOString();
  const days = (moments: readonly string[]) => groupByDay(moments, (one) => one).map(({ items }) => items);

  it('are together where they are of one day of the calendar, the newest day first, in their order', () => {
    expect(days([at(14), at(0), at(23, 19), at(9, 2)])).toEqual([[at(14), at(0)], [at(23, 19)], [at(9, 2)]]);
    expect(days([])).toEqual([]);
  });

  it('of a whole day are of that day wherever it is looked at, also between moments of the one before it', () => {
    const whole = '2026-11-20T00:00:00.000Z';
    const moments = [at(20, 19), whole, at(18, 19)];
    expect(days(moments)).toEqual([[whole], [at(20, 19), at(18, 19)]]);
    expect(groupByDay([whole], (one) => one)[0]?.midnightMs).toBe(new Date(2026, 10, 20).getTime());
  });
});
