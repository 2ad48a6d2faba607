import { FIRST_ID, pageJson, SEEN_SETS, seen, statement, VISIBLE } from '@workspace-graph/database';
import { nodeRef } from '../shared/projections.js';
import { EDGE_CURSOR } from './edge.cursor.js';

/** Edge of rows of an edge, its source and its target. */
const edgeJson = `json_build_object('id', e.id, 'source', ${nodeRef('s')}, 'target', ${nodeRef('t')}, 'relation', e.relation)`;

/** An edge whose two ends the caller sees. $1 user, $2 sees all, $3 edge. */
export const EDGE_BY_ID = statement(
  'edge.by_id',
  `
  SELECT ${edgeJson} AS edge FROM graph.edge e
  JOIN ${VISIBLE} s ON s.id = e.source_id JOIN ${VISIBLE} t ON t.id = e.target_id WHERE e.id = $3::uuid`,
);

/** The id of the edge that has these ends and this relation already. $1 source, $2 target, $3 relation. */
export const EDGE_BY_KEY = statement(
  'edge.by_key',
  `
  SELECT e.id::text AS id FROM graph.edge e WHERE e.source_id = $1::uuid AND e.target_id = $2::uuid AND e.relation = $3::text`,
);

/** No row when there is such an edge, also one that another transaction is just writing. */
export const INSERT_EDGE = statement(
  'edge.insert',
  `
  INSERT INTO graph.edge (id, source_id, target_id, relation, created_by)
  VALUES ($1::uuid, $2::uuid, $3::uuid, $4::text, $5::uuid) ON CONFLICT DO NOTHING RETURNING id`,
);

/** $1 edge. */
export const DELETE_EDGE = statement('edge.delete', `DELETE FROM graph.edge WHERE id = $1::uuid`);

const side = (direction: 'outgoing' | 'incoming'): string => {
  const [here, there] = direction === 'outgoing' ? ['source_id', 'target_id'] : ['target_id', 'source_id'];
  // Outgoing sorts before incoming; a side that the cursor has not reached begins at its beginning.
  const rank = direction === 'outgoing' ? 0 : 1;
  const from = (key: string, beginning: string): string =>
    `CASE WHEN $6::int < ${rank} THEN ${beginning} ELSE ${key} END`;
  return `SELECT e.id, ${rank} AS rank, '${direction}' AS direction, e.relation, o.id AS other_id, ${nodeRef('o')} AS node
    FROM graph.edge e JOIN graph.node o ON o.id = e.${there}
    WHERE e.${here} = $3::uuid AND ${rank} = ANY ($4::int[]) AND ${rank} >= $6::int AND ($5::text IS NULL OR e.relation = $5::text)
      AND (e.relation, e.${there}) > (${from('$7::text', `''`)}, ${from('$8::uuid', `'${FIRST_ID}'`)}) AND ${seen('o')}
    ORDER BY e.relation, e.${there} LIMIT $9::int + 1`;
};

/**
 * One page of a node's edges: outgoing before incoming, by relation, oldest neighbour first. Each side runs along an
 * index, so that a node with many edges costs no more than one with few.
 * $1 user, $2 sees all, $3 node, $4 directions, $5 relation or null, $6 to $8 sort key, $9 page size.
 */
export const LIST_EDGES = statement(
  'edge.list',
  `
  WITH ${SEEN_SETS}
  SELECT (${pageJson(
    '$9::int',
    `
    SELECT json_build_object('id', x.id, 'direction', x.direction, 'relation', x.relation, 'node', x.node) AS item,
      ${EDGE_CURSOR.sql('x.rank', 'x.relation', 'x.other_id')} AS cursor,
      row_number() OVER (ORDER BY x.rank, x.relation, x.other_id) AS place
    FROM ((${side('outgoing')}) UNION ALL (${side('incoming')})) x
    ORDER BY x.rank, x.relation, x.other_id LIMIT $9::int + 1`,
  )}) AS json
  FROM graph.node n WHERE n.id = $3::uuid AND ${seen('n')}`,
);
