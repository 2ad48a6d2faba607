import {
  addResponsibility,
  archiveNode,
  type Caller,
  connect,
  getContext,
  getNode,
  type InputOf,
  logEvent,
  type OutputOf,
  type Relation,
  setAccess,
  updateNode,
} from '@workspace-graph/contracts';
import { estimateTokens } from '@workspace-graph/domain';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

type Context = OutputOf<typeof getContext>;

let graph: GraphFixture;
const absent = '0190a5f0-0000-7000-8000-00000000dead';

beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const read = (input: InputOf<typeof getContext>, caller: Caller = graph.reader): Promise<Context> =>
  graph.call(getContext, input, caller);
const join = (source: NodeAnswer, target: NodeAnswer, relation: Relation = 'related_to'): Promise<unknown> =>
  graph.call(connect, { source_id: source.id, target_id: target.id, relation, confirmed: true }, graph.admin);
const names = (context: Context): string[] => context.nodes.map((node) => node.name);
/** An organization of its own, so that other nodes are not around. */
const organization = (name: string): Promise<NodeAnswer> => graph.node('organization', name);

/** A row of nodes, each related to the next: a, b, c, … */
async function chain(length: number, prefix: string): Promise<NodeAnswer[]> {
  const nodes: NodeAnswer[] = [];
  for (let i = 0; i < length; i += 1) {
    const home = await organization(`${prefix} org ${i}`);
    nodes.push(await graph.node('project', `${prefix}${i}`, { organization_id: home.id }));
    if (i > 0) await join(nodes[i - 1] as NodeAnswer, nodes[i] as NodeAnswer);
  }
  return nodes;
}

describe('the context of a node', () => {
  it('is the node whole and its neighbours with the edges that join them', async () => {
    const home = await organization('Dílna');
    const area = await graph.node('area', 'Výroba', { organization_id: home.id });
    const project = await graph.node('project', 'Linka', {
      organization_id: home.id,
      parent_ids: [area.id],
      health: 'at_risk',
    });
    await join(area, project, 'informed_by');
    await graph.call(updateNode, { node_id: project.id, health: 'at_risk', health_note: 'Late' }, graph.admin);
    const context = await read({ node_id: area.id });
    expect(context.node).toEqual(await graph.call(getNode, { node_id: area.id }, graph.reader));
    const line = { depth: 1, owner: null };
    expect(context.nodes).toEqual([
      {
        ...line,
        ...{ id: home.id, type: 'organization', name: 'Dílna', lifecycle: 'active', health: null, health_note: null },
        via: [{ from: area.id, relation: 'belongs_to', direction: 'outgoing' }],
      },
      {
        ...line,
        ...{
          id: project.id,
          type: 'project',
          name: 'Linka',
          lifecycle: 'backlog',
          health: 'at_risk',
          health_note: 'Late',
        },
        via: [
          { from: area.id, relation: 'belongs_to', direction: 'incoming' },
          { from: area.id, relation: 'informed_by', direction: 'outgoing' },
        ],
      },
    ]);
    expect(context).toMatchObject({
      depth: 1,
      complete: true,
      left_out: { nodes: 0, more_nodes: false, hubs: [], details: 0, node: [], how_to_get: '' },
    });
    expect(context.details.map((details) => details.node_id)).toEqual(context.nodes.map((node) => node.id));
  });

  it('reaches up to five steps away in one call, and refuses six [graph.context.depth]', async () => {
    const nodes = await chain(7, 'k');
    for (let depth = 0; depth <= 5; depth += 1) {
      const context = await read({ node_id: nodes[0]?.id ?? '', depth, relation: ['related_to'] });
      expect(context.nodes.map(({ name, depth: at }) => [name, at])).toEqual(
        Array.from({ length: depth }, (_, i) => [`k${i + 1}`, i + 1]),
      );
    }
    await graph.refusal(getContext, { node_id: nodes[0]?.id, depth: 6 }, graph.reader, 'VALIDATION_FAILED');
  });

  it('names each node once, at its least distance, nearest first', async () => {
    const [a, b, c, d] = (await chain(4, 'm')) as [NodeAnswer, NodeAnswer, NodeAnswer, NodeAnswer];
    await join(d, b);
    await join(a, a === d ? b : c, 'informed_by');
    const context = await read({ node_id: a.id, depth: 5, relation: ['related_to', 'informed_by'] });
    expect(context.nodes.map(({ name, depth }) => [name, depth])).toEqual([
      ['m1', 1],
      ['m2', 1],
      ['m3', 2],
    ]);
    expect(context.nodes[2]?.via).toEqual(
      [
        { from: b.id, relation: 'related_to', direction: 'incoming' },
        { from: c.id, relation: 'related_to', direction: 'outgoing' },
      ].sort((x, y) => (x.from < y.from ? -1 : 1)),
    );
  });

  it('starts with an outline of everything before any detail, and adds details nearest first [graph.context.outline-first]', async () => {
    const nodes = await chain(4, 'o');
    for (const node of nodes)
      await graph.call(updateNode, { node_id: node.id, description: `Popis ${node.name}`, goal: 'Cíl' }, graph.admin);
    await graph.call(
      addResponsibility,
      { node_id: nodes[1]?.id ?? '', title: 'Hlídat', assignee_ids: [] },
      graph.admin,
    );
    for (let i = 0; i < 4; i += 1)
      await graph.call(logEvent, { node_id: nodes[1]?.id ?? '', kind: 'note', content: `Zápis ${i}` }, graph.admin);
    const context = await read({ node_id: nodes[0]?.id ?? '', depth: 3, relation: ['related_to'] });
    const text = JSON.stringify(context);
    expect(text.lastIndexOf('"via"')).toBeLessThan(text.indexOf('"description"'));
    expect(context.details.map((details) => details.node_id)).toEqual(nodes.slice(1).map((node) => node.id));
    expect(context.details[0]).toMatchObject({
      description: 'Popis o1',
      goal: 'Cíl',
      responsibilities: [{ title: 'Hlídat' }],
      recent_events: [{ content: 'Zápis 3' }, { content: 'Zápis 2' }, { content: 'Zápis 1' }],
    });
  });

  it('leaves archived nodes out, and what lies behind them, unless asked for them', async () => {
    const nodes = await chain(3, 'r');
    await graph.call(archiveNode, { node_id: nodes[1]?.id ?? '' }, graph.admin);
    const input = { node_id: nodes[0]?.id ?? '', depth: 2, relation: ['related_to' as const] };
    expect(names(await read(input))).toEqual([]);
    expect(names(await read({ ...input, include_archived: true }))).toEqual(['r1', 'r2']);
    expect((await read({ ...input, node_id: nodes[1]?.id ?? '' })).node.name).toBe('r1');
  });

  it('is that of the home node of the connection when no node is named', async () => {
    const node = await graph.node('project', 'Domov');
    expect((await read({}, { ...graph.reader, home_node_id: node.id })).node.id).toBe(node.id);
    const error = await graph.refusal(getContext, {}, graph.reader, 'VALIDATION_FAILED');
    expect(error.details).toEqual({ issues: [{ path: 'node_id', message: expect.any(String) }] });
  });

  it('of a hidden node is refused exactly as that of an absent one [access.hidden.indistinguishable-from-absent]', async () => {
    const hidden = await graph.node('project', 'Skrytý', { visibility: 'private' });
    const bodies = [];
    for (const nodeId of [hidden.id, absent]) {
      bodies.push(
        JSON.stringify(
          (await graph.refusal(getContext, { node_id: nodeId }, graph.reader, 'NODE_NOT_FOUND')).toBody('r'),
        ).replaceAll(nodeId, 'ID'),
      );
    }
    expect(bodies[0]).toBe(bodies[1]);
  });

  it('never walks through a hidden node, and is the same whether there are any [access.hidden.two-worlds]', async () => {
    const nodes = (await chain(3, 'h')) as [NodeAnswer, NodeAnswer, NodeAnswer];
    const input = { node_id: nodes[0].id, depth: 5 };
    await graph.call(setAccess, { node_id: nodes[1].id, visibility: 'private', confirmed: true }, graph.admin);
    const before = await read(input);
    expect(names(before)).toEqual(['h org 0']);
    for (let i = 0; i < 3; i += 1) {
      const secret = await graph.node('project', `Tajný ${i}`, {
        visibility: 'private',
        organization_id: nodes[0].organization?.id ?? '',
      });
      await join(secret, nodes[0]);
      await join(secret, nodes[2]);
    }
    expect(await read(input)).toEqual(before);
    expect(names(await read(input, graph.admin))).toContain('Tajný 0');
  });
});

describe('a context that does not fit', () => {
  it('stays within max_tokens by its own estimate and says what it left out and how to get it [graph.context.max-tokens] [graph.context.says-what-is-left-out]', async () => {
    const home = await organization('Velká');
    const area = await graph.node('area', 'Střed', {
      organization_id: home.id,
      description: 'Dlouhý text. '.repeat(500),
    });
    for (let i = 0; i < 60; i += 1) {
      const extra = { organization_id: home.id, parent_ids: [area.id], description: 'Popis. '.repeat(20) };
      await graph.node('project', `Projekt ${String(i).padStart(2, '0')}`, extra);
    }
    const sizes = [500, 900, 2_000, 8_000, 100_000].flatMap((maxTokens) =>
      [0, 1, 2].map((depth) => [maxTokens, depth] as const),
    );
    for (const [maxTokens, depth] of sizes) {
      const context = await read({ node_id: area.id, depth, max_tokens: maxTokens });
      expect(context.estimated_tokens).toBeLessThanOrEqual(maxTokens);
      expect(Math.abs(context.estimated_tokens - estimateTokens(JSON.stringify(context)))).toBeLessThan(3);
      expect(context.left_out.details).toBe(context.nodes.length - context.details.length);
      expect(context.complete).toBe(context.left_out.how_to_get === '');
    }
    const least = await read({ node_id: area.id, max_tokens: 500 });
    expect(least.left_out).toMatchObject({
      node: expect.arrayContaining(['edges', 'description']),
      how_to_get: expect.stringContaining('GET /nodes/{node_id} with '),
    });
    const byDefault = await read({ node_id: area.id });
    expect(byDefault).toEqual(await read({ node_id: area.id, max_tokens: 8_000 }));
    expect(byDefault.complete).toBe(false);
    expect(byDefault.nodes.length + byDefault.left_out.nodes).toBe(61);
    expect((await read({ node_id: area.id, depth: 2, max_tokens: 100_000 })).complete).toBe(true);
  });

  it('keeps room for what always stays of the node itself before it shows others', async () => {
    const home = await organization('Místo');
    for (const length of [1, 10, 20, 30, 40]) {
      const area = (name: string) => graph.node('area', name.repeat(length), { organization_id: home.id });
      const parents = [await area('a'), await area('b')];
      const node = await graph.node('project', 'Sklad '.repeat(33), {
        organization_id: home.id,
        parent_ids: parents.map(({ id }) => id),
        description: 'Popis. '.repeat(200),
      });
      expect((await read({ node_id: node.id, max_tokens: 500 })).estimated_tokens).toBeLessThanOrEqual(500);
    }
  });

  it('around a hub shows the first neighbours, names the hub, and never counts hidden ones [graph.lists.never-cut-silently]', async () => {
    const home = await organization('Hvězda');
    const hub = await graph.node('principle', 'Bezpečnost', { organization_id: home.id });
    await graph.sql(
      `WITH made AS (
        INSERT INTO graph.node (id, type, name, lifecycle, organization_id, sync_key)
        SELECT gen_random_uuid(), 'area', 'Paprsek ' || i, 'active', $1, 'paprsek-' || i FROM generate_series(1, 600) i RETURNING id)
      , joined AS (INSERT INTO graph.edge (id, source_id, target_id, relation) SELECT gen_random_uuid(), id, $2::uuid, 'applies' FROM made)
      INSERT INTO graph.edge (id, source_id, target_id, relation) SELECT gen_random_uuid(), id, $1::uuid, 'belongs_to' FROM made`,
      [home.id, hub.id],
    );
    for (const [input, hubs] of [
      [{ node_id: hub.id }, ['hvezda/principles/bezpecnost']],
      [{ node_id: home.id }, ['hvezda']],
    ] as const) {
      const context = await read({ ...input, depth: 1 });
      expect(context.nodes.length).toBeGreaterThan(40);
      expect(context.left_out).toMatchObject({ hubs, more_nodes: true });
      expect(context.left_out.how_to_get).toContain('GET /nodes/{node_id}/edges');
      expect(context).toEqual(await read({ ...input, depth: 1 }));
    }
    expect(await read({ node_id: hub.id, max_tokens: 100_000 })).toMatchObject({
      left_out: { nodes: 0, more_nodes: false, hubs: [] },
    });
  });

  it('of an organization shows areas before anything else', async () => {
    const home = await organization('Pořadí');
    for (const type of ['principle', 'project', 'process', 'area'] as const)
      await graph.node(type, `A ${type}`, { organization_id: home.id });
    expect(names(await read({ node_id: home.id }))).toEqual(['A area', 'A process', 'A project', 'A principle']);
  });
});
