import { jest } from '@jest/globals';
import {
  archiveNode,
  type Caller,
  connect,
  disconnect,
  getNode,
  getSnapshot,
  type InputOf,
  logEvent,
  purgeNode,
  setAccess,
  setPositions,
  updateNode,
} from '@workspace-graph/contracts';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';
import { SNAPSHOT } from './snapshot.statements.js';
import type { SnapshotAnswer } from './snapshot-content.js';

let graph: GraphFixture;
const absent = '0190a5f0-0000-7000-8000-00000000dead';

beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

async function snapshot(
  input: InputOf<typeof getSnapshot> = {},
  caller: Caller = graph.reader,
): Promise<SnapshotAnswer> {
  const answer = await graph.call(getSnapshot, input, caller);
  if ('unchanged' in answer) throw new Error('A whole answer was expected');
  return answer;
}
const unchanged = async (token: string, caller: Caller = graph.reader): Promise<boolean> =>
  'unchanged' in (await graph.call(getSnapshot, { if_none_match: token }, caller));
const hide = (node: NodeAnswer): Promise<unknown> =>
  graph.call(setAccess, { node_id: node.id, visibility: 'private', confirmed: true }, graph.admin);

describe('the snapshot of the graph', () => {
  it('holds every visible node and edge with their codes', async () => {
    const area = await graph.node('area', 'Logistika "Sever" \\ 1', { lifecycle: 'needs_attention' });
    const project = await graph.node('project', 'Sklad', { parent_ids: [area.id], health: 'off_track' });
    await graph.call(setPositions, { positions: [{ node_id: area.id, x: -12.345, y: 1e5 }] }, graph.admin);
    const answer = await snapshot();
    const row = (id: string): number => answer.nodes.id.indexOf(id);
    const described = (id: string): unknown[] => [
      answer.nodes.name[row(id)],
      answer.types[answer.nodes.type[row(id)] ?? -1],
      answer.lifecycles[answer.nodes.lifecycle[row(id)] ?? -1],
      answer.nodes.health[row(id)],
      answer.organizations[answer.nodes.organization[row(id)] ?? -1],
      answer.nodes.x[row(id)],
      answer.nodes.y[row(id)],
    ];
    expect(answer.full).toBe(true);
    expect(answer.nodes.id).toEqual([graph.organization.id, area.id, project.id].sort());
    expect(described(graph.organization.id)).toEqual(['Acme', 'organization', 'active', -1, undefined, null, null]);
    expect(described(area.id)).toEqual([
      'Logistika "Sever" \\ 1',
      'area',
      'needs_attention',
      -1,
      graph.organization.id,
      -12.35,
      100000,
    ]);
    expect(described(project.id)).toEqual(['Sklad', 'project', 'backlog', 2, graph.organization.id, null, null]);
    const belongsTo = answer.relations.indexOf('belongs_to');
    const triples = Array.from({ length: answer.edges.length / 3 }, (_, i) => answer.edges.slice(i * 3, i * 3 + 3));
    expect(triples).toHaveLength(3);
    expect(triples).toEqual(
      expect.arrayContaining([
        [row(area.id), row(graph.organization.id), belongsTo],
        [row(project.id), row(graph.organization.id), belongsTo],
        [row(project.id), row(area.id), belongsTo],
      ]),
    );
  });

  it('shows neither a hidden node nor its edges, and a hidden organization as none [access.edges.both-ends-visible]', async () => {
    const before = await snapshot();
    const organization = await graph.node('organization', 'Tajná organizace');
    const node = await graph.node('project', 'Viditelný', { organization_id: organization.id, visibility: 'everyone' });
    const secret = await graph.node('area', 'Tajná', { organization_id: organization.id, visibility: 'private' });
    await graph.call(
      connect,
      { source_id: node.id, target_id: secret.id, relation: 'related_to', confirmed: true },
      graph.admin,
    );
    await hide(organization);
    const answer = await snapshot();
    expect(answer.nodes.id).toEqual([...before.nodes.id, node.id].sort());
    expect([answer.nodes.organization[answer.nodes.id.indexOf(node.id)], answer.organizations]).toEqual([
      -1,
      before.organizations,
    ]);
    expect(answer.edges).toHaveLength(before.edges.length);
    expect((await snapshot({}, graph.admin)).nodes.id).toHaveLength(before.nodes.id.length + 3);
  });

  it('leaves archived nodes out when asked to', async () => {
    const node = await graph.node('project', 'Starý');
    await graph.call(archiveNode, { node_id: node.id }, graph.admin);
    expect((await snapshot()).nodes.id).toContain(node.id);
    expect((await snapshot({ include_archived: false })).nodes.id).not.toContain(node.id);
  });

  it('of an empty workspace is empty columns', async () => {
    await using empty = await startGraph();
    await empty.call(purgeNode, { node_id: empty.organization.id, confirmed: true }, empty.admin);
    expect(await empty.call(getSnapshot, {}, empty.reader)).toMatchObject({
      full: true,
      nodes: { id: [], x: [] },
      organizations: [],
      edges: [],
    });
  });
});

describe('the token of a snapshot', () => {
  it('answers unchanged while nothing drawn changes, also when events are logged [graph.snapshot.etag]', async () => {
    const node = await graph.node('project', 'Klid');
    const { token } = await snapshot();
    expect(await graph.call(getSnapshot, { if_none_match: token }, graph.reader)).toEqual({ token, unchanged: true });
    await graph.call(logEvent, { node_id: node.id, kind: 'note', content: 'x' }, graph.writer);
    expect(await unchanged(token)).toBe(true);
    for (const header of [`"${token}"`, `W/"${token}"`, `"other", "${token}"`, '*'])
      expect(await unchanged(header)).toBe(true);
    for (const header of ['other', '"other"', '']) expect(await unchanged(header)).toBe(false);
  });

  it('changes with a name, a lifecycle, an edge, a position and a purge, and returns with the state [graph.snapshot.etag]', async () => {
    const [a, b] = [await graph.node('project', 'A'), await graph.node('area', 'B')];
    const tokens = [(await snapshot()).token];
    const step = async (change: Promise<unknown>): Promise<void> => {
      await change;
      expect(await unchanged(tokens.at(-1) ?? '')).toBe(false);
      tokens.push((await snapshot()).token);
    };
    await step(graph.call(updateNode, { node_id: a.id, name: 'Á' }, graph.admin));
    await step(graph.call(updateNode, { node_id: a.id, lifecycle: 'planned' }, graph.admin));
    await step(graph.call(updateNode, { node_id: a.id, health: 'at_risk' }, graph.admin));
    await step(
      graph.call(connect, { source_id: a.id, target_id: b.id, relation: 'informed_by', confirmed: true }, graph.admin),
    );
    await step(graph.call(setPositions, { positions: [{ node_id: b.id, x: 1, y: 2 }] }, graph.writer));
    expect(new Set(tokens).size).toBe(tokens.length);
    await step(graph.call(setPositions, { positions: [{ node_id: b.id, x: 3, y: 2 }] }, graph.writer));
    await graph.call(setPositions, { positions: [{ node_id: b.id, x: 1, y: 2 }] }, graph.writer);
    expect((await snapshot()).token).toBe(tokens.at(-2));
    await step(graph.call(purgeNode, { node_id: b.id, confirmed: true }, graph.admin));
  });

  it('does not change with anything hidden [access.hidden.two-worlds]', async () => {
    const secret = await graph.node('project', 'Tajný', { visibility: 'private' });
    const other = await graph.node('project', 'Jiný tajný', { visibility: 'private' });
    const { token } = await snapshot();
    await graph.call(updateNode, { node_id: secret.id, name: 'Ještě tajnější' }, graph.admin);
    await graph.call(
      connect,
      { source_id: secret.id, target_id: other.id, relation: 'related_to', confirmed: true },
      graph.admin,
    );
    await graph.call(setPositions, { positions: [{ node_id: secret.id, x: 1, y: 1 }] }, graph.admin);
    await graph.call(purgeNode, { node_id: other.id, confirmed: true }, graph.admin);
    expect(await unchanged(token)).toBe(true);
    expect(await snapshot({ since: token })).toMatchObject({
      token,
      full: false,
      removed: [],
      edges_added: [],
      edges_removed: [],
    });
  });

  it('changes with the access of the caller by own list, group and membership, and for nobody else [graph.snapshot.etag] [access.cache.none-beyond-transaction]', async () => {
    const node = await graph.node('project', 'Sdílený');
    const [group] = await graph.sql<{ id: string }>(
      `INSERT INTO identity.user_group (id, name) VALUES (gen_random_uuid(), 'Tým') RETURNING id::text`,
    );
    if (!group) throw new Error('No group');
    let writerToken = (await snapshot({}, graph.writer)).token;
    await graph.call(
      setAccess,
      { node_id: node.id, visibility: 'group', recipients: [{ kind: 'group', id: group.id }], confirmed: true },
      graph.admin,
    );
    expect(await unchanged(writerToken, graph.writer)).toBe(false);
    const readerToken = (await snapshot()).token;
    writerToken = (await snapshot({}, graph.writer)).token;
    await graph.sql(
      `WITH joined AS (INSERT INTO identity.membership (group_id, user_id) VALUES ($1, $2))
      INSERT INTO audit.entry (id, via, action, target_kind, request_id) VALUES (gen_random_uuid(), 'rest', 'change_group_members', 'group', 'r')`,
      [group.id, graph.writer.user_id],
    );
    expect(await unchanged(writerToken, graph.writer)).toBe(false);
    expect((await snapshot({}, graph.writer)).nodes.id).toContain(node.id);
    expect(await unchanged(readerToken)).toBe(true);
    expect((await snapshot()).nodes.id).not.toContain(node.id);
  });

  it('sees a change that began before the snapshot and committed after it', async () => {
    const node = await graph.node('project', 'Souběh');
    const client = await graph.database.pool.connect();
    await client.query('BEGIN');
    await client.query(`UPDATE graph.node SET name = 'Potom' WHERE id = $1`, [node.id]);
    await client.query(
      `INSERT INTO audit.entry (id, via, action, target_kind, request_id) VALUES (gen_random_uuid(), 'system', 'update_node', 'node', 'r')`,
    );
    const { token } = await snapshot();
    await graph.node('area', 'Něco mezitím');
    expect(await unchanged(token)).toBe(false);
    const later = (await snapshot()).token;
    expect(await unchanged(later)).toBe(true);
    await client.query('COMMIT');
    client.release();
    expect(await unchanged(later)).toBe(false);
    expect((await snapshot()).nodes.name).toContain('Potom');
  });

  it('asked for often at once by one caller is read by few, each as of its own moment', async () => {
    await graph.node('area', 'Vícekrát');
    const asked = jest.spyOn(graph.database, 'row');
    const answers = await Promise.all(Array.from({ length: 12 }, () => snapshot()));
    const reads = asked.mock.calls.filter(([{ name }]) => name === SNAPSHOT.name).length;
    asked.mockRestore();
    expect(new Set(answers.map(({ token }) => token)).size).toBe(1);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThanOrEqual(2);
    await graph.node('area', 'Danach');
    expect((await snapshot()).nodes.name).toContain('Danach');
  });
});

describe('what changed since a snapshot', () => {
  it('is the added, changed and removed nodes and edges and nothing else [graph.snapshot.delta-since]', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `Uzel ${i}`);
    const nodes: NodeAnswer[] = [];
    for (const name of names) nodes.push(await graph.node('project', name));
    const [a, b, c] = nodes as [NodeAnswer, NodeAnswer, NodeAnswer];
    const edge = await graph.call(
      connect,
      { source_id: a.id, target_id: b.id, relation: 'related_to', confirmed: true },
      graph.admin,
    );
    const before = await snapshot();
    const added = await graph.node('area', 'Nová');
    await graph.call(updateNode, { node_id: a.id, name: 'Přejmenovaný' }, graph.admin);
    await graph.call(disconnect, { edge_id: edge.edge?.id ?? '', confirmed: true }, graph.admin);
    await hide(c);
    const delta = await snapshot({ since: before.token });
    const organization = graph.organization.id;
    expect(delta).toMatchObject({
      full: false,
      edges: [],
      removed: [c.id],
      nodes: { id: [a.id, added.id].sort(), name: expect.arrayContaining(['Přejmenovaný', 'Nová']) },
      edges_added: [[added.id, organization, 0]],
    });
    expect(delta.edges_removed).toHaveLength(2);
    expect(delta.edges_removed).toEqual(
      expect.arrayContaining([
        [a.id, b.id, 1],
        [c.id, organization, 0],
      ]),
    );
    expect(delta.token).toBe((await snapshot()).token);
  });

  it('is nothing when nothing changed', async () => {
    const { token, organizations } = await snapshot();
    expect(await snapshot({ since: token })).toMatchObject({
      token,
      full: false,
      organizations,
      removed: [],
      edges_added: [],
      edges_removed: [],
      nodes: { id: [] },
    });
  });

  it('is the whole graph for a token that the caller was never given, such as one of somebody else', async () => {
    await graph.node('project', 'Jen správce', { visibility: 'private' });
    const { token } = await snapshot({}, graph.admin);
    expect((await snapshot({ since: token })).full).toBe(true);
    expect((await snapshot({ since: absent })).full).toBe(true);
  });

  it('never tells of a removed node that the caller had not seen', async () => {
    const secret = await graph.node('project', 'Tajný', { visibility: 'private' });
    const { token } = await snapshot();
    await graph.call(purgeNode, { node_id: secret.id, confirmed: true }, graph.admin);
    await graph.node('project', 'Jiný');
    expect((await snapshot({ since: token })).removed).toEqual([]);
  });
});

describe('positions', () => {
  it('are stored in bulk, the last of a node counting, without raising a version [graph.position.stored]', async () => {
    const [a, b] = [await graph.node('project', 'A'), await graph.node('area', 'B')];
    const positions = [
      { node_id: a.id, x: 1, y: 2 },
      { node_id: b.id, x: 3, y: 4 },
      { node_id: a.id, x: 5, y: 6 },
    ];
    expect(await graph.call(setPositions, { positions }, graph.writer)).toEqual({ saved: 2 });
    const { nodes } = await snapshot();
    expect(nodes.x[nodes.id.indexOf(a.id)]).toBe(5);
    expect(nodes.y[nodes.id.indexOf(b.id)]).toBe(4);
    expect((await graph.call(getNode, { node_id: a.id }, graph.reader)).version).toBe(a.version);
    const audits = (): Promise<unknown[]> =>
      graph.sql(`SELECT target_kind, target_id, after, user_id::text FROM audit.entry
      WHERE action = 'set_positions' ORDER BY id`);
    const written = await audits();
    expect(written.at(-1)).toEqual({
      target_kind: 'position',
      target_id: null,
      after: { moved: 2 },
      user_id: graph.writer.user_id,
    });
    expect(await graph.call(setPositions, { positions }, graph.writer)).toEqual({ saved: 2 });
    expect(await audits()).toEqual(written);
  });

  it('of unknown, hidden and only readable nodes are skipped alike', async () => {
    const hidden = await graph.node('project', 'Tajný', { visibility: 'private' });
    const readable = await graph.node('project', 'Čtený', { visibility: 'private' });
    await graph.call(
      setAccess,
      {
        node_id: readable.id,
        visibility: 'group',
        recipients: [{ kind: 'user', id: graph.writer.user_id, access: 'read' }],
        confirmed: true,
      },
      graph.admin,
    );
    const answers = [];
    for (const id of [absent, hidden.id, readable.id]) {
      answers.push(
        await graph.call(
          setPositions,
          {
            positions: [
              { node_id: id, x: 1, y: 1 },
              { node_id: graph.organization.id, x: 1, y: 1 },
            ],
          },
          graph.writer,
        ),
      );
    }
    expect(answers).toEqual([{ saved: 1 }, { saved: 1 }, { saved: 1 }]);
    expect(
      await graph.sql('SELECT node_id FROM graph.position WHERE node_id = ANY ($1::uuid[])', [
        [hidden.id, readable.id],
      ]),
    ).toEqual([]);
    expect(await graph.call(setPositions, { positions: [{ node_id: hidden.id, x: 1, y: 1 }] }, graph.admin)).toEqual({
      saved: 1,
    });
  });

  it('of the same nodes from many callers at once do not block each other', async () => {
    const nodes = await Promise.all(Array.from({ length: 20 }, (_, i) => graph.node('project', `N${i}`)));
    const positions = nodes.map((node, i) => ({ node_id: node.id, x: i, y: i }));
    const answers = await Promise.all(
      [positions, positions.toReversed(), positions, positions.toReversed()].map((each) =>
        graph.call(setPositions, { positions: each }, graph.writer),
      ),
    );
    expect(answers).toEqual(Array(4).fill({ saved: 20 }));
  });
});
