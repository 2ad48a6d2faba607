import { randomUUID } from 'node:crypto';
import { LIMITS, listSessionEvents, readSessionLogs, type SessionEvent } from '@workspace-graph/contracts';
import { SessionWorld } from '../testing/session.fixture.js';
import type { Connected, Reported } from '../testing/session-calls.js';

let world: SessionWorld;
/** A session with events 1 to 41. */
let small: Connected;
/** A session whose texts take more room than a page has: 2 MB in each four. */
let large: Connected;
const LARGE_EVENTS = 40;

beforeAll(async () => {
  world = await SessionWorld.start();
  small = await world.connect();
  await world.report(
    small,
    Array.from({ length: 40 }, (_, index) => said(`${index}`)),
  );
  large = await world.connect();
  for (let sent = 0; sent < LARGE_EVENTS; sent += 4)
    await world.report(
      large,
      Array.from({ length: 4 }, (_, index) => said(`${sent + index} ${'ž'.repeat(90_000)}`)),
    );
});
afterAll(() => world[Symbol.asyncDispose]());

const said = (text: string): Reported => ({ kind: 'assistant_message', payload: { text } });
const read = ({ session }: Connected, input: { after?: number; limit?: number; newest?: boolean }) =>
  world.harness.call(listSessionEvents, { session_id: session.id, ...input }, world.owner);
const seqs = ({ items }: { readonly items: readonly { readonly seq: number }[] }) => items.map(({ seq }) => seq);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Reads on from page to page until the last seq. */
async function readAll(connected: Connected, limit?: number): Promise<{ pages: number; events: SessionEvent[] }> {
  const events: SessionEvent[] = [];
  for (let pages = 1; ; pages += 1) {
    const page = await read(connected, { after: events.at(-1)?.seq ?? 0, ...(limit ? { limit } : {}) });
    events.push(...(page.items as unknown as SessionEvent[]));
    if (events.at(-1)?.seq === page.last_seq) return { pages, events };
    expect(page.items.length).toBeGreaterThan(0);
  }
}

describe('a log is read', () => {
  it('in the order of seq after the one that is known, up to the limit [sessions.log.read-after]', async () => {
    expect(seqs(await read(small, {}))).toEqual(range(1, 41));
    expect(seqs(await read(small, { after: 7, limit: 5 }))).toEqual(range(8, 12));
    expect(seqs(await read(small, { after: 39, limit: 5 }))).toEqual([40, 41]);
    for (const after of [41, 42, LIMITS.versionMax])
      expect(await read(small, { after })).toEqual({ items: [], last_seq: 41 });
  });

  it('from its end, also in the order of seq', async () => {
    expect(seqs(await read(small, { newest: true, limit: 3 }))).toEqual([39, 40, 41]);
    expect(seqs(await read(small, { newest: true, limit: 3, after: 39 }))).toEqual([40, 41]);
    expect(seqs(await read(small, { newest: true }))).toEqual(range(1, 41));
  });

  it.each([1, 7, 40, 41, 2_000])('to its end by pages of %i', async (limit) => {
    const { events, pages } = await readAll(small, limit);
    expect(seqs({ items: events })).toEqual(range(1, 41));
    expect(pages).toBe(Math.ceil(41 / limit));
  });

  it.each([
    { after: -1 },
    { after: 1.5 },
    { after: LIMITS.versionMax + 1 },
    { limit: 0 },
    { limit: LIMITS.sessionEventsMax + 1 },
  ])('only from a place and by a size that there are: %j', async (input) => {
    const all = { session_id: small.session.id, ...input };
    const error = await world.harness.refusal(listSessionEvents, all, world.owner, 'VALIDATION_FAILED');
    expect(error.details).toMatchObject({ issues: [{ path: Object.keys(input)[0] }] });
  });

  it('by pages of some megabytes, which lose nothing', async () => {
    const { events, pages } = await readAll(large);
    expect(seqs({ items: events })).toEqual(range(1, LARGE_EVENTS + 1));
    expect(pages).toBeGreaterThan(1);
    expect(events.slice(1).map(({ payload }) => Number.parseInt((payload as { text: string }).text, 10))).toEqual(
      range(0, LARGE_EVENTS - 1),
    );
    const newest = seqs(await read(large, { newest: true }));
    expect(newest).toEqual(range(newest[0] ?? 0, LARGE_EVENTS + 1));
    expect(newest.length).toBeLessThan(LARGE_EVENTS);
  });

  it('with a page for each of several sessions, of those that there are', async () => {
    const sessions = [
      { session_id: small.session.id, after: 38, viewers: [] },
      { session_id: randomUUID(), after: 0, viewers: [] },
      { session_id: large.session.id, after: 0, viewers: [] },
    ];
    const input = { sessions, viewers: [], limit: 2 };
    const { logs } = await world.harness.call(readSessionLogs, input, world.manager);
    const found = new Map(logs.map((log) => [log.session_id, log]));
    expect(found.size).toBe(2);
    expect(seqs(found.get(small.session.id) ?? { items: [] })).toEqual([39, 40]);
    expect(found.get(small.session.id)?.last_seq).toBe(41);
    expect(seqs(found.get(large.session.id) ?? { items: [] })).toEqual([1, 2]);
  });

  it('of many sessions with an event of each at least, and not with more than some pages in all', async () => {
    const sessions = Array.from({ length: LIMITS.logsPerRead }, () => ({
      session_id: large.session.id,
      after: 1,
      viewers: [],
    }));
    const input = { sessions, viewers: [], limit: 3 };
    const { logs } = await world.harness.call(readSessionLogs, input, world.manager);
    expect(logs).toHaveLength(LIMITS.logsPerRead);
    for (const log of logs) expect(seqs(log)).toEqual([2]);
  });
});
