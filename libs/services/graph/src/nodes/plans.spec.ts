import { type Caller, listNodes, type ParsedInputOf } from '@workspace-graph/contracts';
import type { Database, Statement } from '@workspace-graph/database';
import { type LargeGraph, readLargeGraph, type ServiceHarness, startServices } from '@workspace-graph/testing';
import { EDGES_START } from '../edges/edge.cursor.js';
import { LIST_EDGES } from '../edges/edge.statements.js';
import { GraphModule } from '../graph.module.js';
import { planOf } from '../testing/plan.fixture.js';
import { list } from './list-nodes.js';
import { NODE_DETAIL } from './node.statements.js';

let services: ServiceHarness;
let graph: LargeGraph;
let caller: Caller;
beforeAll(async () => {
  services = await startServices([GraphModule], {
    largeGraph: { nodes: 4_000, edges: 12_000, events: 4_000, users: 3_000 },
  });
  graph = await readLargeGraph(services.database.pool);
  caller = { user_id: graph.userIds[20] ?? '', scope: 'read', credential_id: null, via: 'rest' };
});
afterAll(() => services.close());

/** The statement and the values that a list comes down to. */
async function listed(input: Partial<ParsedInputOf<typeof listNodes>>): Promise<[Statement, readonly unknown[]]> {
  let asked: [Statement, readonly unknown[]] | undefined;
  const recorder: Pick<Database, 'row'> = {
    row: async <T extends Record<string, unknown>>(statement: Statement, values: readonly unknown[] = []) => {
      asked = [statement, values];
      return services.database.row<T>(statement, values);
    },
  };
  await list(recorder, { order: 'name', limit: 50, ...input }, caller);
  if (!asked) throw new Error('The list asked nothing');
  return asked;
}

describe('the plan of a list of nodes', () => {
  it.each([
    ['name', 'node_name_idx'],
    ['created', 'node_created_idx'],
    ['updated', 'node_updated_idx'],
  ] as const)('by %s runs along %s and stops with the page', async (order, index) => {
    const plan = await planOf(services.database, ...(await listed({ order })));
    expect(plan.indexes).toContain(index);
    expect(plan.wholeTables).toEqual([]);
    expect(plan.blocks).toBeLessThan(1_500);
  });

  it('by a part of the name uses the trigrams of names', async () => {
    const plan = await planOf(services.database, ...(await listed({ query: 'lodz 4' })));
    expect(plan.indexes).toContain('node_name_trgm_idx');
    expect(plan.wholeTables).toEqual([]);
  });

  it.each([
    ['its organization', 'node_organization_idx', (): object => ({ organization_id: graph.organizationIds[0] })],
    ['its parent', 'edge_target_idx', (): object => ({ parent_id: graph.hubId })],
  ])('by %s uses %s', async (_by, index, input) => {
    const plan = await planOf(services.database, ...(await listed(input())));
    expect(plan.indexes).toContain(index);
    expect(plan.wholeTables).toEqual([]);
  });

  it('of one type in its organization reads those of the type alone, in their order', async () => {
    const [organization_id] = graph.organizationIds;
    const plan = await planOf(services.database, ...(await listed({ organization_id, type: ['project'] })));
    const ofType = ['node_organization_type_idx', 'node_type_idx'];
    expect(plan.indexes.filter((index) => ofType.includes(index))).toHaveLength(1);
    expect(plan.wholeTables).toEqual([]);
  });
});

describe('the plan of one node', () => {
  it('touches what belongs to it alone, also for the node with the most edges', async () => {
    for (const id of [graph.hubId, graph.organizationIds[0]]) {
      const plan = await planOf(services.database, NODE_DETAIL, [caller.user_id, false, id]);
      expect(plan.indexes).toEqual(expect.arrayContaining(['edge_key', 'edge_target_idx']));
      expect(plan.wholeTables).toEqual([]);
      expect(plan.blocks).toBeLessThan(1_500);
    }
  });

  it('and of a page of its edges run along the indexes of edges', async () => {
    for (const id of [graph.hubId, graph.organizationIds[0]]) {
      const plan = await planOf(services.database, LIST_EDGES, [
        caller.user_id,
        false,
        id,
        [0, 1],
        null,
        ...EDGES_START,
        50,
      ]);
      expect(plan.indexes).toEqual(expect.arrayContaining(['edge_key', 'edge_target_idx']));
      expect(plan.wholeTables).toEqual([]);
      expect(plan.blocks).toBeLessThan(1_500);
    }
  });
});
