import {
  addDataSource,
  addResponsibility,
  addTool,
  archiveEvent,
  archiveNode,
  type Caller,
  connect,
  createNode,
  deleteActor,
  disconnect,
  editEvent,
  getEvent,
  getNode,
  type InputOf,
  listEdges,
  listEvents,
  logEvent,
  type OutputOf,
  removeDataSource,
  removeResponsibility,
  removeTool,
  reorderResponsibilities,
  resolveEvent,
  setAccess,
  supersedeEvent,
  undoSession,
  updateActor,
  updateNode,
  updateResponsibility,
} from '@workspace-graph/contracts';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';
import { planOf } from '../testing/plan.fixture.js';
import { BUILT_ON } from './undo.statements.js';

let graph: GraphFixture;
let agent: Caller;
let node: NodeAnswer;
let near: NodeAnswer;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());
beforeEach(async () => {
  node = await graph.node('project', `Pier ${Math.random()}`, { description: 'Of stone.' });
  near = await graph.node('area', `Harbour ${Math.random()}`);
  agent = await agentOf(graph.admin);
});

type Undone = OutputOf<typeof undoSession>;

const agentOf = (caller: Caller): Promise<Caller> =>
  graph.session(caller, { home: node.id, write: [node.id, near.id], read: [graph.organization.id] });
const undo = (more: Partial<InputOf<typeof undoSession>> = {}, caller: Caller = graph.admin): Promise<Undone> =>
  graph.call(undoSession, { session_id: agent.session_id ?? '', confirmed: true, ...more }, caller);
const said = ({ changes }: Undone): string[] =>
  changes.map(({ action, undone, fields, kept }) => [action, undone ? 'undone' : kept, ...fields].join(' '));
const read = (): Promise<NodeAnswer> => graph.call(getNode, { node_id: node.id }, graph.admin);
/** What people see of a node, but for what every change renews. */
const facts = async (): Promise<object> => {
  // Who sets a health back signs it.
  const { version: _, updated_at: __, recent_events: ___, health_report: ____, ...rest } = await read();
  const { items } = await graph.call(listEvents, { node_id: node.id, status: ['active', 'resolved'] }, graph.admin);
  const withoutIds = (key: string, value: unknown): unknown => (key === 'id' && value !== node.id ? undefined : value);
  const told = items.map(({ version: _v, ...event }) => event);
  return JSON.parse(JSON.stringify({ rest, events: told }, withoutIds)) as object;
};
const log = (content: string, caller: Caller = agent) =>
  graph.call(logEvent, { node_id: node.id, kind: 'note', content }, caller);

describe('the undo of a session', () => {
  it('takes everything back that nothing was built on, the last change first', async () => {
    const actors = [await graph.actor('Petra'), await graph.actor('Pavel')];
    const assignee_ids = [actors[0]?.id ?? ''];
    const duty = await graph.call(addResponsibility, { node_id: node.id, title: 'Wood', assignee_ids }, graph.admin);
    const other = await graph.call(addResponsibility, { node_id: node.id, title: 'Nails' }, graph.admin);
    const sheet = await graph.call(addDataSource, { node_id: node.id, name: 'Sheet', url: null }, graph.admin);
    const { edge } = await graph.call(
      connect,
      { source_id: node.id, target_id: near.id, relation: 'related_to' },
      graph.admin,
    );
    const old = await log('The old plan', graph.admin);
    const open = await log('Open', graph.admin);
    const before = await facts();

    await graph.call(
      updateNode,
      { node_id: node.id, description: 'Of wood.', health: 'at_risk', health_note: 'Late' },
      agent,
    );
    await graph.call(updateNode, { node_id: node.id, description: 'Of oak.' }, agent);
    await graph.call(archiveNode, { node_id: node.id }, agent);
    const responsibility_id = duty.id;
    await graph.call(
      updateResponsibility,
      { responsibility_id, title: 'Oak', assignee_ids: [actors[1]?.id ?? ''] },
      agent,
    );
    await graph.call(reorderResponsibilities, { node_id: node.id, responsibility_ids: [other.id, duty.id] }, agent);
    await graph.call(addResponsibility, { node_id: node.id, title: 'Varnish' }, agent);
    await graph.call(removeDataSource, { data_source_id: sheet.id }, agent);
    await graph.call(addDataSource, { node_id: node.id, name: 'Other sheet', url: null }, agent);
    await graph.call(disconnect, { edge_id: edge?.id ?? '' }, agent);
    await graph.call(connect, { source_id: node.id, target_id: near.id, relation: 'informed_by' }, agent);
    await graph.call(updateActor, { actor_id: actors[0]?.id ?? '', name: 'Petra P.' }, agent);
    const made = await log('A note');
    await graph.call(editEvent, { event_id: made.id, content: 'A better note' }, agent);
    await graph.call(resolveEvent, { event_id: open.id, resolution: 'done' }, agent);
    await graph.call(archiveEvent, { event_id: open.id }, agent);
    await graph.call(supersedeEvent, { event_id: old.id, content: 'The new plan' }, agent);
    const after = await facts();

    const preview = await undo({ confirmed: false });
    expect(preview).toMatchObject({ applied: false, kept: 0, complete: true });
    expect(await facts()).toEqual(after);
    const applied = await undo();
    expect(applied).toEqual({ ...preview, applied: true });
    expect(said(applied)).toEqual([
      'supersede_event undone status',
      'archive_event undone status',
      'resolve_event undone status',
      'edit_event undone content',
      'log undone',
      'update_actor undone name',
      'connect undone',
      'disconnect undone',
      'add_data_source undone',
      'remove_data_source undone',
      'add_responsibility undone',
      'reorder_responsibilities undone responsibility_ids',
      'update_responsibility undone assignee_ids title',
      'archive_node undone lifecycle lifecycle_before_archive',
      'update_node undone description',
      'update_node undone description health health_note',
    ]);
    expect(await facts()).toEqual(before);
    const edges = await graph.call(listEdges, { node_id: node.id }, graph.admin);
    expect(edges.items.map(({ relation }) => relation).toSorted()).toEqual(['belongs_to', 'related_to']);
  });

  it('puts responsibilities back where they stood, also those whose order it had changed', async () => {
    const [one = '', two = '', three = ''] = await Promise.all(
      ['Wood', 'Nails', 'Rope'].map(
        async (title) => (await graph.call(addResponsibility, { node_id: node.id, title }, graph.admin)).id,
      ),
    );
    const order = async () => (await read()).responsibilities.map(({ id }) => id);
    const before = await order();
    const turned = [three, two, one];
    await graph.call(reorderResponsibilities, { node_id: node.id, responsibility_ids: turned }, agent);
    await graph.call(removeResponsibility, { responsibility_id: three }, agent);
    await graph.call(removeResponsibility, { responsibility_id: two }, agent);
    expect(said(await undo())).toEqual([
      'remove_responsibility undone',
      'remove_responsibility undone',
      'reorder_responsibilities undone responsibility_ids',
    ]);
    expect(await order()).toEqual(before);
    await graph.call(removeResponsibility, { responsibility_id: before[2] ?? '' }, agent);
    await graph.call(removeResponsibility, { responsibility_id: before[0] ?? '' }, graph.admin);
    await undo();
    expect(await order()).toEqual([before[1], before[2]]);
  });

  it('puts data sources and tools back where they stood, before those that were added since', async () => {
    const [one = '', two = '', three = ''] = await Promise.all(
      ['Wood', 'Nails', 'Rope'].map(
        async (name) => (await graph.call(addTool, { node_id: node.id, name, url: null }, graph.admin)).id,
      ),
    );
    const order = async () => (await read()).tools.map(({ id }) => id);
    const before = await order();
    expect(before.toSorted()).toEqual([one, two, three].toSorted());
    await graph.call(removeTool, { tool_id: before[1] ?? '' }, agent);
    await graph.call(removeTool, { tool_id: before[0] ?? '' }, agent);
    const added = await graph.call(addTool, { node_id: node.id, name: 'Saw', url: null }, graph.admin);
    expect(said(await undo())).toEqual(['remove_tool undone', 'remove_tool undone']);
    expect(await order()).toEqual([...before, added.id]);
  });

  it('leaves what was changed since, field by field, and does nothing twice', async () => {
    await graph.call(updateNode, { node_id: node.id, description: 'Of wood.', goal: 'Ready in May.' }, agent);
    const made = await log('A note');
    await graph.call(updateNode, { node_id: node.id, goal: 'Ready in June.' }, graph.admin);
    await graph.call(editEvent, { event_id: made.id, content: 'A note of mine' }, graph.admin);
    expect(said(await undo())).toEqual(['log changed_since', 'update_node undone description']);
    expect(await read()).toMatchObject({ description: 'Of stone.', goal: 'Ready in June.' });
    expect(said(await undo())).toEqual(['log changed_since', 'update_node changed_since']);
    await graph.call(updateNode, { node_id: node.id, goal: '' }, graph.admin);
    expect(said(await undo())).toEqual(['log changed_since', 'update_node already']);
  });

  it('archives nodes that it made, but for those that others build on', async () => {
    const make = (name: string, more: Partial<InputOf<typeof createNode>> = {}) =>
      graph.call(createNode, { type: 'area', name, organization_id: graph.organization.id, ...more }, agent);
    const alone = await make('Alone');
    await make('Below', { parent_ids: [alone.id] });
    await graph.call(logEvent, { node_id: alone.id, kind: 'note', content: 'Mine' }, agent);
    const noted = await make('Noted');
    await graph.call(logEvent, { node_id: noted.id, kind: 'note', content: 'Of somebody else' }, graph.admin);
    const filed = await make('Filed');
    await graph.file(filed.id, 'wip/plan.md');
    const above = await make('Above');
    await graph.node('area', 'Of others', { parent_ids: [above.id] });
    expect(said(await undo())).toEqual([
      'create_node built_on',
      'create_node built_on',
      'create_node built_on',
      'log undone',
      'create_node undone lifecycle',
      'create_node undone lifecycle',
    ]);
    const lifecycles = [alone, noted, filed, above].map(
      async ({ id }) => (await graph.call(getNode, { node_id: id }, graph.admin)).status,
    );
    expect(await Promise.all(lifecycles)).toEqual(['archived', 'active', 'active', 'active']);
  });

  it('leaves what decides who sees what, and what has no way back, and says so', async () => {
    await graph.call(
      connect,
      { source_id: near.id, target_id: node.id, relation: 'belongs_to', confirmed: true },
      agent,
    );
    await graph.call(setAccess, { node_id: node.id, visibility: 'private', confirmed: true }, agent);
    const person = await graph.actor('Pavla');
    await graph.call(updateNode, { node_id: node.id, owner_id: person.id, confirmed: true }, agent);
    await graph.call(deleteActor, { actor_id: (await graph.actor('Nobody')).id }, agent);
    expect(said(await undo())).toEqual([
      'delete_actor not_undoable',
      'update_node moves_access',
      'set_access not_undoable',
      'connect moves_access',
    ]);
  });

  it('begins where it is told, and keeps a former record that is gone', async () => {
    const first = await log('First');
    await graph.call(updateNode, { node_id: node.id, description: 'Of wood.' }, agent);
    const duty = await graph.call(addResponsibility, { node_id: node.id, title: 'Wood' }, agent);
    await graph.call(removeResponsibility, { responsibility_id: duty.id }, graph.admin);
    const { changes } = await undo({ confirmed: false });
    const from_seq = changes.find(({ action }) => action === 'update_node')?.seq ?? 0;
    expect(said(await undo({ from_seq }))).toEqual(['add_responsibility gone', 'update_node undone description']);
    expect(await graph.call(getEvent, { event_id: first.id }, graph.admin)).toMatchObject({ status: 'active' });
  });

  it('is for the owner and for manage, with the rights of who asks, over what they see alone', async () => {
    agent = await agentOf(graph.writer);
    await log('Seen');
    await graph.call(logEvent, { node_id: near.id, kind: 'note', content: 'Elsewhere' }, agent);
    const session_id = agent.session_id ?? '';
    const stranger = await graph.user('Sofie Stranger', 'write');
    await graph.refusal(undoSession, { session_id }, stranger, 'SESSION_FORBIDDEN');
    const absent = '0190a5f0-0000-7000-8000-00000000dead';
    await graph.refusal(undoSession, { session_id: absent }, stranger, 'SESSION_NOT_FOUND');
    await graph.call(setAccess, { node_id: near.id, visibility: 'private', confirmed: true }, graph.admin);
    expect(said(await undo({ confirmed: false }, graph.writer))).toEqual(['log undone']);
    await graph.call(setAccess, { node_id: node.id, visibility: 'private', confirmed: true }, graph.admin);
    await graph.refusal(undoSession, { session_id }, graph.writer, 'SESSION_NOT_FOUND');
    expect(said(await undo())).toEqual(['log undone', 'log undone']);
  });

  it('is the same whether hidden nodes build on what it takes back or not [access.hidden.nowhere]', async () => {
    agent = await agentOf(await graph.user('Max Maker', 'manage'));
    const make = (name: string) =>
      graph.call(createNode, { type: 'area', name, organization_id: graph.organization.id }, agent);
    const [free, used] = [await make('Free'), await make('Used')];
    const hidden = await graph.node('area', 'Hidden', { visibility: 'private' });
    for (const relation of ['related_to', 'informed_by'] as const)
      await graph.call(connect, { source_id: hidden.id, target_id: used.id, relation }, graph.admin);
    // Somebody who manages sees everything: what others see of it is asked for by the statement itself.
    const { rows } = await graph.database.pool.query<{ is_so: boolean }>({
      text: BUILT_ON.text,
      values: [graph.writer.user_id, false, used.id, agent.session_id],
    });
    expect(rows).toEqual([{ is_so: false }]);
    expect(said(await undo())).toEqual(['create_node built_on', 'create_node undone lifecycle']);
    expect((await graph.call(getNode, { node_id: free.id }, graph.admin)).status).toBe('archived');
  });

  it('sets back what it can where a former owner or holder is gone', async () => {
    const [gone, mate] = [await graph.actor('Gone'), await graph.actor('Mate')];
    await graph.call(updateNode, { node_id: node.id, owner_id: gone.id }, graph.admin);
    const duty = await graph.call(
      addResponsibility,
      { node_id: node.id, title: 'Wood', assignee_ids: [gone.id] },
      graph.admin,
    );
    await graph.call(updateNode, { node_id: node.id, owner_id: mate.id, description: 'Of wood.' }, agent);
    const changed = { responsibility_id: duty.id, title: 'Oak', assignee_ids: [mate.id] };
    await graph.call(updateResponsibility, changed, agent);
    await graph.call(deleteActor, { actor_id: gone.id, confirmed: true }, graph.admin);
    const preview = await undo({ confirmed: false });
    expect(said(preview)).toEqual(['update_responsibility undone title', 'update_node undone description']);
    expect(await undo()).toEqual({ ...preview, applied: true });
    expect(await read()).toMatchObject({
      description: 'Of stone.',
      owner: { id: mate.id },
      responsibilities: [{ title: 'Wood', assignees: [{ id: mate.id }] }],
    });
    expect(said(await undo())).toEqual(['update_responsibility gone', 'update_node gone']);
  });

  it('looks at the timeline of a node that is to be archived alone, however long that of another one is, and has a minute', async () => {
    await graph.database.pool.query(
      `INSERT INTO graph.event (id, node_id, kind, content, occurred_at)
       SELECT gen_random_uuid(), $1, 'note', 'Wave ' || i, now() FROM generate_series(1, 5000) i`,
      [near.id],
    );
    await graph.database.pool.query('ANALYZE graph.event');
    const made = { type: 'area', name: 'Quay', organization_id: graph.organization.id } as const;
    const { id } = await graph.call(createNode, made, agent);
    const asked = [graph.admin.user_id, true, id, agent.session_id];
    expect((await planOf(graph.database, BUILT_ON, asked)).wholeTables).not.toContain('event');
    expect(undoSession.timeoutMs).toBe(60_000);
  });

  it('brings back what was removed as itself, so that nothing stays of what the session made and removed, and once', async () => {
    const duty = await graph.call(addResponsibility, { node_id: node.id, title: 'Wood' }, graph.admin);
    const tool = await graph.call(addTool, { node_id: node.id, name: 'Saw', url: null }, graph.admin);
    const ends = { source_id: node.id, target_id: near.id } as const;
    const { edge } = await graph.call(connect, { ...ends, relation: 'related_to' }, graph.admin);
    const before = await facts();
    const made = await graph.call(addTool, { node_id: node.id, name: 'Plane', url: null }, agent);
    await graph.call(removeTool, { tool_id: made.id }, agent);
    await graph.call(removeTool, { tool_id: tool.id }, agent);
    const joined = await graph.call(connect, { ...ends, relation: 'informed_by' }, agent);
    for (const each of [joined.edge, edge]) await graph.call(disconnect, { edge_id: each?.id ?? '' }, agent);
    await graph.call(updateResponsibility, { responsibility_id: duty.id, title: 'Oak' }, agent);
    await graph.call(removeResponsibility, { responsibility_id: duty.id }, agent);
    expect((await undo()).kept).toBe(0);
    const edges = async () =>
      (await graph.call(listEdges, { node_id: node.id }, graph.admin)).items.map(({ id }) => id);
    expect(await facts()).toEqual(before);
    expect(await edges()).toContain(edge?.id);
    const [there, again] = [await edges(), await undo()];
    expect(new Set(again.changes.map(({ kept }) => kept))).toEqual(new Set(['already']));
    expect([await facts(), await edges()]).toEqual([before, there]);
  });

  it('by the session itself is no change of the session, and reaches what it may change alone', async () => {
    await graph.call(connect, { source_id: node.id, target_id: near.id, relation: 'related_to' }, agent);
    await graph.call(logEvent, { node_id: near.id, kind: 'note', content: 'Elsewhere' }, agent);
    await log('Here');
    const narrow = await graph.session(graph.admin, { home: node.id, write: [node.id] });
    expect(said(await undo({}, narrow))).toEqual(['log undone', 'log forbidden', 'connect forbidden']);
    expect(said(await undo({}, agent))).toEqual(['log already', 'log undone', 'connect undone']);
    expect(said(await undo({}, agent))).toEqual(['log already', 'log already', 'connect already']);
    expect((await graph.call(listEdges, { node_id: near.id }, graph.admin)).items).toHaveLength(1);
  });

  it('of another session is told by the undo of the session that did it, and stays; with what it undid hidden, nothing is told', async () => {
    const writer = await graph.session(graph.writer, { home: near.id, write: [near.id] });
    await graph.call(logEvent, { node_id: near.id, kind: 'note', content: 'Elsewhere' }, writer);
    const other = await graph.session(graph.writer, { home: node.id, write: [node.id, near.id] });
    const of = (session: Caller, caller = graph.writer) => undo({ session_id: session.session_id ?? '' }, caller);
    expect(said(await of(writer, other))).toEqual(['log undone']);
    const told = await of(other);
    expect(said(told)).toEqual(['undo_session not_undoable']);
    expect(told).toMatchObject({
      undone: 0,
      kept: 1,
      changes: [{ target_kind: 'session', target_id: writer.session_id, node: { id: near.id } }],
    });
    await graph.call(setAccess, { node_id: near.id, visibility: 'private', confirmed: true }, graph.admin);
    expect(await of(other)).toMatchObject({ undone: 0, kept: 0, changes: [] });
  });

  it('goes as far as it is told, and sets back no memory of what is not set back', async () => {
    await graph.call(updateNode, { node_id: near.id, lifecycle: 'needs_attention' }, graph.admin);
    await graph.call(archiveNode, { node_id: near.id }, agent);
    await log('Later');
    await graph.call(updateNode, { node_id: near.id, lifecycle: 'inactive' }, graph.admin);
    const { changes } = await undo({ confirmed: false });
    const to_seq = changes.at(-1)?.seq ?? 0;
    expect(said(await undo({ to_seq }))).toEqual(['archive_node changed_since']);
    expect(said(await undo())).toEqual(['log undone', 'archive_node changed_since']);
  });

  it('leaves the tie of an actor to a user, and says why', async () => {
    const actor = await graph.actor('Tied');
    await graph.call(updateActor, { actor_id: actor.id, user_id: graph.writer.user_id, confirmed: true }, agent);
    expect(said(await undo())).toEqual(['update_actor moves_access']);
  });
});
