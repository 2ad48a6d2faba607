import { statement, VISIBLE } from '@workspace-graph/database';
import { responsibilitiesOf, responsibilityJson } from '../shared/projections.js';

/** Adds at the end. $1 id, $2 node, $3 its type, $4 title, $5 description. */
export const INSERT_RESPONSIBILITY = statement(
  'responsibility.insert',
  `
  INSERT INTO graph.responsibility (id, node_id, node_type, position, title, description)
  SELECT $1::uuid, $2::uuid, $3::text, count(*), $4::text, $5::text FROM graph.responsibility r WHERE r.node_id = $2::uuid`,
);

/** $1 id, $2 title, $3 description. */
export const UPDATE_RESPONSIBILITY = statement(
  'responsibility.update',
  `
  UPDATE graph.responsibility SET title = $2::text, description = $3::text WHERE id = $1::uuid`,
);

/** Removes one and closes the gap. $1 id, $2 node. */
export const DELETE_RESPONSIBILITY = statement(
  'responsibility.delete',
  `
  WITH removed AS (DELETE FROM graph.responsibility WHERE id = $1::uuid RETURNING position)
  UPDATE graph.responsibility r SET position = r.position - 1 FROM removed WHERE r.node_id = $2::uuid AND r.position > removed.position`,
);

/** $1 ids in their new order. */
export const REORDER_RESPONSIBILITIES = statement(
  'responsibility.reorder',
  `
  UPDATE graph.responsibility r SET position = o.place - 1
  FROM unnest($1::uuid[]) WITH ORDINALITY AS o(id, place) WHERE r.id = o.id AND r.position <> o.place - 1`,
);

/** $1 responsibility, $2 actors in their order. */
export const INSERT_ASSIGNEES = statement(
  'responsibility.assign',
  `
  INSERT INTO graph.responsibility_assignee (responsibility_id, actor_id, position)
  SELECT $1::uuid, o.id, o.place - 1 FROM unnest($2::uuid[]) WITH ORDINALITY AS o(id, place)`,
);

/** $1 responsibility. */
export const DELETE_ASSIGNEES = statement(
  'responsibility.unassign',
  `
  DELETE FROM graph.responsibility_assignee WHERE responsibility_id = $1::uuid`,
);

/** The node that carries a responsibility, if the caller sees it. $1 user, $2 sees all, $3 responsibility. */
export const NODE_OF_RESPONSIBILITY = statement(
  'responsibility.node',
  `
  SELECT r.node_id::text AS node_id FROM graph.responsibility r JOIN ${VISIBLE} n ON n.id = r.node_id WHERE r.id = $3::uuid`,
);

/** $1 responsibility. */
export const RESPONSIBILITY = statement(
  'responsibility.by_id',
  `
  SELECT ${responsibilityJson('r')} AS responsibility FROM graph.responsibility r WHERE r.id = $1::uuid`,
);

/** All of a node in their order. $1 node. */
export const RESPONSIBILITIES = statement(
  'responsibility.of_node',
  `SELECT ${responsibilitiesOf('$1::uuid')} AS responsibilities`,
);
