import {
  archiveEvent,
  type Caller,
  type GraphEvent,
  getEvent,
  type InputOf,
  listEvents,
  logEvent,
  setAccess,
} from '@workspace-graph/contracts';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let project: NodeAnswer;
let other: NodeAnswer;
let hidden: NodeAnswer;

const absent = '0190a5f0-0000-7000-8000-00000000dead';
const day = (n: number): string => `2025-03-${String(n).padStart(2, '0')}T08:00:00.000Z`;

const log = (node: NodeAnswer, content: string, extra: Partial<InputOf<typeof logEvent>> = {}): Promise<GraphEvent> =>
  graph.call(logEvent, { node_id: node.id, kind: 'note', content, ...extra }, graph.admin);
const contents = async (input: InputOf<typeof listEvents>, caller: Caller = graph.reader): Promise<string[]> =>
  (await graph.call(listEvents, input, caller)).items.map((event) => event.content);

async function walk(input: InputOf<typeof listEvents>, between?: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await graph.call(listEvents, { ...input, ...(cursor ? { cursor } : {}) }, graph.reader);
    seen.push(...page.items.map((event) => event.content));
    cursor = page.next_cursor;
    await between?.();
  }
  return seen;
}

beforeAll(async () => {
  graph = await startGraph();
  project = await graph.node('project', 'Sklad');
  other = await graph.node('process', 'Nábor');
  hidden = await graph.node('project', 'Tajný', { visibility: 'private' });
  await log(project, 'p1', { kind: 'decision', occurred_at: day(1) });
  await log(project, 'p3', { kind: 'blocker', occurred_at: day(3) });
  await log(hidden, 'h4', { kind: 'blocker', occurred_at: day(4) });
  await log(other, 'o5', { kind: 'blocker', occurred_at: day(5) });
  await log(project, 'p7', { kind: 'note', occurred_at: day(7) });
  const gone = await log(project, 'p8', { occurred_at: day(8) });
  await graph.call(archiveEvent, { event_id: gone.id }, graph.admin);
});
afterAll(() => graph.close());

describe('the list of events', () => {
  it('is filtered by node, kind, status and time span, newest first [events.filters]', async () => {
    expect(await contents({ node_id: project.id })).toEqual(['p7', 'p3', 'p1']);
    expect(await contents({ node_id: project.id, kind: ['decision', 'blocker'] })).toEqual(['p3', 'p1']);
    expect(await contents({ node_id: project.id, status: ['archived'] })).toEqual(['p8']);
    expect(await contents({ node_id: project.id, status: ['active', 'archived'] })).toEqual(['p8', 'p7', 'p3', 'p1']);
    expect(await contents({ node_id: project.id, from: day(3), to: day(7) })).toEqual(['p3']);
    expect(await contents({ from: '2025-03-05T09:00:00+01:00', to: day(6) })).toEqual(['o5']);
    expect(await contents({ kind: [] })).toEqual([]);
  });

  it('covers everything visible without a node, and nothing hidden [events.hidden-with-node] [access.filter.same-sql]', async () => {
    expect(await contents({})).toEqual(['p7', 'o5', 'p3', 'p1']);
    expect(await contents({}, graph.admin)).toEqual(['p7', 'o5', 'h4', 'p3', 'p1']);
    expect((await graph.call(listEvents, { limit: 2 }, graph.reader)).items).toHaveLength(2);
  });

  it('covers in a session what it holds, and nothing hidden', async () => {
    const home = await graph.node('area', 'Provoz');
    const near = await graph.node('process', 'Příjem', { parent_ids: [home.id] });
    const nearAndHidden = await graph.node('process', 'Zpracování', { parent_ids: [home.id], visibility: 'private' });
    await log(home, 'a2', { occurred_at: day(2) });
    await log(near, 'n6', { occurred_at: day(6) });
    await log(nearAndHidden, 'h6', { occurred_at: day(6) });
    const agent = await graph.session(graph.reader, { home: home.id, read: [near.id, nearAndHidden.id] });
    expect(await contents({}, agent)).toEqual(['n6', 'a2']);
    expect(await contents({ node_id: near.id }, agent)).toEqual(['n6']);
    expect(await contents({}, await graph.session(graph.reader, {}))).toEqual([]);
  });

  it('of a hidden node is refused exactly as that of an absent one [access.hidden.indistinguishable-from-absent]', async () => {
    const bodies = [];
    for (const nodeId of [hidden.id, absent]) {
      const error = await graph.refusal(listEvents, { node_id: nodeId }, graph.reader, 'NODE_NOT_FOUND');
      bodies.push(JSON.stringify(error.toBody('r')).replaceAll(nodeId, 'ID'));
    }
    expect(bodies[0]).toBe(bodies[1]);
  });

  it('shows each event once over its pages and ends with null, also at equal times [graph.paging.cursor]', async () => {
    const node = await graph.node('project', 'Stránky');
    for (let i = 0; i < 7; i += 1) await log(node, `e${i}`, { occurred_at: day(10 + Math.floor(i / 3)) });
    const seen = await walk({ node_id: node.id, limit: 2 });
    expect([...seen].sort()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6']);
    expect(seen.map((content) => Math.floor(Number(content.slice(1)) / 3))).toEqual([2, 1, 1, 1, 0, 0, 0]);
    expect((await graph.call(listEvents, { node_id: node.id, limit: 7 }, graph.reader)).next_cursor).toBeNull();
    expect(await graph.call(listEvents, { node_id: (await graph.node('area', 'Prázdno')).id }, graph.reader)).toEqual({
      items: [],
      next_cursor: null,
    });
  });

  it('neither skips nor repeats an event when others are logged between the pages [graph.paging.stable-under-writes]', async () => {
    const node = await graph.node('project', 'Pohyb');
    for (let i = 0; i < 6; i += 1) await log(node, `m${i}`, { occurred_at: day(10 + i) });
    let turn = 0;
    const seen = await walk({ node_id: node.id, limit: 2 }, () => {
      turn += 1;
      return log(node, `late${turn}`, { occurred_at: day(9 + turn * 3) });
    });
    expect(seen.filter((content) => content.startsWith('m'))).toEqual(['m5', 'm4', 'm3', 'm2', 'm1', 'm0']);
  });

  it('refuses a cursor that it did not issue [graph.paging.bad-cursor-refused]', async () => {
    const forged = Buffer.from(JSON.stringify(['list_events', '0000-01-01T00:00:00.000Z', absent])).toString(
      'base64url',
    );
    for (const cursor of [
      'x',
      forged,
      Buffer.from('["list_audit","2025-01-01T00:00:00.000Z","x"]').toString('base64url'),
    ]) {
      await graph.refusal(listEvents, { cursor }, graph.reader, 'VALIDATION_FAILED');
    }
  });

  it('takes at most 500 at once [limits.lists]', async () => {
    await graph.refusal(listEvents, { limit: 501 }, graph.reader, 'VALIDATION_FAILED');
  });
});

describe('an event in a list', () => {
  it('tells what the node of each goes by, and no key of an organization that the caller does not see [events.list.names-nodes]', async () => {
    const home = await graph.node('organization', 'Loděnice');
    const dock = await graph.node('area', 'Suchý dok', { organization_id: home.id, visibility: 'everyone' });
    await log(dock, 'dok je plný');
    await log(home, 'rozšiřujeme');
    const told = async (caller = graph.reader): Promise<unknown[]> => {
      const { items } = await graph.call(listEvents, { node_id: home.id }, caller);
      const own = await graph.call(listEvents, { node_id: dock.id }, caller);
      return [...items, ...own.items].map(({ node_name, node_path }) => [node_name, node_path]);
    };
    expect(await told()).toEqual([
      ['Loděnice', 'lodenice'],
      ['Suchý dok', 'lodenice/areas/suchy-dok'],
    ]);
    await graph.call(setAccess, { node_id: home.id, visibility: 'private', confirmed: true }, graph.admin);
    const [event] = (await graph.call(listEvents, { node_id: dock.id }, graph.reader)).items;
    expect(event).toMatchObject({ node_name: 'Suchý dok', node_path: null });
    expect(await graph.call(getEvent, { event_id: event?.id ?? '' }, graph.reader)).toEqual(event);
  });
});
