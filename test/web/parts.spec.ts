import { kindOfLink } from '../../apps/desktop/web/src/node/link-kind.js';
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

it.each([
  ['text', 'Notes', 'https://docs.google.com/document/d/1/edit?tab=t.0#heading'],
  ['table', 'Members', 'https://docs.google.com/spreadsheets/d/1'],
  ['table', 'Prices', 'https://example.org/prices.CSV?raw=1'],
  ['slides', 'Plan', 'https://docs.google.com/presentation/d/1'],
  ['video', 'Meetings', 'https://www.youtube.com/playlist?list=1'],
  ['chat', 'Talk', 'https://kubernetes.slack.com/messages/sig-release'],
  ['mail', 'List', 'https://groups.google.com/a/kubernetes.io/g/sig-release'],
  ['mail', 'Office', 'mailto:office@example.org'],
  ['code', 'Sources', 'https://github.com/kubernetes/community'],
  ['board', 'Work', 'https://github.com/kubernetes/community/issues'],
  ['folder', 'Pictures', 'https://drive.google.com/drive/folders/1'],
  ['video', 'Recordings: Regular meeting', 'https://bit.ly/1'],
  ['text', 'Zápisy ze schůzí', null],
  ['mail', 'Mailing list', 'https://example.org/list'],
  [null, 'Ledger', 'https://example.org/ledger'],
  [null, 'Slackline', null],
  [null, '', 'not an address'],
])('a link has the sign of what is behind it: %s is %s at %s', (kind, name, url) => {
  expect(kindOfLink({ name, url })).toBe(kind);
});
