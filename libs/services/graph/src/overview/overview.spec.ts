import {
  archiveNode,
  type Caller,
  createNode,
  getOverview,
  listAccessRequests,
  logEvent,
  type OutputOf,
  requestAccess,
  updateNode,
} from '@workspace-graph/contracts';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;

beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const read = (caller: Caller = graph.reader): Promise<OutputOf<typeof getOverview>> =>
  graph.call(getOverview, {}, caller);
const names = (items: readonly { node: { name: string } }[]): string[] => items.map(({ node }) => node.name).sort();
const log = (node: NodeAnswer, content: string, occurredAt: string): Promise<unknown> =>
  graph.call(logEvent, { node_id: node.id, kind: 'note', content, occurred_at: occurredAt }, graph.admin);

describe('the overview', () => {
  it('asks attention for exactly the processes, areas and projects that need it and that the caller sees [graph.overview.attention-processes] [graph.overview.attention-areas] [graph.overview.attention-projects] [graph.overview.permission-filtered]', async () => {
    for (const lifecycle of ['operating', 'at_risk', 'broken', 'retired'] as const)
      await graph.node('process', lifecycle, { lifecycle });
    for (const lifecycle of ['active', 'needs_attention', 'archived'] as const)
      await graph.node('area', lifecycle, { lifecycle });
    for (const health of ['on_track', 'at_risk', 'off_track'] as const) await graph.node('project', health, { health });
    await graph.node('project', 'off_track and done', { health: 'off_track', lifecycle: 'done' });
    await graph.node('process', 'hidden process', { lifecycle: 'broken', visibility: 'private' });
    await graph.node('area', 'hidden area', { lifecycle: 'needs_attention', visibility: 'private' });
    await graph.node('project', 'hidden project', { health: 'off_track', visibility: 'private' });
    const { attention } = await read();
    expect(names(attention.processes)).toEqual(['at_risk', 'broken']);
    expect(names(attention.areas)).toEqual(['needs_attention']);
    expect(names(attention.projects)).toEqual(['at_risk', 'off_track']);
    expect(attention.complete).toBe(true);
    const seenByAll = (await read(graph.admin)).attention;
    expect(names(seenByAll.processes)).toEqual(['at_risk', 'broken', 'hidden process']);
    expect(names(seenByAll.areas)).toEqual(['hidden area', 'needs_attention']);
    expect(names(seenByAll.projects)).toEqual(['at_risk', 'hidden project', 'off_track']);
  });

  it('tells since when, and the note of the health', async () => {
    const project = await graph.node('project', 'Zpožděný');
    await graph.call(updateNode, { node_id: project.id, health: 'off_track', health_note: 'Chybí lidé' }, graph.admin);
    const process = await graph.node('process', 'Rozbitý', { lifecycle: 'operating' });
    const broken = await graph.call(updateNode, { node_id: process.id, lifecycle: 'broken' }, graph.admin);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await graph.call(updateNode, { node_id: process.id, description: 'Jiný popis' }, graph.admin);
    const { attention } = await read();
    expect(attention.projects.find(({ node }) => node.id === project.id)).toMatchObject({
      health: 'off_track',
      note: 'Chybí lidé',
    });
    const since = Date.parse(attention.processes.find(({ node }) => node.id === process.id)?.since ?? '');
    expect(Math.abs(since - Date.parse(broken.node.updated_at))).toBeLessThanOrEqual(4);
  });

  it('holds pending access requests at manage and none below it [graph.overview.access-requests-at-manage]', async () => {
    const hidden = await graph.node('project', 'Žádaný', { visibility: 'private' });
    await graph.call(requestAccess, { node_id: hidden.id, reason: 'Potřebuji' }, graph.reader);
    await graph.call(requestAccess, { node_id: '0190a5f0-0000-7000-8000-00000000dead' }, graph.reader);
    const all = (await graph.call(listAccessRequests, { mine: false, state: 'pending' }, graph.admin)).items;
    const node = { id: hidden.id, type: 'project', name: 'Žádaný' };
    expect((await read(graph.admin)).attention.access_requests).toEqual(all.map((request) => ({ ...request, node })));
    expect(all.map((request) => request.node_id)).toEqual([hidden.id]);
    expect((await read()).attention.access_requests).toEqual([]);
    expect((await read(graph.writer)).attention.access_requests).toEqual([]);
  });

  it('holds the pending requests of the caller, the same for hidden nodes and such as never were', async () => {
    const { items } = await graph.call(listAccessRequests, { state: 'pending' }, graph.reader);
    expect(items).toHaveLength(2);
    expect((await read()).attention.own_access_requests).toEqual(items);
    expect((await read(graph.writer)).attention.own_access_requests).toEqual([]);
    expect((await read(graph.admin)).attention.own_access_requests).toEqual([]);
  });

  it('lists recent events of visible nodes, newest first, at most thirty [graph.overview.recent-events] [events.hidden-with-node]', async () => {
    const node = await graph.node('project', 'Deník');
    const hidden = await graph.node('project', 'Tajný deník', { visibility: 'private' });
    for (let i = 0; i < 35; i += 1)
      await log(i % 5 === 0 ? hidden : node, `z${i}`, `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`);
    const { recent_activity: recent } = await read();
    const expected = Array.from({ length: 35 }, (_, i) => 34 - i)
      .filter((i) => i % 5 !== 0)
      .map((i) => `z${i}`);
    expect(recent.map(({ event }) => event?.content)).toEqual(expected);
    expect(recent[0]).toMatchObject({
      at: '2026-01-01T00:00:34.000Z',
      node: { id: node.id, name: 'Deník', type: 'project' },
    });
    expect((await read(graph.admin)).recent_activity).toHaveLength(30);
  });

  it('counts nothing as recent that is still to come', async () => {
    const node = await graph.node('project', 'Plán');
    await log(node, 'planned', '9999-12-31T23:59:59Z');
    await log(node, 'done', new Date(Date.now() - 1_000).toISOString());
    const { recent_activity: recent } = await read();
    expect(recent.map(({ event }) => event?.content)).not.toContain('planned');
    expect(recent[0]?.event?.content).toBe('done');
  });

  it('lists new nodes, newest first, with who created them and whether that was an agent [graph.overview.new-nodes]', async () => {
    await graph.node('area', 'Od člověka');
    const agent: Caller = { ...graph.admin, via: 'mcp' };
    await graph.call(createNode, { type: 'area', name: 'Od agenta', organization_id: graph.organization.id }, agent);
    await graph.node('area', 'Skrytá', { visibility: 'private' });
    const { new_nodes: nodes } = await read();
    expect(nodes.slice(0, 2)).toMatchObject([
      { name: 'Od agenta', by_agent: true, created_by: 'Ada Admin', organization: { name: 'Acme' } },
      { name: 'Od člověka', by_agent: false, created_by: 'Ada Admin' },
    ]);
    expect(nodes.length).toBeLessThanOrEqual(20);
  });

  it('of the same data for the same caller is the same, byte by byte [graph.overview.no-model]', async () => {
    const first = JSON.stringify(await read());
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(JSON.stringify(await read())).toBe(first);
  });

  it('does not change with anything hidden [access.hidden.two-worlds]', async () => {
    const before = JSON.stringify(await read());
    const hidden = await graph.node('process', 'Zcela tajný', { lifecycle: 'broken', visibility: 'private' });
    await log(hidden, 'tajné', '2027-01-01T00:00:00Z');
    await graph.call(archiveNode, { node_id: hidden.id }, graph.admin);
    expect(JSON.stringify(await read())).toBe(before);
  });
});
