import {
  type Caller,
  createNode,
  editEvent,
  explainAccess,
  getAccess,
  getContext,
  getEvent,
  getNode,
  listEdges,
  listEvents,
  listNodes,
  logEvent,
  type Operation,
  requestAccess,
  search,
  setPositions,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import pg from 'pg';

/** Calls that name a node or an event. */
const CALLS: readonly (readonly [Operation, (id: string) => object])[] = [
  [getNode, (node_id) => ({ node_id })],
  [listEdges, (node_id) => ({ node_id })],
  [listEvents, (node_id) => ({ node_id })],
  [listNodes, (parent_id) => ({ parent_id, scope: 'global' })],
  [listNodes, (organization_id) => ({ organization_id, scope: 'global' })],
  [search, (organization_id) => ({ query: 'a', organization_id })],
  [getContext, (node_id) => ({ node_id })],
  [getAccess, (node_id) => ({ node_id })],
  [explainAccess, (node_id) => ({ node_id })],
  [logEvent, (node_id) => ({ node_id, kind: 'note', content: 'x' })],
  [setPositions, (node_id) => ({ positions: [{ node_id, x: 1, y: 1 }] })],
  [requestAccess, (node_id) => ({ node_id })],
];

const EVENT_CALLS: readonly (readonly [Operation, (id: string) => object])[] = [
  [getEvent, (event_id) => ({ event_id })],
  [editEvent, (event_id) => ({ event_id, content: 'x' })],
];

let harness: ServiceHarness;
let admin: Caller;
let outsider: Caller;
beforeAll(async () => {
  harness = await startServices([GraphModule, IdentityModule]);
  admin = await harness.user('Ada', 'manage');
  outsider = await harness.user('Otto', 'write');
});
afterAll(() => harness.close());

/** Texts of the statements that a call sends to the database. */
async function statementsOf(operation: Operation, input: object): Promise<string[]> {
  const sent: string[] = [];
  const original = pg.Client.prototype.query;
  const listening = function (this: pg.Client, ...args: unknown[]): unknown {
    const [first] = args;
    const text = typeof first === 'string' ? first : ((first as { text?: string }).text ?? '');
    // The outbox is told of the change before this call at a moment of its own.
    if (text !== 'NOTIFY outbox') sent.push(text);
    return Reflect.apply(original, this, args);
  };
  pg.Client.prototype.query = listening as typeof original;
  try {
    await harness.call(operation, input as never, outsider).catch(() => undefined);
  } finally {
    pg.Client.prototype.query = original;
  }
  return sent;
}

const named = (calls: typeof CALLS) => calls.map(([operation, input]) => ({ name: operation.name, operation, input }));

describe('a call that names what is hidden', () => {
  it.each(named(CALLS))(
    'sends the same statements as one that names a node that never was: $name [access.hidden.timing-class]',
    async ({ operation, input }) => {
      const hidden = await harness.call(
        createNode,
        { type: 'organization', name: 'Hidden', visibility: 'private' },
        admin,
      );
      const [hiddenPath, absentPath] = [
        await statementsOf(operation, input(hidden.id)),
        await statementsOf(operation, input(newId())),
      ];
      expect(hiddenPath.length).toBeGreaterThan(0);
      expect(hiddenPath).toEqual(absentPath);
    },
  );

  it.each(named(EVENT_CALLS))(
    'sends the same statements as one that names an event that never was: $name [access.hidden.timing-class]',
    async ({ operation, input }) => {
      const node = await harness.call(
        createNode,
        { type: 'organization', name: 'Hidden', visibility: 'private' },
        admin,
      );
      const event = await harness.call(logEvent, { node_id: node.id, kind: 'note', content: 'x' }, admin);
      const [hiddenPath, absentPath] = [
        await statementsOf(operation, input(event.id)),
        await statementsOf(operation, input(newId())),
      ];
      expect(hiddenPath.length).toBeGreaterThan(0);
      expect(hiddenPath).toEqual(absentPath);
    },
  );
});
