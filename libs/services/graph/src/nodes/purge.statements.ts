import { statement } from '@workspace-graph/database';
import { nodeRef } from '../shared/projections.js';

/** What goes with a node, and what keeps it from going. $1 node. */
export const PURGE_COUNTS = statement(
  'purge.counts',
  `
  SELECT json_build_object(
    'edges', (SELECT count(*) FROM graph.edge e WHERE e.source_id = $1::uuid OR e.target_id = $1::uuid),
    'events', (SELECT count(*) FROM graph.event e WHERE e.node_id = $1::uuid),
    'responsibilities', (SELECT count(*) FROM graph.responsibility r WHERE r.node_id = $1::uuid),
    'data_sources', (SELECT count(*) FROM graph.link l WHERE l.node_id = $1::uuid AND l.kind = 'data_source'),
    'tools', (SELECT count(*) FROM graph.link l WHERE l.node_id = $1::uuid AND l.kind = 'tool'),
    'files', (SELECT count(*) FROM file.node_file($1::uuid)),
    'sessions', session.count_of_node($1::uuid),
    'access_requests', (SELECT count(*) FROM graph.access_request q WHERE q.node_id = $1::uuid AND q.state IN ('approved', 'refused')),
    'blockers', (
      SELECT coalesce(json_agg(json_build_object('reason', 'has_members', 'count', m.count)) FILTER (WHERE m.count > 0), '[]')
      FROM (SELECT count(*) FROM graph.node n WHERE n.organization_id = $1::uuid) m)) AS removes`,
);

/** The first members of an organization. $1 organization, $2 how many. */
export const MEMBERS = statement(
  'purge.members',
  `
  SELECT ${nodeRef('n')} AS ref FROM graph.node n WHERE n.organization_id = $1::uuid ORDER BY n.name_folded, n.id LIMIT $2::int`,
);

/** Nodes at the other end of an edge, telling those that belong to the node. $1 node. */
export const NEIGHBOURS = statement(
  'purge.neighbours',
  `
  SELECT e.target_id::text AS id, false AS belongs FROM graph.edge e WHERE e.source_id = $1::uuid
  UNION ALL
  SELECT e.source_id::text, e.relation = 'belongs_to' FROM graph.edge e WHERE e.target_id = $1::uuid`,
);

/** Users who see the node, beside those who see everything; null where everybody does. $1 node. */
export const SEEN_BY = statement(
  'purge.seen_by',
  `
  SELECT CASE WHEN n.access_set_id IS NOT NULL THEN coalesce((
    SELECT json_agg(x.user_id) FROM (
      SELECT p.user_id FROM graph.access_set s
      JOIN graph.access_set_gate sg ON sg.access_set_id = s.id JOIN graph.gate_grant g ON g.gate_id = sg.gate_id
      CROSS JOIN LATERAL (
        SELECT g.principal_id AS user_id UNION ALL SELECT m.user_id FROM identity.member m WHERE m.group_id = g.principal_id) p
      WHERE s.id = n.access_set_id GROUP BY p.user_id, s.gate_count HAVING count(DISTINCT g.gate_id) = s.gate_count) x), '[]') END AS users
  FROM graph.node n WHERE n.id = $1::uuid`,
);

/** Access sets that name the node as a gate; asked before it goes. $1 node. */
export const SETS_OF_GATE = statement(
  'purge.sets_of_gate',
  `SELECT access_set_id AS id FROM graph.access_set_gate WHERE gate_id = $1::uuid`,
);

/** $1 access sets, which no node has any more. */
export const DELETE_SETS = statement('purge.delete_sets', `DELETE FROM graph.access_set WHERE id = ANY ($1::int[])`);

/**
 * Decided requests, which name their node without a foreign key; the others stay as those for nodes that never were,
 * so that an asker does not learn of the node by its end. $1 node.
 */
export const DELETE_REQUESTS = statement(
  'purge.delete_requests',
  `
  DELETE FROM graph.access_request WHERE node_id = $1::uuid AND state IN ('approved', 'refused')`,
);

/** Everything else goes with the row. $1 node. */
export const DELETE_NODE = statement('purge.delete_node', `DELETE FROM graph.node WHERE id = $1::uuid`);
