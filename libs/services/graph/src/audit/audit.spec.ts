import {
  archiveNode,
  type Caller,
  createNode,
  type InputOf,
  listAudit,
  logEvent,
  type OutputOf,
  updateNode,
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
