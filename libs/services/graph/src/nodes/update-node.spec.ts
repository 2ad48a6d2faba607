import {
  addResponsibility,
  archiveNode,
  connect,
  getNode,
  type InputOf,
  LIFECYCLES,
  listNodes,
  restoreNode,
  updateNode,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const update = (input: InputOf<typeof updateNode>) => graph.call(updateNode, input, graph.admin);
const read = (node_id: string) => graph.call(getNode, { node_id }, graph.admin);
const auditOf = (id: string) =>
  graph.sql<{ action: string; before: unknown; after: unknown }>(
    'SELECT action, before, after FROM audit.entry WHERE target_id = $1 ORDER BY at, id',
    [id],
  );

describe('editing a node', () => {
  it('changes the given fields under a new version and leaves the rest [graph.node.version-increments] [graph.node.description-and-goal] [graph.sync-key.immutable]', async () => {
    const node = await graph.node('project', 'Before', { description: 'old', goal: 'kept' });
    const { applied, preview, node: after } = await update({ node_id: node.id, name: 'After', description: '' });
    expect({ applied, preview }).toEqual({ applied: true, preview: null });
    expect(after).toEqual({ ...node, name: 'After', description: '', version: 2, updated_at: after.updated_at });
    expect(after.sync_key).toBe('before');
    expect(Date.parse(after.updated_at)).toBeGreaterThanOrEqual(Date.parse(node.updated_at));
    expect(await read(node.id)).toEqual(after);
  });

  it('audits the changed fields alone [graph.audit.fields]', async () => {
    const node = await graph.node('area', 'Audit me', { goal: 'same' });
    await update({ node_id: node.id, name: 'Audited', goal: 'same' });
    expect((await auditOf(node.id)).slice(1)).toEqual([
      { action: 'update_node', before: { name: 'Audit me' }, after: { name: 'Audited' } },
    ]);
  });

  it('answers the node without a new version or audit row when nothing differs', async () => {
    const node = await graph.node('project', 'Same', { lifecycle: 'planned' });
    const input = {
      node_id: node.id,
      name: 'Same',
      lifecycle: 'planned' as const,
      health: 'on_track' as const,
      owner_id: null,
    };
    expect((await update(input)).node).toEqual(node);
    expect(await auditOf(node.id)).toHaveLength(1);
  });

  it('refuses a blank name [graph.node.name-required]', async () => {
    const node = await graph.node('area', 'Named');
    await graph.refusal(updateNode, { node_id: node.id, name: ' ' }, graph.admin, 'VALIDATION_FAILED');
    expect(await read(node.id)).toEqual(node);
  });

  it('refuses a stale version with the current node and changes nothing [graph.node.if-match-stale-refused]', async () => {
    const node = await graph.node('area', 'Versioned');
    const { node: second } = await update({ node_id: node.id, name: 'Second', expected_version: 1 });
    const error = await graph.refusal(
      updateNode,
      { node_id: node.id, name: 'Third', expected_version: 1 },
      graph.admin,
      'CONFLICT',
    );
    expect(error.details).toEqual({ current: second });
    expect(await read(node.id)).toEqual(second);
  });

  it('lets one of several edits on the same version win [graph.node.concurrent-edits-one-wins]', async () => {
    const node = await graph.node('area', 'Contested');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_, i) => update({ node_id: node.id, name: `Writer ${i}`, expected_version: 1 })),
    );
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect([won.length, new Set(lost.map(({ reason }) => reason.code))]).toEqual([1, new Set(['CONFLICT'])]);
    expect(await read(node.id)).toMatchObject({ version: 2, name: won[0]?.value.node.name });
  });

  it('applies a repeated call once', async () => {
    const node = await graph.node('area', 'Retry');
    const callId = newId();
    const once = () =>
      graph.call(updateNode, { node_id: node.id, name: 'Retried', expected_version: 1 }, graph.admin, callId);
    expect(await once()).toEqual(await once());
    expect((await read(node.id)).version).toBe(2);
  });

  it('is NODE_NOT_FOUND for an absent node and FORBIDDEN below manage [access.tier.structure-needs-manage]', async () => {
    await graph.refusal(updateNode, { node_id: newId(), name: 'X' }, graph.admin, 'NODE_NOT_FOUND');
    for (const operation of [updateNode, archiveNode, restoreNode]) {
      await graph.refusal(operation, { node_id: newId() }, graph.writer, 'FORBIDDEN');
    }
  });
});

describe('the lifecycle', () => {
  it('takes the values of its type and refuses others with the allowed ones [graph.lifecycle.refused-for-type]', async () => {
    const process = await graph.node('process', 'Process');
    for (const lifecycle of LIFECYCLES.process)
      expect((await update({ node_id: process.id, lifecycle })).node.lifecycle).toBe(lifecycle);
    const error = await graph.refusal(
      updateNode,
      { node_id: process.id, lifecycle: 'done' },
      graph.admin,
      'LIFECYCLE_INVALID',
    );
    expect(error.details).toEqual({ allowed: LIFECYCLES.process });
    await graph.refusal(updateNode, { node_id: process.id, lifecycle: 'flying' }, graph.admin, 'VALIDATION_FAILED');
  });

  it('decides the status, which cannot be sent [graph.status.derived] [graph.status.not-settable]', async () => {
    const project = await graph.node('project', 'Status');
    expect((await update({ node_id: project.id, lifecycle: 'done' })).node.status).toBe('completed');
    await graph.refusal(updateNode, { node_id: project.id, status: 'active' }, graph.admin, 'VALIDATION_FAILED');
  });

  it('set to an archived value is an archive that restore takes back', async () => {
    const area = await graph.node('area', 'Quiet', { lifecycle: 'needs_attention' });
    await update({ node_id: area.id, lifecycle: 'inactive' });
    await update({ node_id: area.id, lifecycle: 'archived' });
    expect(await graph.call(restoreNode, { node_id: area.id }, graph.admin)).toMatchObject({
      lifecycle: 'needs_attention',
      status: 'active',
    });
  });
});

describe('archiving', () => {
  const types = ['organization', 'project', 'process', 'area', 'principle'] as const;

  it.each(types)('a node of type %s and restoring it brings its lifecycle back [graph.node.restore]', async (type) => {
    const node = await graph.node(type, `Archive ${type}`);
    const archived = await graph.call(archiveNode, { node_id: node.id }, graph.admin);
    expect(archived).toMatchObject({ status: 'archived', version: 2 });
    const restored = await graph.call(restoreNode, { node_id: node.id }, graph.admin);
    expect(restored).toEqual({ ...node, version: 3, updated_at: restored.updated_at });
  });

  it('leaves a project that is done as it is', async () => {
    const node = await graph.node('project', 'Well done', { lifecycle: 'done' });

    expect(await graph.call(archiveNode, { node_id: node.id }, graph.admin)).toMatchObject({
      lifecycle: 'done',
      status: 'completed',
      version: node.version,
    });
  });

  it('keeps edges, events, responsibilities, links and sharing [graph.node.archive-keeps-everything]', async () => {
    const other = await graph.node('project', 'Other');
    const node = await graph.node('process', 'Full', { visibility: 'private', lifecycle: 'operating' });
    await graph.call(connect, { source_id: node.id, target_id: other.id, relation: 'applies' }, graph.admin);
    await graph.call(addResponsibility, { node_id: node.id, title: 'Watch' }, graph.admin);
    const before = await read(node.id);
    const archived = await graph.call(archiveNode, { node_id: node.id }, graph.admin);
    expect(archived).toEqual({
      ...before,
      lifecycle: 'retired',
      status: 'archived',
      version: before.version + 1,
      updated_at: archived.updated_at,
    });
  });

  it('twice, or restoring what is active, changes nothing', async () => {
    const node = await graph.node('project', 'Twice', { lifecycle: 'done' });
    expect(await graph.call(restoreNode, { node_id: node.id }, graph.admin)).toEqual(node);
    const archived = await graph.call(archiveNode, { node_id: node.id }, graph.admin);
    expect(await graph.call(archiveNode, { node_id: node.id }, graph.admin)).toEqual(archived);
    expect((await graph.call(restoreNode, { node_id: node.id }, graph.admin)).lifecycle).toBe('done');
  });

  it('hides it from default lists until it is restored [graph.node.archived-hidden-by-default]', async () => {
    const node = await graph.node('area', 'Sometimes listed');
    const listed = async (input: InputOf<typeof listNodes>) =>
      (await graph.call(listNodes, { query: 'sometimes', ...input }, graph.reader)).items.map((item) => item.id);
    expect(await listed({})).toEqual([node.id]);
    await graph.call(archiveNode, { node_id: node.id }, graph.admin);
    expect(await listed({})).toEqual([]);
    expect(await listed({ status: ['archived'] })).toEqual([node.id]);
    expect(await listed({ lifecycle: ['archived'] })).toEqual([node.id]);
    await graph.call(restoreNode, { node_id: node.id }, graph.admin);
    expect(await listed({})).toEqual([node.id]);
  });

  it('checks the version it is based on', async () => {
    const node = await graph.node('area', 'Checked');
    for (const operation of [archiveNode, restoreNode]) {
      const error = await graph.refusal(operation, { node_id: node.id, expected_version: 7 }, graph.admin, 'CONFLICT');
      expect(error.details).toEqual({ current: node });
    }
  });
});

describe('health', () => {
  it('carries a note and tells who set it and when [graph.health.note-and-author]', async () => {
    const project = await graph.node('project', 'Health');
    const { node } = await update({ node_id: project.id, health: 'at_risk', health_note: 'Late' });
    expect(node.health_report).toEqual({ value: 'at_risk', note: 'Late', by: 'Ada Admin', at: node.updated_at });
    const again = (await update({ node_id: project.id, health: 'off_track' })).node.health_report;
    expect(again).toMatchObject({ value: 'off_track', note: null });
    const noted = (await update({ node_id: project.id, health_note: 'Very late' })).node.health_report;
    expect(noted).toMatchObject({ value: 'off_track', note: 'Very late' });
  });

  it('belongs to projects alone [graph.health.projects-only]', async () => {
    const area = await graph.node('area', 'No health');
    for (const [field, value] of [
      ['health', 'at_risk'],
      ['health_note', 'x'],
    ] as const) {
      const error = await graph.refusal(
        updateNode,
        { node_id: area.id, [field]: value },
        graph.admin,
        'VALIDATION_FAILED',
      );
      expect(error.details).toMatchObject({ issues: [{ path: field }] });
    }
  });
});

describe('the owner', () => {
  it('is set, changed and cleared; an unknown actor is refused [graph.node.owner-is-actor]', async () => {
    const [one, other] = [await graph.actor('One'), await graph.actor('Robot', { type: 'automation' })];
    const node = await graph.node('area', 'Owned by turns');
    const set = async (owner_id: string | null) => (await update({ node_id: node.id, owner_id })).node.owner;
    expect([await set(one.id), await set(other.id), await set(null)]).toEqual([
      { id: one.id, type: 'person', name: 'One' },
      { id: other.id, type: 'automation', name: 'Robot' },
      null,
    ]);
    await graph.refusal(updateNode, { node_id: node.id, owner_id: newId() }, graph.admin, 'ACTOR_NOT_FOUND');
  });

  it('of a restricted node sees it, so a new one asks for confirmation [access.preview.widening-needs-confirmation]', async () => {
    const person = await graph.actor('Writer as actor', { user_id: graph.writer.user_id });
    const node: NodeAnswer = await graph.node('area', 'Restricted', { visibility: 'private' });
    const input = { node_id: node.id, owner_id: person.id, name: 'Restricted and renamed' };
    const asked = await update(input);
    expect(asked).toMatchObject({
      applied: false,
      preview: { widens: true, gains: [{ user_name: 'Will Writer', node_count: 1 }], loses: [] },
    });
    expect(asked.node).toEqual(node);
    expect(await read(node.id)).toEqual(node);
    await graph.refusal(getNode, { node_id: node.id }, graph.writer, 'NODE_NOT_FOUND');

    expect(await update({ ...input, confirmed: true })).toMatchObject({
      applied: true,
      node: { name: 'Restricted and renamed', owner: { id: person.id }, version: 2 },
    });
    expect((await graph.call(getNode, { node_id: node.id }, graph.writer)).id).toBe(node.id);

    const dropped = await update({ node_id: node.id, owner_id: null });
    expect(dropped).toMatchObject({ applied: true, preview: { widens: false, loses: [{ user_name: 'Will Writer' }] } });
    await graph.refusal(getNode, { node_id: node.id }, graph.writer, 'NODE_NOT_FOUND');
  });
});
