import { statement, VISIBLE } from '@workspace-graph/database';

/** Adds one of its kind. $1 id, $2 node, $3 its type, $4 kind, $5 name, $6 url, $7 how many come before it; null for all. */
export const INSERT_LINK = statement(
  'link.insert',
  `
  WITH place AS (
    SELECT least(coalesce($7::int, count(*)), count(*))::int AS position FROM graph.link l WHERE l.node_id = $2::uuid AND l.kind = $4::text
  ), moved AS (
    UPDATE graph.link l SET position = l.position + 1 FROM place p
    WHERE l.node_id = $2::uuid AND l.kind = $4::text AND l.position >= p.position)
  INSERT INTO graph.link (id, node_id, node_type, kind, position, name, url)
  SELECT $1::uuid, $2::uuid, $3::text, $4::text, p.position, $5::text, $6::text FROM place p`,
);

/** The node that carries a link, if the caller sees it. $1 user, $2 sees all, $3 link, $4 kind. */
export const NODE_OF_LINK = statement(
  'link.node',
  `
  SELECT l.node_id::text AS node_id FROM graph.link l JOIN ${VISIBLE} n ON n.id = l.node_id WHERE l.id = $3::uuid AND l.kind = $4::text`,
);

/** Removes one and closes the gap; answers what was removed. $1 id. */
export const DELETE_LINK = statement(
  'link.delete',
  `
  WITH removed AS (DELETE FROM graph.link WHERE id = $1::uuid RETURNING node_id, kind, position, name, url),
  closed AS (
    UPDATE graph.link l SET position = l.position - 1 FROM removed r
    WHERE l.node_id = r.node_id AND l.kind = r.kind AND l.position > r.position)
  SELECT name, url, position FROM removed`,
);
