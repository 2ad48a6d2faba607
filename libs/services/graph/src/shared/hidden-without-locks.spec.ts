import {
  addDataSource,
  addResponsibility,
  addTool,
  archiveEvent,
  archiveNode,
  connect,
  createNode,
  disconnect,
  editEvent,
  logEvent,
  moveNode,
  OPERATIONS,
  type Operation,
  purgeNode,
  removeDataSource,
  removeResponsibility,
  removeTool,
  reorderResponsibilities,
  requestAccess,
  resolveEvent,
  restoreNode,
  setAccess,
  setPositions,
  supersedeEvent,
  updateNode,
  updateResponsibility,
} from '@workspace-graph/contracts';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import type pg from 'pg';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let secrets: Secrets;
let seen: string;
let holder: pg.PoolClient;
beforeAll(async () => {
  graph = await startGraph();
  secrets = await plant();
  seen = (await graph.node('area', 'Seen')).id;
  holder = await graph.database.pool.connect();
  await holder.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
  for (const [table, column] of TABLES)
    await holder.query(`SELECT 1 FROM graph.${table} WHERE ${column} = $1 FOR UPDATE`, [secrets.node]);
});
afterAll(async () => {
  await holder.query('ROLLBACK');
  holder.release();
  await graph.close();
});

/** Ids of a hidden organization and of what hangs on it and on its hidden member. */
interface Secrets {
  readonly organization: string;
  readonly node: string;
  readonly event: string;
  readonly edge: string;
  readonly responsibility: string;
  readonly data_source: string;
  readonly tool: string;
}

const TABLES = [
  ['node', 'id'],
  ['event', 'node_id'],
  ['edge', 'source_id'],
  ['edge', 'target_id'],
  ['responsibility', 'node_id'],
  ['link', 'node_id'],
] as const;

async function plant(): Promise<Secrets> {
  const { admin } = graph;
  const organization = await graph.node('organization', 'Hidden', { visibility: 'private' });
  const { id: node_id } = await graph.node('area', 'Hidden', { organization_id: organization.id });
  const beside = await graph.node('area', 'Beside');
  const joined = { source_id: node_id, target_id: beside.id, relation: 'related_to' } as const;
  return {
    organization: organization.id,
    node: node_id,
    event: (await graph.call(logEvent, { node_id, kind: 'note', content: 'x' }, admin)).id,
    edge: (await graph.call(connect, joined, admin)).edge?.id ?? '',
    responsibility: (await graph.call(addResponsibility, { node_id, title: 'x' }, admin)).id,
    data_source: (await graph.call(addDataSource, { node_id, name: 'x' }, admin)).id,
    tool: (await graph.call(addTool, { node_id, name: 'x' }, admin)).id,
  };
}

type Ids = Secrets & { readonly seen: string };

/** Every command that names a node or what hangs on one; null for those that are no refusals. */
const COMMANDS: readonly (readonly [Operation, string | null, (ids: Ids) => Readonly<Record<string, unknown>>])[] = [
  [logEvent, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node, kind: 'note', content: 'x' })],
  [editEvent, 'EVENT_NOT_FOUND', ({ event }) => ({ event_id: event, content: 'y' })],
  [resolveEvent, 'EVENT_NOT_FOUND', ({ event }) => ({ event_id: event })],
  [supersedeEvent, 'EVENT_NOT_FOUND', ({ event }) => ({ event_id: event, content: 'y' })],
  [archiveEvent, 'EVENT_NOT_FOUND', ({ event }) => ({ event_id: event })],
  [setPositions, null, ({ node }) => ({ positions: [{ node_id: node, x: 1, y: 1 }] })],
  [requestAccess, null, ({ node }) => ({ node_id: node })],
  [setAccess, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node, visibility: 'everyone' })],
  [createNode, 'NODE_NOT_FOUND', ({ organization }) => ({ type: 'area', name: 'x', organization_id: organization })],
  [updateNode, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node, name: 'x' })],
  [archiveNode, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node })],
  [restoreNode, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node })],
  [purgeNode, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node, confirmed: true })],
  [moveNode, 'NODE_NOT_FOUND', ({ seen: own, organization }) => ({ node_id: own, organization_id: organization })],
  [
    connect,
    'NODE_NOT_FOUND',
    ({ seen: own, node }) => ({ source_id: own, target_id: node, relation: 'belongs_to', confirmed: true }),
  ],
  [disconnect, 'EDGE_NOT_FOUND', ({ edge }) => ({ edge_id: edge })],
  [addResponsibility, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node, title: 'x' })],
  [
    updateResponsibility,
    'RESPONSIBILITY_NOT_FOUND',
    ({ responsibility: id }) => ({ responsibility_id: id, title: 'y' }),
  ],
  [removeResponsibility, 'RESPONSIBILITY_NOT_FOUND', ({ responsibility: id }) => ({ responsibility_id: id })],
  [reorderResponsibilities, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node, responsibility_ids: [] })],
  [addDataSource, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node, name: 'x' })],
  [removeDataSource, 'LINK_NOT_FOUND', ({ data_source: id }) => ({ data_source_id: id })],
  [addTool, 'NODE_NOT_FOUND', ({ node }) => ({ node_id: node, name: 'x' })],
  [removeTool, 'LINK_NOT_FOUND', ({ tool: id }) => ({ tool_id: id })],
];

const NAMES_A_NODE =
  /^(?:node|source|target|organization|parent|event|edge|responsibility|data_source|tool)_ids?$|^positions$/;

/** The caller's tier is left aside, so that sight alone decides. */
async function answerOf(operation: Operation, input: unknown): Promise<string | null> {
  const envelope = { callId: newId(), requestId: 'r', caller: graph.writer };
  const { dispatch } = graph.module.get(OperationRegistry);
  return dispatch({ ...operation, tier: 'read' }, input, { envelope, signal: new AbortController().signal }).then(
    () => null,
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
}

/** What a lock or a write leaves in the rows. */
const traces = async () =>
  JSON.stringify(
    await Promise.all(
      TABLES.map(([table, column]) =>
        graph.sql(`SELECT ctid::text, xmin::text, xmax::text FROM graph.${table} WHERE ${column} = $1 ORDER BY 1`, [
          secrets.node,
        ]),
      ),
    ),
  );

describe('a hidden node that another transaction holds', () => {
  it('is named by each of these commands', () => {
    const naming = [...OPERATIONS.values()].filter(
      ({ owner, readOnly, input }) =>
        owner === 'graph' && !readOnly && Object.keys(input.shape).some((field) => NAMES_A_NODE.test(field)),
    );
    expect(COMMANDS.map(([{ name }]) => name).toSorted()).toEqual(naming.map(({ name }) => name).toSorted());
  });

  it.each(COMMANDS.map(([operation, code, input]) => ({ name: operation.name, operation, code, input })))(
    'is answered without waiting, and without a trace in its rows: $name [access.hidden.timing-class] [access.hidden.no-lock]',
    async ({ operation, code, input }) => {
      const before = await traces();
      // What waits for the held rows ends with the statement's time, as another error.
      expect(await answerOf(operation, input({ ...secrets, seen }))).toBe(code);
      expect(await traces()).toBe(before);
    },
    60_000,
  );
});
