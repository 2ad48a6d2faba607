import {
  addDataSource,
  addResponsibility,
  addTool,
  connect,
  createNode,
  getNode,
  listNodes,
  purgeNode,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const purge = (node_id: string, confirmed: boolean) => graph.call(purgeNode, { node_id, confirmed }, graph.admin);

/** A node with one of everything. */
async function fullNode(name: string) {
  const [actor, other] = [await graph.actor(`Owner of ${name}`), await graph.node('area', `Beside ${name}`)];
  const node = await graph.node('project', name, { owner_id: actor.id, visibility: 'group', parent_ids: [other.id] });
  await graph.call(connect, { source_id: other.id, target_id: node.id, relation: 'related_to' }, graph.admin);
  await graph.call(addResponsibility, { node_id: node.id, title: 'Duty', assignee_ids: [actor.id] }, graph.admin);
  await graph.call(addDataSource, { node_id: node.id, name: 'Numbers' }, graph.admin);
  await graph.call(addTool, { node_id: node.id, name: 'Hammer' }, graph.admin);
  await graph.share(node.id, graph.reader.user_id);
  await session(node.id);
  const event = `INSERT INTO graph.event (id, node_id, kind, content, occurred_at) VALUES ($1, $2, 'note', 'Something', now())`;
  await graph.sql(event, [newId(), node.id]);
  await graph.file(node.id, 'outputs/report.pdf');
  await graph.sql('INSERT INTO graph.position (node_id, x, y) VALUES ($1, 1, 2)', [node.id]);
  await graph.sql(
    `INSERT INTO graph.access_request (id, node_id, user_id, access, state) VALUES ($1, $2, $3, 'read', 'refused')`,
    [newId(), node.id, graph.writer.user_id],
  );
  return { node, actor, other };
}

/** A session of the node, as the session service records it; answers its id. */
async function session(nodeId: string): Promise<string> {
  const [id, run] = [newId(), newId()];
  const of = (values: string, ...more: readonly string[]) => graph.sql(`INSERT INTO session.${values}`, [id, ...more]);
  await of(
    `session (id, node_id, owner_id, origin, name, live_run_id, last_seq) VALUES ($1, $3, $4, 'task', 'S', $2, 1)`,
    run,
    nodeId,
    graph.writer.user_id,
  );
  await of(`run (id, session_id, holder, mode, runner, lease_until) VALUES ($2, $1, 'h', 'fresh', 'r', now())`, run);
  await of(`event (session_id, seq, id, kind, payload) VALUES ($1, 1, $2, 'reasoning', '{"text": "x"}')`, run);
  await of(`output VALUES ($1, $2, 'x', true)`, run);
  await of(`question (session_id, request_id, question) VALUES ($1, 'r', '{}')`);
  await of(`scope (session_id, node_id, access, added_via) VALUES ($1, $2, 'write', 'seed')`, nodeId);
  return id;
}

/** Every place outside the trail of past changes that names an id. */
async function mentions(id: string): Promise<string[]> {
  const columns = await graph.sql<{ place: string; schema: string; table: string; column: string }>(`
    SELECT format('%s.%s.%s', n.nspname, c.relname, a.attname) AS place, n.nspname AS schema, c.relname AS table, a.attname AS column
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('graph', 'identity', 'session') AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
      AND a.atttypid IN ('uuid'::regtype, 'uuid[]'::regtype, 'text'::regtype, 'jsonb'::regtype)`);
  const found: string[] = [];
  for (const { place, schema, table, column } of columns) {
    const [row] = await graph.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM "${schema}"."${table}" WHERE "${column}"::text LIKE '%' || $1 || '%'`,
      [id],
    );
    if (row?.n) found.push(place);
  }
  return found;
}

describe('purging a node', () => {
  it('answers what would go and changes nothing until it is confirmed [graph.node.purge-preview-first]', async () => {
    const { node } = await fullNode('Previewed');
    const before = await graph.call(getNode, { node_id: node.id }, graph.admin);
    expect(await purge(node.id, false)).toEqual({
      applied: false,
      preview: { widens: false, gains: [], loses: [], opens_to_everyone: 0, complete: true },
      removes: {
        edges: 3,
        events: 1,
        responsibilities: 1,
        data_sources: 1,
        tools: 1,
        files: 1,
        sessions: 1,
        access_requests: 1,
        blockers: [],
      },
    });
    expect(await graph.call(getNode, { node_id: node.id }, graph.admin)).toEqual(before);
  });

  it('leaves no row that names it [graph.node.purge-leaves-no-reference]', async () => {
    const { node, actor, other } = await fullNode('Gone');
    expect((await mentions(node.id)).length).toBeGreaterThan(10);
    expect(await purge(node.id, true)).toMatchObject({ applied: true, removes: { edges: 3 } });
    expect(await mentions(node.id)).toEqual([]);
    await graph.refusal(getNode, { node_id: node.id }, graph.admin, 'NODE_NOT_FOUND');
    await graph.refusal(purgeNode, { node_id: node.id, confirmed: true }, graph.admin, 'NODE_NOT_FOUND');
    expect((await graph.call(getNode, { node_id: other.id }, graph.admin)).edges.items).toHaveLength(1);
    expect(await graph.sql('SELECT 1 AS there FROM graph.actor WHERE id = $1', [actor.id])).toEqual([{ there: 1 }]);
  });

  it('keeps what it was in the audit trail', async () => {
    const node = await graph.node('area', 'Remembered');
    await purge(node.id, true);
    const rows = await graph.sql(
      'SELECT action, before, after FROM audit.entry WHERE target_id = $1 ORDER BY at DESC, id DESC LIMIT 1',
      [node.id],
    );
    expect(rows).toEqual([
      {
        action: 'purge_node',
        after: null,
        before: expect.objectContaining({ type: 'area', name: 'Remembered', sync_key: 'remembered' }),
      },
    ]);
  });

  it('frees its sync_key', async () => {
    const node = await graph.node('area', 'Free key');
    await purge(node.id, true);
    expect((await graph.node('area', 'Free key')).sync_key).toBe('free-key');
  });

  it('refuses a stale version', async () => {
    const node = await graph.node('area', 'Stale purge');
    await graph.refusal(purgeNode, { node_id: node.id, expected_version: 2, confirmed: true }, graph.admin, 'CONFLICT');
  });

  it('shows who gains when what belonged to a restricted node opens, and works that out anew [access.preview.widening-needs-confirmation]', async () => {
    const parent = await graph.node('area', 'Closed', { visibility: 'private' });
    const child = await graph.node('project', 'Child', { parent_ids: [parent.id] });
    const grandchild = await graph.node('process', 'Grandchild', { parent_ids: [child.id] });
    const preview = await purge(parent.id, false);
    expect(preview).toMatchObject({ applied: false, preview: { widens: true, opens_to_everyone: 2 } });
    expect(preview.preview?.gains.find((gain) => gain.user_id === graph.reader.user_id)).toMatchObject({
      node_count: 2,
    });
    await graph.refusal(getNode, { node_id: grandchild.id }, graph.reader, 'NODE_NOT_FOUND');

    await purge(parent.id, true);
    for (const { id } of [child, grandchild]) {
      expect((await graph.call(getNode, { node_id: id }, graph.reader)).access).toEqual({
        mode: 'everyone',
        inherited: true,
        from: [],
        level: 'write',
      });
    }
    expect(await graph.sql('SELECT 1 FROM graph.access_set WHERE $1 = ANY (gates)', [parent.id])).toEqual([]);
  });

  it('keeps children hidden that another restricted parent still hides', async () => {
    const [one, two] = [
      await graph.node('area', 'Lock one', { visibility: 'private' }),
      await graph.node('area', 'Lock two', { visibility: 'private' }),
    ];
    const child = await graph.node('project', 'Twice locked', { parent_ids: [one.id, two.id] });
    expect(await purge(one.id, true)).toMatchObject({ applied: true, preview: { widens: false } });
    await graph.refusal(getNode, { node_id: child.id }, graph.reader, 'NODE_NOT_FOUND');
    expect(
      (await graph.call(getNode, { node_id: child.id }, graph.admin)).access.from.map((node) => node.name),
    ).toEqual(['Lock two']);
  });
});

describe('purging an organization', () => {
  it('is blocked while it has members, which are named [graph.node.purge-preview-first]', async () => {
    const organization = await graph.node('organization', 'With members');
    const member = await graph.node('area', 'Member', { organization_id: organization.id });
    expect(await purge(organization.id, false)).toMatchObject({
      applied: false,
      preview: null,
      removes: { blockers: [{ reason: 'has_members', count: 1 }] },
    });
    const error = await graph.refusal(purgeNode, { node_id: organization.id, confirmed: true }, graph.admin, 'IN_USE');
    expect(error.details).toEqual({ uses: [{ id: member.id, type: 'area', name: 'Member' }], use_count: 1 });
    await purge(member.id, true);
    expect(await purge(organization.id, true)).toMatchObject({ applied: true });
  });

  it('and creating a member at the same moment never leaves a member without organization', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await graph.node('organization', `Raced ${round}`);
      const [created, purged] = await Promise.allSettled([
        graph.call(createNode, { type: 'area', name: 'Late', organization_id: id }, graph.admin),
        purge(id, true),
      ]);
      const codes = [created, purged].map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done'));
      expect([
        ['done', 'IN_USE'],
        ['NODE_NOT_FOUND', 'done'],
      ]).toContainEqual(codes);
    }
    const orphans =
      'SELECT n.id FROM graph.node n LEFT JOIN graph.node o ON o.id = n.organization_id WHERE n.type <> $1 AND o.id IS NULL';
    expect(await graph.sql(orphans, ['organization'])).toEqual([]);
  });
});

describe('a purged node', () => {
  it('is in no list any more', async () => {
    const node = await graph.node('area', 'Listed no more');
    await purge(node.id, true);
    expect((await graph.call(listNodes, { query: 'listed no more' }, graph.admin)).items).toEqual([]);
  });
});
