import type pg from 'pg';
import { LARGE_GRAPH, largeGraphName, readLargeGraph } from './large-graph.js';
import { type ServiceHarness, startServices } from './service-harness.js';

let harness: ServiceHarness;
let pool: pg.Pool;
beforeAll(async () => {
  harness = await startServices([], { largeGraph: LARGE_GRAPH });
  pool = harness.database.pool;
});
afterAll(() => harness.close());

describe('a generated large graph', () => {
  it('has exactly the sizes asked for, about the restricted share, and passes every constraint of the database', async () => {
    const graph = await readLargeGraph(pool);
    const { rows } =
      await pool.query(`SELECT (SELECT count(*)::int FROM graph.node) AS nodes, (SELECT count(*)::int FROM graph.edge) AS edges,
      (SELECT count(*)::int FROM graph.event) AS events, (SELECT count(*)::int FROM identity."user") AS users,
      (SELECT count(*)::int FROM graph.event WHERE supersedes_id IS NOT NULL) AS successors,
      (SELECT count(*)::int FROM graph.event e JOIN graph.event f ON f.id = e.supersedes_id WHERE f.node_id <> e.node_id OR f.status <> 'superseded') AS wrong_successors`);
    expect(rows[0]).toMatchObject({
      nodes: LARGE_GRAPH.nodes,
      edges: LARGE_GRAPH.edges,
      events: LARGE_GRAPH.events,
      users: LARGE_GRAPH.users,
      wrong_successors: 0,
    });
    expect(rows[0].successors).toBeGreaterThan(500);
    expect(graph.restrictedNodes / LARGE_GRAPH.nodes).toBeGreaterThan(0.07);
    expect(graph.restrictedNodes / LARGE_GRAPH.nodes).toBeLessThan(0.14);
    expect(graph.userIds).toHaveLength(LARGE_GRAPH.users);
    expect(graph.organizationIds).toHaveLength(LARGE_GRAPH.organizations);
  });

  it('has one name for all who ask for the same sizes, however they are written, so that it is generated once', () => {
    const { seed, ...others } = LARGE_GRAPH;
    const names = [{}, { seed }, { seed, ...others }].map(largeGraphName);
    expect(new Set(names)).toEqual(new Set([largeGraphName(LARGE_GRAPH)]));
    expect(largeGraphName({ seed: seed + 1 })).not.toBe(names[0]);
  });
});
