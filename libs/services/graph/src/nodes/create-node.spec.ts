import { createNode, getNode, LIFECYCLES, type Lifecycle, NODE_TYPES, type NodeType } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UTC_MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

describe('creating a node', () => {
  it('stores every type and answers the node whole [graph.node.types] [graph.node.id-uuid-v7] [graph.time.utc-milliseconds]', async () => {
    for (const type of NODE_TYPES) {
      const made = await graph.node(type, `A ${type}`);
      expect(made).toMatchObject({
        type,
        name: `A ${type}`,
        version: 1,
        owner: null,
        responsibilities: [],
        recent_events: [],
      });
      expect(made.id).toMatch(UUID_V7);
      expect([made.created_at, made.updated_at].every((time) => UTC_MILLISECONDS.test(time))).toBe(true);
      expect(await graph.call(getNode, { node_id: made.id }, graph.reader)).toEqual({
        ...made,
        access: { ...made.access, level: 'write' },
      });
    }
    const error = await graph.refusal(
      createNode,
      { type: 'team', name: 'X', organization_id: graph.organization.id },
      graph.admin,
      'VALIDATION_FAILED',
    );
    expect(error.details).toMatchObject({ issues: [{ path: 'type' }] });
  });

  it('refuses a blank name, naming the field, and changes nothing [graph.node.name-required]', async () => {
    const before = await graph.sql('SELECT count(*)::int AS nodes FROM graph.node');
    for (const name of ['', '   ', '\t']) {
      const error = await graph.refusal(
        createNode,
        { type: 'area', name, organization_id: graph.organization.id },
        graph.admin,
        'VALIDATION_FAILED',
      );
      expect(error.details).toMatchObject({ issues: [{ path: 'name' }] });
    }
    expect(await graph.sql('SELECT count(*)::int AS nodes FROM graph.node')).toEqual(before);
  });

  it('returns description and goal exactly as written [graph.node.description-and-goal]', async () => {
    const texts = { description: '  two\nlines\t“quoted” \u{1F600} ', goal: 'O\'Hara \\ "x" <b>' };
    expect(await graph.node('project', 'Texts', texts)).toMatchObject(texts);
  });

  it('starts each type in its first lifecycle and takes any of its others [graph.lifecycle.organization] [graph.lifecycle.project] [graph.lifecycle.process] [graph.lifecycle.area] [graph.lifecycle.principle]', async () => {
    for (const type of NODE_TYPES) {
      expect((await graph.node(type, `First ${type}`)).lifecycle).toBe(LIFECYCLES[type][0]);
      for (const lifecycle of LIFECYCLES[type]) {
        expect((await graph.node(type, `${type} ${lifecycle}`, { lifecycle })).lifecycle).toBe(lifecycle);
      }
    }
  });

  it('derives the status from the lifecycle alone [graph.status.derived] [graph.status.values] [graph.status.not-settable]', async () => {
    const expected: Partial<Record<Lifecycle, string>> = {
      done: 'completed',
      archived: 'archived',
      retired: 'archived',
      cancelled: 'archived',
      inactive: 'archived',
    };
    for (const type of NODE_TYPES) {
      for (const lifecycle of LIFECYCLES[type]) {
        expect((await graph.node(type, `Status ${type}`, { lifecycle })).status).toBe(expected[lifecycle] ?? 'active');
      }
    }
    await graph.refusal(
      createNode,
      { type: 'organization', name: 'X', status: 'archived' },
      graph.admin,
      'VALIDATION_FAILED',
    );
  });

  it('refuses the lifecycle of another type [graph.lifecycle.refused-for-type, errors.lifecycle-invalid]', async () => {
    const input = { type: 'area', name: 'X', organization_id: graph.organization.id, lifecycle: 'done' };
    const error = await graph.refusal(createNode, input, graph.admin, 'LIFECYCLE_INVALID');
    expect(error.details).toEqual({ allowed: LIFECYCLES.area });
  });

  it('keeps a lifecycle out that a bypassing writer tries [graph.lifecycle.database-enforces]', async () => {
    const area = await graph.node('area', 'Guarded');
    await expect(graph.sql(`UPDATE graph.node SET lifecycle = 'done' WHERE id = $1`, [area.id])).rejects.toThrow(
      /node_lifecycle_fits/,
    );
  });

  it('gives projects alone a health, on_track unless told [graph.health.values] [graph.health.projects-only]', async () => {
    expect((await graph.node('project', 'Healthy')).health_report).toEqual({
      value: 'on_track',
      note: null,
      by: null,
      at: null,
    });
    expect((await graph.node('project', 'Ill', { health: 'off_track' })).health_report).toMatchObject({
      value: 'off_track',
      by: 'Ada Admin',
      at: expect.stringMatching(UTC_MILLISECONDS),
    });
    expect((await graph.node('process', 'None')).health_report).toBeNull();
    const input = { name: 'X', organization_id: graph.organization.id };
    const error = await graph.refusal(
      createNode,
      { ...input, type: 'area', health: 'at_risk' },
      graph.admin,
      'VALIDATION_FAILED',
    );
    expect(error.details).toMatchObject({ issues: [{ path: 'health' }] });
    await graph.refusal(
      createNode,
      { ...input, type: 'project', health: 'splendid' },
      graph.admin,
      'VALIDATION_FAILED',
    );
  });

  it('writes one audit row with the author, the surface and the fields [graph.audit.same-transaction] [graph.audit.fields] [graph.audit.via]', async () => {
    const made = await graph.call(
      createNode,
      { type: 'area', name: 'Audited', organization_id: graph.organization.id },
      { ...graph.admin, via: 'mcp' },
    );
    const rows = await graph.sql(
      'SELECT user_id, via, action, target_kind, before, after FROM audit.entry WHERE target_id = $1',
      [made.id],
    );
    expect(rows).toEqual([
      {
        user_id: graph.admin.user_id,
        via: 'mcp',
        action: 'create_node',
        target_kind: 'node',
        before: null,
        after: expect.objectContaining({ type: 'area', name: 'Audited', lifecycle: 'active', sync_key: 'audited' }),
      },
    ]);
  });

  it('answers a repeated call with the first reply and creates nothing more', async () => {
    const input = { type: 'area' as const, name: 'Once', organization_id: graph.organization.id };
    const callId = newId();
    const [first, again] = [
      await graph.call(createNode, input, graph.admin, callId),
      await graph.call(createNode, input, graph.admin, callId),
    ];
    expect(again).toEqual(first);
    expect(await graph.sql(`SELECT count(*)::int AS n FROM graph.node WHERE name = 'Once'`)).toEqual([{ n: 1 }]);
  });

  it('is refused below manage [access.tier.structure-needs-manage]', async () => {
    const error = await graph.refusal(createNode, { type: 'organization', name: 'X' }, graph.writer, 'FORBIDDEN');
    expect(error.details).toEqual({ required_scope: 'manage' });
  });
});

describe('the organization of a new node', () => {
  it('becomes its one membership edge [graph.edges.one-organization]', async () => {
    const area = await graph.node('area', 'Member');
    expect(area.organization).toEqual({ id: graph.organization.id, type: 'organization', name: 'Acme' });
    expect(area.edges.items).toEqual([
      { id: expect.stringMatching(UUID_V7), direction: 'outgoing', relation: 'belongs_to', node: area.organization },
    ]);
  });

  it('may stand beside further parents, each named once [graph.edges.extra-parents]', async () => {
    const [area, project] = [await graph.node('area', 'Parent area'), await graph.node('project', 'Parent project')];
    const child = await graph.node('process', 'Child', { parent_ids: [area.id, project.id, area.id] });
    expect(child.edges.items.map((edge) => edge.node.name)).toEqual(['Acme', 'Parent area', 'Parent project']);
  });

  it('is required, single and an organization [graph.edges.second-organization-refused] [graph.edges.organization-has-no-parent] [errors.org-invariant]', async () => {
    const other = await graph.node('organization', 'Other');
    const area = await graph.node('area', 'Not an organization');
    const base = { name: 'X', organization_id: graph.organization.id };
    const refused: Record<string, unknown>[] = [
      { type: 'area', name: 'X' },
      { ...base, type: 'area', organization_id: area.id },
      { ...base, type: 'area', parent_ids: [other.id] },
      { ...base, type: 'organization' },
      { type: 'organization', name: 'X', parent_ids: [area.id] },
    ];
    for (const input of refused) await graph.refusal(createNode, input, graph.admin, 'ORG_INVARIANT');
    expect(await graph.sql(`SELECT 1 FROM graph.node WHERE name = 'X'`)).toEqual([]);
  });

  it('is refused with NODE_NOT_FOUND when there is none', async () => {
    for (const field of ['organization_id', 'parent_ids'] as const) {
      const absent = newId();
      const input = {
        type: 'area',
        name: 'X',
        organization_id: graph.organization.id,
        [field]: field === 'parent_ids' ? [absent] : absent,
      };
      expect((await graph.refusal(createNode, input, graph.admin, 'NODE_NOT_FOUND')).details).toEqual({
        node_id: absent,
      });
    }
  });
});

describe('the owner of a new node', () => {
  it('is an existing actor [graph.node.owner-is-actor]', async () => {
    const actor = await graph.actor('Olga');
    expect((await graph.node('area', 'Owned', { owner_id: actor.id })).owner).toEqual({
      id: actor.id,
      type: 'person',
      name: 'Olga',
    });
    const input = { type: 'area', name: 'X', organization_id: graph.organization.id, owner_id: newId() };
    await graph.refusal(createNode, input, graph.admin, 'ACTOR_NOT_FOUND');
  });
});

describe('the sync_key of a new node', () => {
  it('is the slug of its name, never empty [graph.sync-key.slug] [graph.sync-key.never-empty]', async () => {
    expect((await graph.node('area', 'Žluťoučký kůň & Co.')).sync_key).toBe('zlutoucky-kun-co');
    expect((await graph.node('project', '???')).sync_key).toBe('project');
  });

  it('gets a suffix where type and organization have it already, and only there [graph.sync-key.unique] [graph.sync-key.collision-suffix]', async () => {
    const other = await graph.node('organization', 'Elsewhere');
    const first = await graph.node('area', 'Same Name');
    const second = await graph.node('area', 'same name!');
    expect([first.sync_key, second.sync_key]).toEqual(['same-name', expect.stringMatching(/^same-name-[a-z0-9]{5}$/)]);
    expect((await graph.node('project', 'Same name')).sync_key).toBe('same-name');
    expect((await graph.node('area', 'Same name', { organization_id: other.id })).sync_key).toBe('same-name');
    expect((await graph.node('organization', 'Elsewhere')).sync_key).toMatch(/^elsewhere-[a-z0-9]{5}$/);
  });

  it('stays unique when eight writers create the same name at once', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => graph.node('area', 'Rush hour')));
    const keys = made.map((node) => node.sync_key);
    expect(new Set(keys).size).toBe(8);
    expect(keys.filter((key) => key === 'rush-hour')).toHaveLength(1);
  });

  it('tells nothing of a hidden node that has it [access.hidden.names-not-probed]', async () => {
    const hidden = await graph.node('area', 'Known only to few', { visibility: 'private' });
    const second = await graph.call(
      createNode,
      { type: 'area', name: 'Known only to few', organization_id: graph.organization.id },
      graph.admin,
    );
    expect(JSON.stringify(second)).not.toContain(hidden.id);
    expect(second.sync_key).toMatch(/^known-only-to-few-/);
  });
});

describe('the sharing of a new node', () => {
  it('hides it from the start when it is private or shared with a group [access.visibility.private-hides] [access.visibility.wire-values]', async () => {
    for (const visibility of ['private', 'group'] as const) {
      const made = await graph.node('area', `From the start ${visibility}`, { visibility });
      expect(made.access).toEqual({
        mode: visibility,
        inherited: false,
        from: [{ id: made.id, type: 'area', name: made.name }],
        level: 'write',
      });
      await graph.refusal(getNode, { node_id: made.id }, graph.writer, 'NODE_NOT_FOUND');
      const creator = { ...graph.admin, scope: 'read' as const };
      expect((await graph.call(getNode, { node_id: made.id }, creator)).id).toBe(made.id);
    }
  });

  it('is inherited from a restricted parent at once', async () => {
    const parent = await graph.node('area', 'Closed parent', { visibility: 'private' });
    const child = await graph.node('project', 'Inside', { parent_ids: [parent.id] });
    expect(child.access).toMatchObject({ mode: 'private', inherited: true, from: [{ id: parent.id }] });
    const open = await graph.node('project', 'Open inside', { parent_ids: [parent.id], visibility: 'everyone' });
    expect(open.access).toMatchObject({ mode: 'everyone', inherited: false, from: [] });
    expect(
      (await graph.call(getNode, { node_id: open.id }, graph.reader)).edges.items.map((edge) => edge.node.name),
    ).toEqual(['Acme']);
  });

  it('is that of a restricted organization', async () => {
    const closed = await graph.node('organization', 'Closed company', { visibility: 'group' });
    const made: { type: NodeType; id: string } = await graph.node('area', 'Of the closed', {
      organization_id: closed.id,
    });
    await graph.refusal(getNode, { node_id: made.id }, graph.reader, 'NODE_NOT_FOUND');
  });
});

describe('reading a node', () => {
  it('answers the same for a hidden and for an absent one [access.hidden.indistinguishable-from-absent]', async () => {
    const hidden = await graph.node('area', 'Hidden', { visibility: 'private' });
    const absent = newId();
    const [one, other] = await Promise.all(
      [hidden.id, absent].map((node_id) => graph.refusal(getNode, { node_id }, graph.reader, 'NODE_NOT_FOUND')),
    );
    const text = (error: typeof one, id: string) => JSON.stringify(error?.toBody('r')).replaceAll(id, 'ID');
    expect(text(one, hidden.id)).toBe(text(other, absent));
  });
});
