import {
  type Caller,
  connect,
  disconnect,
  getNode,
  type InputOf,
  listEdges,
  type Relation,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const join = (source: NodeAnswer, relation: Relation, target: NodeAnswer, confirmed = false) =>
  graph.call(connect, { source_id: source.id, target_id: target.id, relation, confirmed }, graph.admin);
const refuseJoin = (
  source: NodeAnswer,
  relation: string,
  target: NodeAnswer,
  code: Parameters<typeof graph.refusal>[3],
) => graph.refusal(connect, { source_id: source.id, target_id: target.id, relation }, graph.admin, code);
const part = (edge_id: string, confirmed = false) => graph.call(disconnect, { edge_id, confirmed }, graph.admin);
const edgesOf = async (
  node: NodeAnswer,
  input: Partial<InputOf<typeof listEdges>> = {},
  caller: Caller = graph.reader,
) => (await graph.call(listEdges, { node_id: node.id, ...input }, caller)).items;
const pair = async (name: string): Promise<[NodeAnswer, NodeAnswer]> => [
  await graph.node('area', `${name} one`),
  await graph.node('project', `${name} two`),
];

describe('joining two nodes', () => {
  it('stores a directed edge that each end shows its own way [graph.edges.directed] [graph.node.detail-payload]', async () => {
    const [source, target] = await pair('Directed');
    const { applied, preview, edge } = await join(source, 'informed_by', target);
    expect({ applied, preview, edge }).toEqual({
      applied: true,
      preview: null,
      edge: {
        id: expect.any(String),
        relation: 'informed_by',
        source: { id: source.id, type: 'area', name: source.name },
        target: { id: target.id, type: 'project', name: target.name },
      },
    });
    const seen = async (node: NodeAnswer) =>
      (await graph.call(getNode, { node_id: node.id }, graph.reader)).edges.items.find((item) => item.id === edge?.id);
    expect(await seen(source)).toEqual({
      id: edge?.id,
      direction: 'outgoing',
      relation: 'informed_by',
      node: edge?.target,
    });
    expect(await seen(target)).toEqual({
      id: edge?.id,
      direction: 'incoming',
      relation: 'informed_by',
      node: edge?.source,
    });
  });

  it('knows four relations and no other [graph.edges.relations]', async () => {
    const [source, target] = await pair('Relations');
    for (const relation of ['belongs_to', 'related_to', 'applies', 'informed_by'] as const) {
      expect((await join(source, relation, target)).edge?.relation).toBe(relation);
    }
    await refuseJoin(source, 'owns', target, 'VALIDATION_FAILED');
  });

  it('refuses an edge from a node to itself [graph.edges.no-self-loop]', async () => {
    const [node] = await pair('Self');
    for (const relation of ['belongs_to', 'related_to']) {
      const error = await refuseJoin(node, relation, node, 'VALIDATION_FAILED');
      expect(error.details).toMatchObject({ issues: [{ path: 'target_id' }] });
    }
  });

  it('refuses a second edge of the same kind with the id of the first, also in a race [graph.edges.unique, errors.edge-exists]', async () => {
    const [source, target] = await pair('Unique');
    for (const relation of ['related_to', 'belongs_to'] as const) {
      const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => join(source, relation, target)));
      const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.edge?.id] : []));
      expect(made).toHaveLength(1);
      expect((await refuseJoin(source, relation, target, 'EDGE_EXISTS')).details).toEqual({ edge_id: made[0] });
    }
    expect((await join(target, 'related_to', source)).applied).toBe(true);
  });

  it('refuses absent ends, and callers below manage [access.tier.structure-needs-manage]', async () => {
    const [source, target] = await pair('Absent');
    const nowhere = { ...target, id: newId() };
    expect((await refuseJoin(source, 'applies', nowhere, 'NODE_NOT_FOUND')).details).toEqual({ node_id: nowhere.id });
    expect((await refuseJoin(nowhere, 'applies', source, 'NODE_NOT_FOUND')).details).toEqual({ node_id: nowhere.id });
    await graph.refusal(
      connect,
      { source_id: source.id, target_id: target.id, relation: 'applies' },
      graph.writer,
      'FORBIDDEN',
    );
    await graph.refusal(disconnect, { edge_id: newId() }, graph.writer, 'FORBIDDEN');
  });

  it('leaves an audit row and tells both ends after the commit [graph.audit.fields]', async () => {
    const [source, target] = await pair('Audit');
    const { edge } = await join(source, 'applies', target);
    const fields = { source_id: source.id, target_id: target.id, relation: 'applies' };
    await part(edge?.id ?? '');
    expect(
      await graph.sql(
        'SELECT action, target_kind, before, after FROM audit.entry WHERE target_id = $1 ORDER BY at, id',
        [edge?.id],
      ),
    ).toEqual([
      { action: 'connect', target_kind: 'edge', before: null, after: fields },
      { action: 'disconnect', target_kind: 'edge', before: fields, after: null },
    ]);
    const told = await graph.sql(
      `SELECT payload FROM outbox.event WHERE type = 'graph.changed' ORDER BY id DESC LIMIT 1`,
    );
    const ends = [source.id, target.id];
    expect(told).toEqual([{ payload: { node_ids: ends, action: 'disconnect', own: 0, edges: [ends] } }]);
  });
});

describe('belonging', () => {
  it('to a second organization, or of an organization, is refused [graph.edges.second-organization-refused] [graph.edges.organization-has-no-parent]', async () => {
    const other = await graph.node('organization', 'Second');
    const [node] = await pair('Torn');
    expect((await refuseJoin(node, 'belongs_to', other, 'ORG_INVARIANT')).details).toEqual({
      node_id: other.id,
      hint: 'move_node',
    });
    expect((await refuseJoin(other, 'belongs_to', node, 'ORG_INVARIANT')).details).toEqual({ node_id: other.id });
    await refuseJoin(other, 'belongs_to', graph.organization, 'ORG_INVARIANT');
    await refuseJoin(node, 'belongs_to', graph.organization, 'EDGE_EXISTS');
    expect((await join(node, 'related_to', other)).applied).toBe(true);
  });

  it('to the own organization cannot be ended [graph.edges.organization-not-removable]', async () => {
    const [node] = await pair('Member');
    const [membership] = await edgesOf(node);
    const error = await graph.refusal(
      disconnect,
      { edge_id: membership?.id ?? '', confirmed: true },
      graph.admin,
      'ORG_INVARIANT',
    );
    expect(error.details).toEqual({ node_id: node.id, hint: 'move_node' });
    expect(await edgesOf(node)).toEqual([membership]);
  });

  it('in a circle is refused, directly and over others [graph.edges.no-belongs-to-cycle]', async () => {
    const [a, b] = await pair('Circle');
    const c = await graph.node('process', 'Circle three');
    await join(a, 'belongs_to', b);
    await join(b, 'belongs_to', c);
    await refuseJoin(b, 'belongs_to', a, 'EDGE_CYCLE');
    await refuseJoin(c, 'belongs_to', a, 'EDGE_CYCLE');
    expect((await join(c, 'related_to', a)).applied).toBe(true);
    expect((await join(a, 'belongs_to', c)).applied).toBe(true);
  });

  it('in a circle of two edges written at the same moment is refused once [graph.edges.no-belongs-to-cycle]', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [a, b] = await pair(`Race ${round}`);
      const outcomes = await Promise.allSettled([join(a, 'belongs_to', b), join(b, 'belongs_to', a)]);
      expect(outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))).toEqual([
        'EDGE_CYCLE',
      ]);
    }
  });

  it('to a restricted node hides at once; ending it widens and asks first [access.preview.move] [access.preview.widening-needs-confirmation] [access.materialised.same-transaction]', async () => {
    const closed = await graph.node('area', 'Closed', { visibility: 'group' });
    await graph.share(closed.id, graph.reader.user_id);
    const open = await graph.node('project', 'Open until now');
    const joined = await join(open, 'belongs_to', closed);
    expect(joined).toMatchObject({
      applied: true,
      preview: { widens: false, loses: [{ user_name: 'Rita Reader' }, { user_name: 'Will Writer' }] },
    });
    await graph.refusal(getNode, { node_id: open.id }, graph.writer, 'NODE_NOT_FOUND');
    expect((await graph.call(getNode, { node_id: open.id }, graph.reader)).access.level).toBe('read');

    const id = joined.edge?.id ?? '';
    expect(await part(id)).toMatchObject({
      applied: false,
      preview: { widens: true, opens_to_everyone: 1 },
      edge: { id },
    });
    await graph.refusal(getNode, { node_id: open.id }, graph.writer, 'NODE_NOT_FOUND');
    expect(await part(id, true)).toMatchObject({ applied: true, edge: { id } });
    expect((await graph.call(getNode, { node_id: open.id }, graph.writer)).id).toBe(open.id);
  });

  it('that widens access is stored only when it is confirmed', async () => {
    const [strict, loose] = [
      await graph.node('organization', 'Strict', { visibility: 'private' }),
      await graph.node('area', 'Loose', { visibility: 'everyone' }),
    ];
    const node = await graph.node('project', 'Was strict', { organization_id: strict.id });
    const shared = await graph.node('area', 'Shared', { visibility: 'group' });
    await graph.share(shared.id, graph.reader.user_id, 'write');
    expect((await join(node, 'belongs_to', loose)).applied).toBe(false);
    const asked = await join(node, 'belongs_to', shared);
    expect(asked).toMatchObject({
      applied: false,
      edge: null,
      preview: { gains: [{ user_name: 'Rita Reader', node_count: 1 }], opens_to_everyone: 0 },
    });
    await graph.refusal(getNode, { node_id: node.id }, graph.reader, 'NODE_NOT_FOUND');
    expect((await join(node, 'belongs_to', shared, true)).applied).toBe(true);
    expect((await graph.call(getNode, { node_id: node.id }, graph.reader)).access).toMatchObject({
      level: 'write',
      from: [{ id: shared.id }],
    });
  });
});

describe('the database by itself', () => {
  const insert = 'INSERT INTO graph.edge (id, source_id, target_id, relation) VALUES ($1, $2, $3, $4)';

  it('rejects loops, duplicates, further organizations, cycles and lost memberships [graph.edges.database-enforces]', async () => {
    const [a, b] = await pair('Bypass');
    const other = await graph.node('organization', 'Bypass organization');
    const write = (source: string, target: string, relation: string) =>
      graph.sql(insert, [newId(), source, target, relation]);
    await join(a, 'belongs_to', b);
    await expect(write(a.id, a.id, 'applies')).rejects.toThrow(/edge_no_self_loop/);
    await expect(write(a.id, b.id, 'belongs_to')).rejects.toThrow(/edge_key/);
    await expect(write(a.id, other.id, 'belongs_to')).rejects.toThrow(/exactly one organization/);
    await expect(write(other.id, a.id, 'belongs_to')).rejects.toThrow(/belongs to nothing/);
    await expect(write(b.id, a.id, 'belongs_to')).rejects.toThrow(/cycle/);
    await expect(
      graph.sql('DELETE FROM graph.edge WHERE source_id = $1 AND target_id = $2', [a.id, graph.organization.id]),
    ).rejects.toThrow(/exactly one organization/);
  });
});

describe('parting two nodes', () => {
  it('removes the edge from both ends, once [graph.edges.remove]', async () => {
    const [source, target] = await pair('Parted');
    const id = (await join(source, 'applies', target)).edge?.id ?? '';
    const outcomes = await Promise.allSettled([part(id), part(id), part(id)]);
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'removed' : outcome.reason.code)).sort(),
    ).toEqual(['EDGE_NOT_FOUND', 'EDGE_NOT_FOUND', 'removed']);
    for (const node of [source, target])
      expect((await edgesOf(node)).map((edge) => edge.relation)).toEqual(['belongs_to']);
    await graph.refusal(disconnect, { edge_id: id }, graph.admin, 'EDGE_NOT_FOUND');
  });
});

describe('the edges of a node', () => {
  let hub: NodeAnswer;
  beforeAll(async () => {
    hub = await graph.node('area', 'Hub');
    for (let i = 0; i < 6; i += 1) {
      const hidden = i % 3 === 2 ? { visibility: 'private' as const } : {};
      const node = await graph.node('project', `Spoke ${i}`, hidden);
      await join(node, 'belongs_to', hub, true);
      await join(hub, i % 2 ? 'applies' : 'related_to', node);
    }
  });
  const all = [
    'outgoing applies Spoke 1',
    'outgoing applies Spoke 3',
    'outgoing applies Spoke 5',
    'outgoing belongs_to Acme',
    'outgoing related_to Spoke 0',
    'outgoing related_to Spoke 2',
    'outgoing related_to Spoke 4',
    ...[0, 1, 2, 3, 4, 5].map((i) => `incoming belongs_to Spoke ${i}`),
  ];
  const text = (edges: Awaited<ReturnType<typeof edgesOf>>) =>
    edges.map((edge) => `${edge.direction} ${edge.relation} ${edge.node.name}`);

  it('come page by page, each once [graph.paging.cursor]', async () => {
    const walked: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: Awaited<ReturnType<typeof edgesOf>>; next_cursor: string | null } = await graph.call(
        listEdges,
        { node_id: hub.id, limit: 4, ...(cursor ? { cursor } : {}) },
        graph.admin,
      );
      walked.push(...text(page.items));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(walked).toEqual(all);
  });

  it('lead only to nodes that the reader sees, with full pages [access.edges.both-ends-visible] [access.filter.same-sql]', async () => {
    const visible = all.filter((edge) => !/Spoke [25]/.test(edge));
    expect(text(await edgesOf(hub))).toEqual(visible);
    expect(text(await edgesOf(hub, { limit: 5 }))).toEqual(visible.slice(0, 5));
    const hidden = (await edgesOf(hub, {}, graph.admin)).find((edge) => edge.node.name === 'Spoke 2');
    expect(JSON.stringify(await graph.call(getNode, { node_id: hub.id }, graph.reader))).not.toContain(hidden?.node.id);
  });

  it('can be narrowed to a direction and a relation [graph.filter.type-status-relation-organization]', async () => {
    expect(text(await edgesOf(hub, { direction: 'incoming' }, graph.admin))).toEqual(all.slice(7));
    expect(text(await edgesOf(hub, { direction: 'outgoing', relation: 'applies' }, graph.admin))).toEqual(
      all.slice(0, 3),
    );
    expect(text(await edgesOf(hub, { relation: 'informed_by' }, graph.admin))).toEqual([]);
  });

  it('of an absent and of a hidden node are refused alike, and so is a foreign cursor [access.hidden.indistinguishable-from-absent] [graph.paging.bad-cursor-refused]', async () => {
    const hidden = await graph.node('area', 'Unseen', { visibility: 'private' });
    for (const id of [hidden.id, newId()]) {
      const error = await graph.refusal(listEdges, { node_id: id }, graph.reader, 'NODE_NOT_FOUND');
      expect(error.toBody('r').message.replace(id, 'ID')).toBe('There is no node ID that you may see.');
    }
    await graph.refusal(listEdges, { node_id: hub.id, cursor: 'rubbish' }, graph.reader, 'VALIDATION_FAILED');
  });
});
