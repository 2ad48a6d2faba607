import type { LargeGraph } from '@workspace-graph/testing';
import { readLargeGraph } from '@workspace-graph/testing';
import pg from 'pg';
import type { Scale } from './scales.js';

/** Who asks, and what about. */
export interface World {
  readonly graph: LargeGraph;
  /** A user with the scope write, in some groups: sees what is open and a part of what is not. */
  readonly userId: string;
  /** Visible nodes that are no organization, mixed. */
  readonly nodeIds: readonly string[];
  /** Those of them that the user may write on. */
  readonly writableIds: readonly string[];
  /** What people type into a search box: a frequent word, two words, a part of a name, a rare one. */
  readonly searches: readonly string[];
}

const SAMPLE = 400;

const SAMPLE_SQL = `
  SELECT n.id::text AS id, graph.access_level(n.access_set_id, $1::uuid, false) = 2 AS writable
  FROM graph.visible_node($1::uuid, false) n WHERE n.type <> 'organization' ORDER BY md5(n.id::text) LIMIT ${SAMPLE}`;

const SEARCH_SQL = `
  SELECT n.name FROM graph.visible_node($1::uuid, false) n WHERE n.type = 'project' ORDER BY md5(n.id::text) DESC LIMIT 4`;

/** Chooses the caller and the nodes, the same ones at every run of a scale. */
export async function readWorld(databaseUrl: string, scale: Scale): Promise<World> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  try {
    const graph = await readLargeGraph(pool);
    const userId = itemAt(graph.userIds, Math.floor(scale.graph.users / 2));
    const { rows } = await pool.query<{ id: string; writable: boolean }>(SAMPLE_SQL, [userId]);
    const named = await pool.query<{ name: string }>(SEARCH_SQL, [userId]);
    return {
      graph,
      userId,
      nodeIds: rows.map(({ id }) => id),
      writableIds: rows.filter(({ writable }) => writable).map(({ id }) => id),
      searches: searchesFrom(named.rows.map(({ name }) => name)),
    };
  } finally {
    await pool.end();
  }
}

/** Names are "manner thing place number". */
function searchesFrom(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const [manner = '', thing = '', place = ''] = name.split(' ');
    return [thing, `${manner} ${thing}`, place.slice(0, 4), name];
  });
}

export function itemAt<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('The generated graph has nothing to choose from');
  return item;
}
