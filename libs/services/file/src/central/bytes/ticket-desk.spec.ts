import { LIMITS } from '@workspace-graph/contracts';
import { TicketDesk } from './ticket-desk.js';

describe('tickets', () => {
  it('are good once, for what they were given for, and for a while [files.central.tickets]', () => {
    let now = 0;
    const desk = new TicketDesk<string>(() => now);
    const [one, two, late] = [desk.issue('one'), desk.issue('two'), desk.issue('late')] as const;
    expect(new Set([one, two, late]).size).toBe(3);
    expect(one).toMatch(/^[\w-]{43}$/);
    expect(desk.redeem(two)).toBe('two');
    expect(desk.redeem(two)).toBeNull();
    expect(desk.redeem(`${one.slice(0, -1)}${one.endsWith('A') ? 'B' : 'A'}`)).toBeNull();
    now = LIMITS.ticketMs - 1;
    expect(desk.redeem(one)).toBe('one');
    now = LIMITS.ticketMs;
    expect(desk.redeem(late)).toBeNull();
  });

  it('that nobody uses are forgotten, and only so many wait', () => {
    let now = 0;
    const desk = new TicketDesk<number>(() => now);
    const issue = (): unknown => {
      try {
        return desk.issue(0);
      } catch (error) {
        return error;
      }
    };
    let refused: unknown;
    for (let n = 0; n <= 20_000 && typeof refused !== 'object'; n += 1) refused = issue();
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    now = LIMITS.ticketMs;
    expect(issue()).toEqual(expect.any(String));
  });
});
