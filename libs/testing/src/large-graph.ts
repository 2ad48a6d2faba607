import pg from 'pg';
import { LARGE_GRAPH_STEPS } from './large-graph.sql.js';

/** Size and seed of a generated graph. */
export interface LargeGraphOptions {
  /** All nodes, organizations included. */
  readonly nodes: number;
  /** All edges, the belongs_to of every node to its organization included; at least nodes × 2. */
  readonly edges: number;
  /** Events over all nodes. */
  readonly events: number;
  /** Users, of whom some are in groups. */
  readonly users: number;
  /** Approximate share of restricted nodes, by their own setting or an inherited one. */
  readonly restrictedShare: number;
  /** Organizations among the nodes. */
  readonly organizations: number;
  /** Another seed, another graph; the same seed gives the same rows. */
  readonly seed: number;
}

/** The sizes that benchmarks and performance specs use unless told. */
export const LARGE_GRAPH: LargeGraphOptions = {
  nodes: 10_000,
  edges: 30_000,
  events: 20_000,
  users: 200,
  restrictedShare: 0.1,
  organizations: 5,
  seed: 1,
};

/** Tells one graph from another: the same for equal sizes, whether a default is written or left out. */
export function largeGraphName(options: Partial<LargeGraphOptions>): string {
  return `large-graph ${JSON.stringify({ ...LARGE_GRAPH, ...options })}`;
}

/** What was generated, for picking callers and nodes. */
export interface LargeGraph {
  /** In the order of generation; the first twentieth of the users has max_scope manage, the last quarter read. */
  readonly userIds: readonly string[];
  /** The first one is the largest, with about six nodes in ten. */
  readonly organizationIds: readonly string[];
  /** Nodes that not everybody sees. */
  readonly restrictedNodes: number;
  /** The node with the most edges that is no organization and open to everyone. */
  readonly hubId: string;
}

/**
 * Fills a freshly migrated database with an invented graph, in sets and in one transaction: organizations of unequal
 * size, areas within areas, projects and processes in areas, cross links with hubs, owners, responsibilities, links,
 * events with successors, positions, groups with members, private and group gates with their effective access.
 */
export async function generateLargeGraph(url: string, options: Partial<LargeGraphOptions> = {}): Promise<LargeGraph> {
  const sizes = { ...LARGE_GRAPH, ...options };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`CREATE TEMP TABLE size ON COMMIT DROP AS
      SELECT ${sizes.nodes}::int AS nodes, ${sizes.edges}::int AS edges, ${sizes.events}::int AS events, ${sizes.users}::int AS users,
        ${sizes.restrictedShare}::float8 AS restricted, ${sizes.organizations}::int AS organizations`);
    await client.query(`SELECT set_config('large_graph.seed', '${sizes.seed}', true)`);
    for (const step of LARGE_GRAPH_STEPS) await client.query(step);
    await client.query('COMMIT');
    // Also sets the visibility map, which a database in use would have.
    await client.query('VACUUM ANALYZE');
    return await readLargeGraph(client);
  } finally {
    await client.end();
  }
}

/** Reads the description of a graph that was generated before, such as in the template of this database. */
export async function readLargeGraph(client: pg.Client | pg.Pool): Promise<LargeGraph> {
  const { rows } = await client.query<LargeGraph>(`
    SELECT
      (SELECT array_agg(id::text ORDER BY id) FROM identity."user") AS "userIds",
      (SELECT array_agg(id::text ORDER BY id) FROM graph.node WHERE type = 'organization') AS "organizationIds",
      (SELECT count(*)::int FROM graph.node WHERE access_set_id IS NOT NULL) AS "restrictedNodes",
      (SELECT e.target_id::text FROM graph.edge e JOIN graph.node n ON n.id = e.target_id
        WHERE n.type <> 'organization' AND n.access_set_id IS NULL GROUP BY e.target_id ORDER BY count(*) DESC, e.target_id LIMIT 1) AS "hubId"`);
  const [graph] = rows;
  if (!graph) throw new Error('The generated graph cannot be read back');
  return graph;
}
