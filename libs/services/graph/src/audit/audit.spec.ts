import {
  addDataSource,
  addResponsibility,
  addTool,
  archiveNode,
  type Caller,
  connect,
  createNode,
  deleteActor,
  disconnect,
  editEvent,
  type InputOf,
  listAudit,
  logEvent,
  moveNode,
  type OutputOf,
  purgeNode,
  removeResponsibility,
  reorderResponsibilities,
  requestAccess,
  setAccess,
  supersedeEvent,
  updateNode,
  updateResponsibility,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

type Page = OutputOf<typeof listAudit>;

let graph: GraphFixture;
let node: NodeAnswer;

beforeAll(async () => {
  graph = await startGraph();
  node = await graph.node('project', 'Sklad');
});
afterAll(() => graph.close());

const read = (input: InputOf<typeof listAudit> = {}): Promise<Page> => graph.call(listAudit, input, graph.admin);
const log = (caller: Caller = graph.writer): Promise<unknown> =>
  graph.call(logEvent, { node_id: node.id, kind: 'note', content: 'Zápis' }, caller);

describe('the audit trail', () => {
  it('holds who changed what through which surface, with the changed fields before and after [graph.audit.fields]', async () => {
    const requestId = newId();
    await graph.call(updateNode, { node_id: node.id, name: 'Nový sklad', goal: 'Místo' }, graph.admin, requestId);
    expect((await read({ target_id: node.id })).items[0]).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      user: { id: graph.admin.user_id, name: 'Ada Admin' },
      via: 'rest',
      action: 'update_node',
      target_kind: 'node',
      target_id: node.id,
      target_name: 'Nový sklad',
      before: { name: 'Sklad', goal: '' },
      after: { name: 'Nový sklad', goal: 'Místo' },
      request_id: requestId,
      session: null,
    });
  });

  it('names the surface that a call came through, and nobody for the system itself [graph.audit.via]', async () => {
    for (const via of ['rest', 'mcp', 'ws', 'runner', 'sync', 'system'] as const) await log({ ...graph.admin, via });
    const { items } = await read({ action: 'log', limit: 6 });
    expect(items.map((entry) => entry.via)).toEqual(['system', 'sync', 'runner', 'ws', 'mcp', 'rest']);
    expect(items.map((entry) => entry.user?.name ?? null)).toEqual([null, ...Array<string>(5).fill('Ada Admin')]);
  });

  it('is readable at manage and refused below it [graph.audit.readable-at-manage]', async () => {
    for (const caller of [graph.reader, graph.writer]) await graph.refusal(listAudit, {}, caller, 'FORBIDDEN');
    expect((await read()).items.length).toBeGreaterThan(0);
  });

  it('is filtered by target, user, action and time, in every combination', async () => {
    await log();
    const whole = (await read({ limit: 500 })).items;
    const [oldest, newest] = [whole.at(-1)?.at ?? '', whole[0]?.at ?? ''];
    const filters: InputOf<typeof listAudit>[] = [{}, { target_id: node.id }].flatMap((byTarget) =>
      [{}, { user_id: graph.writer.user_id }, { user_id: graph.admin.user_id }].flatMap((byUser) =>
        [{}, { action: 'log' }, { action: 'update_node' }].map((byAction) => ({ ...byTarget, ...byUser, ...byAction })),
      ),
    );
    for (const filter of filters) {
      const expected = whole.filter(
        (entry) =>
          (filter.target_id === undefined || entry.target_id === filter.target_id) &&
          (filter.user_id === undefined || entry.user?.id === filter.user_id) &&
          (filter.action === undefined || entry.action === filter.action),
      );
      expect((await read({ ...filter, limit: 500 })).items).toEqual(expected);
    }
    expect((await read({ from: newest, limit: 500 })).items).toEqual(whole.filter((entry) => entry.at >= newest));
    expect((await read({ to: oldest })).items).toEqual([]);
  });

  it('pages without a gap or a repetition while it grows [graph.paging.stable-under-writes]', async () => {
    for (let i = 0; i < 5; i += 1) await log();
    const before = (await read({ action: 'log', limit: 500 })).items.map((entry) => entry.id);
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await read({ action: 'log', limit: 3, ...(cursor ? { cursor } : {}) });
      seen.push(...page.items.map((entry) => entry.id));
      cursor = page.next_cursor;
      await log();
    }
    expect(seen).toEqual(before);
    await graph.refusal(listAudit, { cursor: 'x' }, graph.admin, 'VALIDATION_FAILED');
  });

  it('has one line for a change and none for a refused one [graph.audit.same-transaction]', async () => {
    const made = await graph.call(
      createNode,
      { type: 'area', name: 'Jednou', organization_id: graph.organization.id },
      graph.admin,
    );
    await graph.refusal(archiveNode, { node_id: made.id, expected_version: 99 }, graph.admin, 'CONFLICT');
    expect((await read({ target_id: made.id })).items.map((entry) => entry.action)).toEqual(['create_node']);
  });

  it('cannot be changed, not even in the database', async () => {
    await expect(graph.sql(`UPDATE audit.entry SET action = 'x'`)).rejects.toThrow('append-only');
    await expect(graph.sql('DELETE FROM audit.entry')).rejects.toThrow('append-only');
  });
});

/** What a line tells, shortly: what was done, to what, and what it is called. */
const told = ({ items }: Page): string[] =>
  items.map(({ action, target_kind, target_name }) => `${action} ${target_kind} ${target_name}`);
const history = (nodeId: string, more: InputOf<typeof listAudit> = {}): Promise<Page> =>
  read({ node_id: nodeId, limit: 500, ...more });

describe('the history of a node', () => {
  const perform = <Op extends Parameters<typeof graph.call>[0]>(op: Op, input: InputOf<Op>) =>
    graph.call(op, input, graph.admin);

  it('tells of all that hangs on it, newest first, by the names of then or of now [graph.audit.node-history]', async () => {
    const [here, there] = [await graph.node('process', 'Here'), await graph.node('area', 'There')];
    const [actor, heir] = [await graph.actor('Jana'), await graph.actor('Petr')];
    const node_id = here.id;
    const duty = await perform(addResponsibility, { node_id, title: 'Routes', assignee_ids: [actor.id] });
    const second = await perform(addResponsibility, { node_id, title: 'Bread' });
    await perform(updateResponsibility, { responsibility_id: duty.id, description: 'All of them' });
    await perform(reorderResponsibilities, { node_id, responsibility_ids: [second.id, duty.id] });
    await perform(removeResponsibility, { responsibility_id: second.id });
    await perform(deleteActor, { actor_id: actor.id, reassign_to: heir.id, confirmed: true });
    await perform(addDataSource, { node_id, name: 'Sheet' });
    await perform(addTool, { node_id, name: 'Oven' });
    const joined = await perform(connect, { source_id: here.id, target_id: there.id, relation: 'related_to' });
    await perform(disconnect, { edge_id: joined.edge?.id ?? '' });
    const event = await perform(logEvent, { node_id, kind: 'note', content: 'Zápis' });
    await perform(editEvent, { event_id: event.id, kind: 'decision' });
    await perform(supersedeEvent, { event_id: event.id, content: `Nový ${'x'.repeat(300)}` });
    await perform(setAccess, { node_id, visibility: 'private', recipients: [], confirmed: true });
    await graph.call(requestAccess, { node_id, access: 'read', reason: '' }, graph.reader);
    const whole = await history(node_id);
    expect(told(whole)).toEqual([
      'request_access access_request null',
      'set_access node Here',
      'supersede_event event Zápis',
      'edit_event event Zápis',
      'log event Zápis',
      'disconnect edge null',
      'connect edge null',
      'add_tool tool Oven',
      'add_data_source data_source Sheet',
      'delete_actor responsibility Routes',
      'remove_responsibility responsibility Bread',
      'reorder_responsibilities node Here',
      'update_responsibility responsibility Routes',
      'add_responsibility responsibility Bread',
      'add_responsibility responsibility Routes',
      'create_node node Here',
    ]);
    expect(told(await history(there.id))).toEqual([
      'disconnect edge null',
      'connect edge null',
      'create_node node There',
    ]);
    const shared = (page: Page) => page.items.filter(({ target_kind }) => target_kind === 'edge');
    expect(shared(await history(there.id))).toEqual(shared(whole));
  });

  it('is filtered by what it is about, with the other filters', async () => {
    const made = await graph.node('area', 'Filtered');
    await perform(addResponsibility, { node_id: made.id, title: 'Duty' });
    await graph.call(logEvent, { node_id: made.id, kind: 'note', content: 'One' }, graph.writer);
    await perform(logEvent, { node_id: made.id, kind: 'note', content: 'Two' });
    await perform(setAccess, { node_id: made.id, visibility: 'everyone', recipients: [], confirmed: true });
    const whole = (await history(made.id)).items;
    expect(whole).toHaveLength(5);
    const kinds = { node: 1, responsibility: 1, link: 0, edge: 0, event: 2, file: 0, session: 0, access: 1 } as const;
    for (const [about, count] of Object.entries(kinds))
      expect((await history(made.id, { about: about as keyof typeof kinds })).items).toHaveLength(count);
    const rest = [{}, { user_id: graph.writer.user_id }].flatMap((byUser) =>
      [{}, { action: 'log' }].flatMap((byAction) =>
        [{}, { target_id: made.id }].map((byTarget) => ({ ...byUser, ...byAction, ...byTarget })),
      ),
    );
    for (const filter of rest as { user_id?: string; action?: string; target_id?: string }[]) {
      const expected = whole.filter(
        (entry) =>
          (filter.user_id === undefined || entry.user?.id === filter.user_id) &&
          (filter.action === undefined || entry.action === filter.action) &&
          (filter.target_id === undefined || entry.target_id === filter.target_id),
      );
      expect((await history(made.id, filter)).items).toEqual(expected);
      expect((await history(made.id, { ...filter, about: 'event' })).items).toEqual(
        expected.filter(({ target_kind }) => target_kind === 'event'),
      );
    }
    const [newest, oldest] = [whole[0]?.at ?? '', whole.at(-1)?.at ?? ''];
    expect((await history(made.id, { from: newest })).items).toEqual(whole.filter(({ at }) => at >= newest));
    expect((await history(made.id, { to: oldest })).items).toEqual([]);
    await graph.refusal(listAudit, { about: 'event' }, graph.admin, 'VALIDATION_FAILED');
    await graph.refusal(listAudit, { node_id: made.id, about: 'x' }, graph.admin, 'VALIDATION_FAILED');
  });

  it('is paged without a gap or a repetition while it grows', async () => {
    const made = await graph.node('area', 'Paged');
    const note = () => perform(logEvent, { node_id: made.id, kind: 'note', content: 'Zápis' });
    for (let i = 0; i < 7; i += 1) await note();
    const before = (await history(made.id)).items.map(({ id }) => id);
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await history(made.id, { limit: 3, ...(cursor ? { cursor } : {}) });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
      await note();
    }
    expect(seen).toEqual(before);
  });

  it('tells of nodes that came below it, went, or are gone with their edges; and outlives itself', async () => {
    const [from, to] = [await graph.node('organization', 'From'), await graph.node('organization', 'To')];
    const child = await graph.node('area', 'Child', { organization_id: from.id });
    const friend = await graph.node('area', 'Friend');
    await perform(connect, { source_id: child.id, target_id: friend.id, relation: 'related_to' });
    await perform(moveNode, { node_id: child.id, organization_id: to.id, confirmed: true });
    const before = told(await history(child.id));
    await perform(purgeNode, { node_id: child.id, confirmed: true });
    expect(told(await history(from.id, { about: 'edge' }))).toEqual(['move_node node Child', 'create_node node Child']);
    expect(told(await history(to.id, { about: 'edge' }))).toEqual(['purge_node node Child', 'move_node node Child']);
    expect(told(await history(friend.id, { about: 'edge' }))).toEqual(['purge_node node Child', 'connect edge null']);
    expect(told(await history(child.id))).toEqual(['purge_node node Child', ...before]);
  });

  it('is readable at manage and refused below it; of a node that never was it is empty [graph.audit.readable-at-manage]', async () => {
    for (const caller of [graph.reader, graph.writer])
      await graph.refusal(listAudit, { node_id: node.id }, caller, 'FORBIDDEN');
    expect(await history(newId())).toEqual({ items: [], next_cursor: null });
  });

  it('is out of reach for an agent whose session does not hold the node', async () => {
    const [held, far] = [await graph.node('area', 'Held'), await graph.node('area', 'Far')];
    const agent = { ...(await graph.session(graph.admin, { read: [held.id] })), scope: 'manage' as const };
    expect((await graph.call(listAudit, { node_id: held.id }, agent)).items).toHaveLength(1);
    await graph.refusal(listAudit, { node_id: far.id }, agent, 'scope_expansion_required');
  });

  it('is without a node, for an agent, the history of what its session holds', async () => {
    const [held, second, far] = [
      await graph.node('area', 'A'),
      await graph.node('area', 'B'),
      await graph.node('area', 'C'),
    ];
    const agent = { ...(await graph.session(graph.admin, { read: [held.id, second.id] })), scope: 'manage' as const };
    const perform = <Op extends Parameters<typeof graph.call>[0]>(op: Op, input: InputOf<Op>) =>
      graph.call(op, input, graph.admin);
    await perform(connect, { source_id: held.id, target_id: second.id, relation: 'related_to' });
    const duty = await perform(addResponsibility, { node_id: far.id, title: 'Secret' });
    await perform(addResponsibility, { node_id: held.id, title: 'Open' });
    const seen = async (input: InputOf<typeof listAudit> = {}) =>
      (await graph.call(listAudit, { limit: 500, ...input }, agent)).items;
    const expected = [...(await history(held.id)).items, ...(await history(second.id)).items];
    const ids = (entries: readonly { id: string }[]) => entries.map(({ id }) => id);
    expect(new Set(ids(await seen()))).toEqual(new Set(ids(expected)));
    expect(ids(await seen())).toHaveLength(new Set(ids(expected)).size);
    expect(await seen({ target_id: duty.id })).toEqual([]);
    expect((await seen({ action: 'add_responsibility' })).map(({ target_name }) => target_name)).toEqual(['Open']);
    expect((await read({ target_id: duty.id })).items).toHaveLength(1);
    const pages: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Page = await graph.call(listAudit, { limit: 2, ...(cursor ? { cursor } : {}) }, agent);
      pages.push(...ids(page.items));
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(ids(await seen()));
  });
});
