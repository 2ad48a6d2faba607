import { connect, createNode, getNode, type InputOf, LIMITS, moveNode } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let target: NodeAnswer;
beforeAll(async () => {
  graph = await startGraph();
  target = await graph.node('organization', 'Target');
});
afterAll(() => graph.close());

const move = (node_id: string, extra: Partial<InputOf<typeof moveNode>> = {}) =>
  graph.call(moveNode, { node_id, organization_id: target.id, ...extra }, graph.admin);
const read = (node_id: string) => graph.call(getNode, { node_id }, graph.admin);

describe('moving a node to another organization', () => {
  it('shows what would move and changes nothing until it is confirmed [access.preview.move]', async () => {
    const node = await graph.node('area', 'Stays for now');
    const child = await graph.node('project', 'Its child', { parent_ids: [node.id] });
    const asked = await move(node.id);
    expect(asked).toMatchObject({ applied: false, preview: { widens: false, gains: [], loses: [] }, move_count: 2 });
    expect(asked.moves.map((moved) => moved.id)).toEqual([node.id, child.id]);
    expect(asked.node).toEqual(await read(node.id));
    expect((await read(node.id)).organization?.id).toBe(graph.organization.id);
  });

  it('with thousands of others still tells so in messages that the bus takes', async () => {
    const closed = await graph.node('organization', 'Closed target', { visibility: 'private' });
    const top = await graph.node('area', 'Top of many');
    await graph.sql(
      `WITH made AS (INSERT INTO graph.node (id, type, name, lifecycle, organization_id, sync_key)
        SELECT gen_random_uuid(), 'area', 'One of many', 'active', $1::uuid, 'many-' || n FROM generate_series(1, 5100) n RETURNING id)
      INSERT INTO graph.edge (id, source_id, target_id, relation)
      SELECT gen_random_uuid(), m.id, t.id, 'belongs_to' FROM made m, unnest(ARRAY[$1, $2]::uuid[]) t(id)`,
      [graph.organization.id, top.id],
    );
    const { move_count, applied } = await graph.call(
      moveNode,
      { node_id: top.id, organization_id: closed.id, confirmed: true },
      graph.admin,
    );
    expect({ move_count, applied }).toEqual({ move_count: 5101, applied: true });
    const told = await graph.sql(
      `SELECT type, max(octet_length(payload::text)) < $1::int AS fits, sum(coalesce((payload -> 'own')::int, 0))::int AS own,
        sum(jsonb_array_length(payload -> 'edges'))::int AS edges FROM outbox.event
       WHERE created_at = (SELECT max(created_at) FROM outbox.event) GROUP BY type ORDER BY type`,
      [LIMITS.busRequestBytes],
    );
    expect(told).toEqual([
      { type: 'access.changed', fits: true, own: 0, edges: null },
      { type: 'graph.changed', fits: true, own: 5101, edges: 2 * 5101 },
    ]);
  });

  it('replaces its one membership and keeps its key and other edges [graph.node.move-to-organization]', async () => {
    const [parent, friend] = [await graph.node('area', 'Parent stays'), await graph.node('principle', 'Friend')];
    const node = await graph.node('process', 'Mover', { parent_ids: [parent.id] });
    await graph.call(connect, { source_id: node.id, target_id: friend.id, relation: 'applies' }, graph.admin);
    const { applied, node: moved } = await move(node.id, { confirmed: true });
    expect({ applied, version: moved.version, sync_key: moved.sync_key }).toEqual({
      applied: true,
      version: 2,
      sync_key: 'mover',
    });
    expect(moved.organization?.id).toBe(target.id);
    expect(moved.edges.items.map((edge) => `${edge.relation} ${edge.node.name}`)).toEqual([
      'applies Friend',
      'belongs_to Parent stays',
      'belongs_to Target',
    ]);
  });

  it('takes along what belongs to it, however deep, or leaves that', async () => {
    const make = async (name: string) => {
      const top = await graph.node('area', `${name} top`);
      const middle = await graph.node('project', `${name} middle`, { parent_ids: [top.id] });
      const leaf = await graph.node('process', `${name} leaf`, { parent_ids: [middle.id] });
      return [top, middle, leaf];
    };
    const organizations = async (nodes: NodeAnswer[]) =>
      Promise.all(nodes.map(async ({ id }) => (await read(id)).organization?.name));
    const [taken, left] = [await make('Taken'), await make('Left')];
    await move(taken[0]?.id ?? '', { confirmed: true });
    await move(left[0]?.id ?? '', { confirmed: true, with_descendants: false });
    expect(await organizations(taken)).toEqual(['Target', 'Target', 'Target']);
    expect(await organizations(left)).toEqual(['Target', 'Acme', 'Acme']);
    expect(
      (
        await graph.sql('SELECT 1 FROM audit.entry WHERE action = $1 AND target_id = ANY ($2)', [
          'move_node',
          taken.map(({ id }) => id),
        ])
      ).length,
    ).toBe(3);
  });

  it('leaves descendants of other organizations where they are', async () => {
    const third = await graph.node('organization', 'Third');
    const top = await graph.node('area', 'Shared top');
    const guest = await graph.node('project', 'Guest', { organization_id: third.id, parent_ids: [top.id] });
    expect((await move(top.id, { confirmed: true })).move_count).toBe(1);
    expect((await read(guest.id)).organization?.name).toBe('Third');
  });

  it('is refused where a key is taken, naming the clash [graph.node.move-keeps-sync-key-unique]', async () => {
    const top = await graph.node('area', 'Carrier');
    const child = await graph.node('project', 'Same key', { parent_ids: [top.id] });
    const there = await graph.node('project', 'Same key', { organization_id: target.id });
    for (const confirmed of [false, true]) {
      const error = await graph.refusal(
        moveNode,
        { node_id: top.id, organization_id: target.id, confirmed },
        graph.admin,
        'CONFLICT',
      );
      expect(error.message).toContain('same-key (project "Same key")');
      expect(error.message).toContain('or move the node with_descendants: false.');
      expect(error.details).toEqual({
        current: await read(top.id),
        clashes: [
          {
            node: { id: child.id, type: 'project', name: 'Same key' },
            with: { id: there.id, type: 'project', name: 'Same key' },
            sync_key: 'same-key',
          },
        ],
      });
    }
    const clashing = { node_id: child.id, organization_id: target.id, confirmed: true };
    const { message } = await graph.refusal(moveNode, clashing, graph.admin, 'CONFLICT');
    expect(message).toMatch(/archive and purge it; or create this node again there, .* and archive it here\.$/);
    expect((await move(top.id, { confirmed: true, with_descendants: false })).applied).toBe(true);
    // A way out that it names: the other makes room.
    const elsewhere = await graph.node('organization', 'Elsewhere');
    await move(there.id, { confirmed: true, organization_id: elsewhere.id });
    expect((await move(child.id, { confirmed: true })).applied).toBe(true);
  });

  it('into the organization it is in already changes nothing', async () => {
    const node = await graph.node('area', 'At home');
    expect(await move(node.id, { organization_id: graph.organization.id, confirmed: true })).toEqual({
      applied: true,
      preview: null,
      node,
      moves: [],
      move_count: 0,
    });
  });

  it('is refused for organizations, into anything else, to nowhere and on a stale version', async () => {
    const node = await graph.node('area', 'Misguided');
    const refuse = (extra: object, code: Parameters<typeof graph.refusal>[3]) =>
      graph.refusal(
        moveNode,
        { node_id: node.id, organization_id: target.id, confirmed: true, ...extra },
        graph.admin,
        code,
      );
    await refuse({ node_id: graph.organization.id }, 'ORG_INVARIANT');
    await refuse({ organization_id: node.id }, 'ORG_INVARIANT');
    await refuse({ organization_id: newId() }, 'NODE_NOT_FOUND');
    await refuse({ node_id: newId() }, 'NODE_NOT_FOUND');
    expect((await refuse({ expected_version: 3 }, 'CONFLICT')).details).toEqual({ current: node });
  });

  it('out of a closed organization shows who gains, and into one who loses [access.preview.move] [access.inherit.organization-list]', async () => {
    const closed = await graph.node('organization', 'Closed', { visibility: 'private' });
    const node = await graph.node('area', 'Opened', { organization_id: closed.id });
    await graph.refusal(getNode, { node_id: node.id }, graph.reader, 'NODE_NOT_FOUND');
    const opening = await move(node.id, { confirmed: true });
    expect(opening.preview).toMatchObject({ widens: true, opens_to_everyone: 1 });
    expect(opening.preview?.gains.map((gain) => gain.user_name)).toEqual(['Rita Reader', 'Will Writer']);
    expect((await graph.call(getNode, { node_id: node.id }, graph.reader)).id).toBe(node.id);
    const closing = await move(node.id, { organization_id: closed.id, confirmed: true });
    expect(closing.preview).toMatchObject({ widens: false, gains: [] });
    expect(closing.preview?.loses.map((loss) => loss.user_name)).toEqual(['Rita Reader', 'Will Writer']);
  });

  it('keeps exactly one organization when it is moved, and its name created there, at once', async () => {
    const node = await graph.node('area', 'Hurried');
    const outcomes = await Promise.allSettled([
      move(node.id, { confirmed: true }),
      graph.call(createNode, { type: 'area', name: 'Hurried', organization_id: target.id }, graph.admin),
      move(node.id, { confirmed: true }),
    ]);
    expect(
      outcomes
        .filter((outcome) => outcome.status === 'rejected')
        .map(({ reason }) => reason.code)
        .filter((code) => code !== 'CONFLICT'),
    ).toEqual([]);
    const memberships = await graph.sql(
      `SELECT 1 FROM graph.edge e JOIN graph.node o ON o.id = e.target_id AND o.type = 'organization'
      WHERE e.source_id = $1 AND e.relation = 'belongs_to'`,
      [node.id],
    );
    expect(memberships).toHaveLength(1);
  });
});
