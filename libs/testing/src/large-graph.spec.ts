import pg from 'pg';
import { applyMigrations } from './database/apply-migrations.js';
import { createTestDatabase } from './database/test-database.js';
import { generateLargeGraph, LARGE_GRAPH } from './large-graph.js';

describe('a generated large graph', () => {
  it('has exactly the sizes asked for, about the restricted share, and passes every constraint of the database', async () => {
    await using database = await createTestDatabase({ migrate: applyMigrations });
    const graph = await generateLargeGraph(database.url);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } =
      await client.query(`SELECT (SELECT count(*)::int FROM graph.node) AS nodes, (SELECT count(*)::int FROM graph.edge) AS edges,
      (SELECT count(*)::int FROM graph.event) AS events, (SELECT count(*)::int FROM identity."user") AS users,
      (SELECT count(*)::int FROM graph.event WHERE supersedes_id IS NOT NULL) AS successors,
      (SELECT count(*)::int FROM graph.event e JOIN graph.event f ON f.id = e.supersedes_id WHERE f.node_id <> e.node_id OR f.status <> 'superseded') AS wrong_successors`);
    await client.end();
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
});
