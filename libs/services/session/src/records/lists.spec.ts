import { closeSession, type InputOf, listNodeSessions, listSessions, suspendSession } from '@workspace-graph/contracts';
import { SessionSweeps } from '../sweeps/session-sweeps.js';
import { SessionWorld } from '../testing/session.fixture.js';
import type { Connected } from '../testing/session-calls.js';

type Filters = InputOf<typeof listSessions>;

let world: SessionWorld;
/** A node of its own for each test, so that its list holds what the test made. */
let node: string;
beforeAll(async () => {
  world = await SessionWorld.start();
});
beforeEach(async () => {
  node = await world.node('Of one test');
});
afterAll(() => world[Symbol.asyncDispose]());

const connect = (): Promise<Connected> => world.connect({ node_id: node });
const connectMany = (count: number): Promise<Connected[]> => Promise.all(Array.from({ length: count }, connect));
const idsOf = (connected: readonly Connected[]): string[] => connected.map(({ session }) => session.id);
/** So many minutes ago. */
const activeAgo = ({ session }: Connected, minutes: number) =>
  world.sql(`UPDATE session.session SET last_activity_at = now() - $2 * interval '1 minute' WHERE id = $1`, [
    session.id,
    minutes,
  ]);
const list = async (filters: Filters = {}, caller = world.owner): Promise<string[]> =>
  (await world.harness.call(listNodeSessions, { node_id: node, ...filters }, caller)).items.map(({ id }) => id);

/** All pages, with `between` carried out after each. */
async function pages(limit: number, between?: (seen: readonly string[]) => Promise<unknown>) {
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const input = { node_id: node, limit, ...(cursor === undefined ? {} : { cursor }) };
    const page = await world.harness.call(listNodeSessions, input, world.owner);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
    await between?.(seen);
  }
  return seen;
}

describe('a list of sessions', () => {
  it('has the last active first, of a node and of all, as rows that are the details [sessions.list.newest-active-first, sessions.record.one-schema]', async () => {
    const made = await connectMany(4);
    for (const [index, connected] of made.entries()) await activeAgo(connected, [3, 1, 4, 2][index] ?? 0);
    const order = [1, 3, 0, 2].map((index) => made[index]?.session.id ?? '');
    expect(await list()).toEqual(order);
    const { items } = await world.harness.call(listSessions, { limit: 500 }, world.owner);
    expect(items.map(({ id }) => id).filter((id) => order.includes(id))).toEqual(order);
    for (const id of order) expect(items.find((item) => item.id === id)).toEqual(await world.get(id));
    await world.report(made[2] as Connected, [{ kind: 'assistant_message', payload: { text: 'Here again' } }]);
    expect((await list())[0]).toBe(made[2]?.session.id);
  });

  it('is read to its end by pages, each session once, also where many were active at the same moment', async () => {
    const made = await connectMany(11);
    await world.sql(`UPDATE session.session SET last_activity_at = now() - interval '1 hour' WHERE id = ANY ($1)`, [
      idsOf(made),
    ]);
    for (const limit of [1, 4, 11, 12]) expect((await pages(limit)).toSorted()).toEqual(idsOf(made).toSorted());
  });

  it('repeats none and leaves out none that stays where it is, while others move to its head', async () => {
    const made = await connectMany(12);
    for (const [index, connected] of made.entries()) await activeAgo(connected, 10 + index);
    // What has been seen becomes active again, and one that has not.
    const woken = made.at(-2) as Connected;
    const seen = await pages(3, async ([first = '']) => {
      await world.sql('UPDATE session.session SET last_activity_at = now() WHERE id = ANY ($1)', [
        [first, woken.session.id],
      ]);
    });
    expect(seen).toHaveLength(new Set(seen).size);
    const still = idsOf(made).filter((id) => id !== woken.session.id);
    expect(still.filter((id) => !seen.includes(id))).toEqual([]);
  });

  it('leaves archived ones out unless its states name them [sessions.archive.filtered]', async () => {
    const [running, suspended, closed, archived] = (await connectMany(4)) as [
      Connected,
      Connected,
      Connected,
      Connected,
    ];
    await world.harness.call(suspendSession, { session_id: suspended.session.id }, world.owner);
    for (const { session } of [closed, archived])
      await world.harness.call(closeSession, { session_id: session.id }, world.owner);
    await activeAgo(archived, 31 * 1_440);
    const before = await world.get(archived.session.id);
    await world.harness.module.get(SessionSweeps).sweep({ archiveAfterDays: 30 });
    const after = await world.get(archived.session.id);
    expect(after).toMatchObject({ state: 'archived', closed_at: before.closed_at, can_continue: false });
    // Being archived is no activity, so the list of archived sessions keeps its order.
    expect(after.last_activity_at).toBe(before.last_activity_at);
    expect((await list()).toSorted()).toEqual(idsOf([running, suspended, closed]).toSorted());
    expect(await list({ state: ['archived'] })).toEqual([archived.session.id]);
    expect((await list({ state: ['archived', 'closed'] })).toSorted()).toEqual(idsOf([archived, closed]).toSorted());
    expect(await list({ state: 'suspended' })).toEqual([suspended.session.id]);
    expect(await list({ state: [] })).toEqual([]);
  });

  it('has on demand those alone that wait, and those alone that the caller started', async () => {
    const [waiting, other] = (await connectMany(2)) as [Connected, Connected];
    await world.report(waiting, [{ kind: 'question', payload: { request_id: 'r', type: 'input', title: 'Which?' } }]);
    const theirs = await world.connect({ node_id: node }, world.manager);
    expect(await list({ waiting: true })).toEqual([waiting.session.id]);
    expect((await list({ own: true })).toSorted()).toEqual(idsOf([waiting, other]).toSorted());
    expect(await list({ own: true }, world.manager)).toEqual([theirs.session.id]);
    expect(await list({ own: true, waiting: true }, world.manager)).toEqual([]);
    expect(await list({ own: true }, world.reader)).toEqual([]);
    expect(await list({}, world.reader)).toHaveLength(3);
  });

  it('refuses a cursor of something else, and of another list a state that there is not', async () => {
    const wrong: readonly (readonly [string, object])[] = [
      ['cursor', { cursor: 'nonsense' }],
      ['state.0', { state: ['over'] }],
      ['limit', { limit: 0 }],
    ];
    for (const [path, filter] of wrong) {
      const input = { node_id: node, ...filter };
      const error = await world.harness.refusal(listNodeSessions, input, world.owner, 'VALIDATION_FAILED');
      expect(error.details).toMatchObject({ issues: [{ path }] });
    }
  });
});
