import {
  addDataSource,
  addResponsibility,
  addTool,
  archiveNode,
  connect,
  createActor,
  createNode,
  deleteActor,
  disconnect,
  getNode,
  listEdges,
  moveNode,
  type Operation,
  purgeNode,
  removeDataSource,
  removeResponsibility,
  removeTool,
  reorderResponsibilities,
  restoreNode,
  updateActor,
  updateNode,
  updateResponsibility,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const id = async (made: Promise<{ id: string }>): Promise<string> => (await made).id;
const node = (extra: Parameters<typeof graph.node>[2] = {}) => id(graph.node('project', `Node ${newId()}`, extra));
const duty = (node_id: string, assignee_ids: string[] = []) =>
  id(graph.call(addResponsibility, { node_id, title: 'Duty', assignee_ids }, graph.admin));

/** One valid call of each change, with what it needs made beforehand. */
const CHANGES: [Operation, () => Promise<Record<string, unknown>>][] = [
  [createNode, async () => ({ type: 'area', name: 'Created', organization_id: graph.organization.id })],
  [updateNode, async () => ({ node_id: await node(), name: 'Renamed', expected_version: 1 })],
  [archiveNode, async () => ({ node_id: await node(), expected_version: 1 })],
  [restoreNode, async () => ({ node_id: await node({ lifecycle: 'cancelled' }), expected_version: 1 })],
  [purgeNode, async () => ({ node_id: await node(), confirmed: true })],
  [
    moveNode,
    async () => ({
      node_id: await node(),
      organization_id: await id(graph.node('organization', 'Other')),
      expected_version: 1,
      confirmed: true,
    }),
  ],
  [connect, async () => ({ source_id: await node(), target_id: await node(), relation: 'belongs_to' })],
  [
    disconnect,
    async () => ({
      edge_id: (
        await graph.call(
          connect,
          { source_id: await node(), target_id: await node(), relation: 'applies' },
          graph.admin,
        )
      ).edge?.id,
    }),
  ],
  [addResponsibility, async () => ({ node_id: await node(), title: 'Once' })],
  [
    updateResponsibility,
    async () => ({ responsibility_id: await duty(await node()), title: 'Changed', expected_version: 2 }),
  ],
  [removeResponsibility, async () => ({ responsibility_id: await duty(await node()) })],
  [
    reorderResponsibilities,
    async () => {
      const node_id = await node();
      const [first, second] = [await duty(node_id), await duty(node_id)];
      return { node_id, responsibility_ids: [second, first], expected_version: 3 };
    },
  ],
  [addDataSource, async () => ({ node_id: await node(), name: 'Source' })],
  [
    removeDataSource,
    async () => ({
      data_source_id: await id(graph.call(addDataSource, { node_id: await node(), name: 'Source' }, graph.admin)),
    }),
  ],
  [addTool, async () => ({ node_id: await node(), name: 'Tool' })],
  [
    removeTool,
    async () => ({ tool_id: await id(graph.call(addTool, { node_id: await node(), name: 'Tool' }, graph.admin)) }),
  ],
  [createActor, async () => ({ type: 'person', name: 'Created' })],
  [updateActor, async () => ({ actor_id: await id(graph.actor('Actor')), name: 'Renamed', expected_version: 1 })],
  [
    deleteActor,
    async () => {
      const [actor_id, reassign_to] = [await id(graph.actor('Leaving')), await id(graph.actor('Staying'))];
      await duty(await node({ owner_id: actor_id }), [actor_id]);
      return { actor_id, reassign_to };
    },
  ],
];

/** Everything that the graph holds, and what is told and recorded of it. */
const state = () =>
  graph.sql(`
  SELECT (SELECT jsonb_agg(to_jsonb(n) - 'search' ORDER BY n.id) FROM graph.node n) AS nodes,
    (SELECT jsonb_agg(e ORDER BY e.id) FROM graph.edge e) AS edges, (SELECT jsonb_agg(a ORDER BY a.id) FROM graph.actor a) AS actors,
    (SELECT jsonb_agg(r ORDER BY r.id) FROM graph.responsibility r) AS duties, (SELECT jsonb_agg(l ORDER BY l.id) FROM graph.link l) AS links,
    (SELECT jsonb_agg(ra ORDER BY ra.responsibility_id, ra.actor_id) FROM graph.responsibility_assignee ra) AS assignees,
    (SELECT count(*) FROM audit.entry) AS audited, (SELECT count(*) FROM outbox.event) AS told, (SELECT count(*) FROM outbox.applied_call) AS applied`);

describe.each(CHANGES.map(([operation, prepare]) => [operation.name, operation, prepare] as const))(
  '%s',
  (_name, operation, prepare) => {
    it('is carried out once however often and closely one call is repeated, with one reply', async () => {
      const [input, callId] = [await prepare(), newId()];
      const replies = await Promise.all([1, 2, 3].map(() => graph.call(operation, input, graph.admin, callId)));
      const after = await state();
      replies.push(await graph.call(operation, input, graph.admin, callId));
      for (const reply of replies) expect(reply).toEqual(replies[0]);
      expect(await state()).toEqual(after);
      const audited = await graph.sql('SELECT DISTINCT action, via, user_id FROM audit.entry WHERE request_id = $1', [
        callId,
      ]);
      expect(audited).toEqual([{ action: operation.name, via: 'rest', user_id: graph.admin.user_id }]);
    });

    it('is refused below manage and leaves no trace then [access.tier.structure-needs-manage] [access.scope.caps-access]', async () => {
      const input = await prepare();
      const before = await state();
      for (const caller of [graph.writer, graph.reader, { ...graph.admin, scope: 'write' as const }]) {
        expect((await graph.refusal(operation, input, caller, 'FORBIDDEN')).details).toEqual({
          required_scope: 'manage',
        });
      }
      expect(await state()).toEqual(before);
    });
  },
);

describe('a change that is refused or waits for confirmation', () => {
  it('leaves nothing behind, not even an audit row [graph.audit.same-transaction]', async () => {
    const closed = await node({ visibility: 'private' });
    const child = await node({ parent_ids: [closed] });
    const edges = await graph.call(
      listEdges,
      { node_id: child, relation: 'belongs_to', direction: 'outgoing' },
      graph.admin,
    );
    const parting = edges.items.find((edge) => edge.node.id === closed)?.id ?? '';
    const owner = await id(graph.actor('Owner', { user_id: graph.writer.user_id }));
    const before = await state();
    for (const reply of [
      await graph.call(disconnect, { edge_id: parting }, graph.admin),
      await graph.call(updateNode, { node_id: closed, name: 'X', owner_id: owner }, graph.admin),
      await graph.call(purgeNode, { node_id: closed }, graph.admin),
      await graph.call(
        moveNode,
        { node_id: child, organization_id: graph.organization.id, expected_version: 1, confirmed: true },
        graph.admin,
      ),
    ])
      expect(reply.preview?.widens ?? reply.applied).toBe(true);
    await graph.refusal(updateNode, { node_id: child, name: 'X', expected_version: 9 }, graph.admin, 'CONFLICT');
    await graph.refusal(
      connect,
      { source_id: closed, target_id: child, relation: 'belongs_to', confirmed: true },
      graph.admin,
      'EDGE_CYCLE',
    );
    await graph.refusal(addTool, { node_id: child, name: 'X', url: 'javascript:1' }, graph.admin, 'VALIDATION_FAILED');
    const [after] = await state();
    // Only the move to where the node is already was carried out, and changed nothing.
    expect(after).toEqual({ ...before[0], applied: String(Number(before[0]?.['applied']) + 1) });
  });
});

describe('a hidden node', () => {
  it('is refused by the same statements as an absent one [access.hidden.timing-class]', async () => {
    const hidden = await node({ visibility: 'private' });
    const { pool } = graph.database;
    const query = pool.query.bind(pool);
    const asked: string[][] = [];
    for (const node_id of [hidden, newId()]) {
      const names: string[] = [];
      Object.assign(pool, {
        query: (statement: { name: string; text: string; values: unknown[] }) => {
          names.push(statement.name);
          return query(statement);
        },
      });
      for (const operation of [getNode, listEdges])
        await graph.refusal(operation, { node_id }, graph.reader, 'NODE_NOT_FOUND');
      asked.push(names);
    }
    Object.assign(pool, { query });
    expect(asked).toEqual([
      ['node.detail', 'edge.list'],
      ['node.detail', 'edge.list'],
    ]);
  });
});
