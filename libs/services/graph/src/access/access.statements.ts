import { statement, VISIBLE } from '@workspace-graph/database';
import { nodeRef } from '../shared/projections.js';

/** Recipients of a node by id; named to callers who see everything ($2) and to nobody else. */
const recipientsOf = (nodeId: string): string => `CASE WHEN $2::boolean THEN coalesce((
  SELECT json_agg(json_build_object('kind', CASE WHEN s.user_id IS NULL THEN 'group' ELSE 'user' END,
    'id', s.recipient_id, 'name', coalesce(u.name, ug.name), 'access', s.access)
    ORDER BY s.user_id IS NOT NULL, coalesce(u.name_folded, ug.name_folded), s.recipient_id)
  FROM graph.share s LEFT JOIN identity.known_user u ON u.id = s.user_id LEFT JOIN identity.known_group ug ON ug.id = s.group_id
  WHERE s.node_id = ${nodeId}), '[]') ELSE '[]'::json END`;

/** NodeAccess of a visible node. A caller who sees a node sees its gates too. $1 user, $2 sees all, $3 node. */
export const NODE_ACCESS = statement(
  'access.of_node',
  `
  SELECT json_build_object(
    'node_id', n.id, 'version', n.version,
    'own', CASE WHEN n.visibility IS NOT NULL THEN json_build_object('visibility', n.visibility, 'recipients', ${recipientsOf('n.id')}) END,
    'effective', coalesce((
      SELECT json_agg(json_build_object('node', ${nodeRef('g')}, 'visibility', g.visibility, 'recipients', ${recipientsOf('g.id')}) ORDER BY g.name_folded, g.id)
      FROM graph.access_set_gate sg JOIN graph.node g ON g.id = sg.gate_id WHERE sg.access_set_id = n.access_set_id), '[]')
  )::text AS json, n.version
  FROM ${VISIBLE} n WHERE n.id = $3::uuid`,
);

/**
 * Why the user $4 may or may not see the node $3, apart from manage; the node must be visible to the caller. Of several
 * entries of one setting the strongest counts, and among equals the most personal. $1 user, $2 sees all.
 */
export const EXPLAIN_ACCESS = statement(
  'access.explain',
  `
  SELECT json_build_object(
    'node_id', n.id, 'user_id', $4::uuid,
    'level', CASE coalesce(r.level, 2) WHEN 2 THEN 'write' WHEN 1 THEN 'read' ELSE 'none' END,
    'reasons', coalesce(r.reasons, '[]'), 'open', n.access_set_id IS NULL)::text AS json
  FROM ${VISIBLE} n CROSS JOIN LATERAL (
    SELECT min(x.access) AS level, json_agg(json_build_object(
      'node', x.node, 'visibility', x.visibility, 'level', CASE x.access WHEN 2 THEN 'write' WHEN 1 THEN 'read' ELSE 'none' END,
      'because', x.because, 'group', x.group_name) ORDER BY x.name_folded, x.id) AS reasons
    FROM (
      SELECT ${nodeRef('g')} AS node, g.visibility, g.name_folded, g.id,
        coalesce(e.access, 0) AS access, coalesce(e.because, 'not_listed') AS because, e.group_name
      FROM graph.access_set_gate sg JOIN graph.node g ON g.id = sg.gate_id
      LEFT JOIN LATERAL (
        SELECT 2 AS access, 'owner' AS because, NULL AS group_name, 1 AS place
          FROM graph.actor a WHERE a.id = g.owner_id AND a.user_id = $4::uuid
        UNION ALL SELECT 2, 'creator', NULL, 2 WHERE g.created_by = $4::uuid
        UNION ALL SELECT CASE s.access WHEN 'write' THEN 2 ELSE 1 END, 'recipient', NULL, 3
          FROM graph.share s WHERE s.node_id = g.id AND s.user_id = $4::uuid AND g.visibility = 'group'
        UNION ALL SELECT CASE s.access WHEN 'write' THEN 2 ELSE 1 END, 'group_member', ug.name, 4
          FROM graph.share s JOIN identity.member m ON m.group_id = s.group_id AND m.user_id = $4::uuid
          JOIN identity.known_group ug ON ug.id = s.group_id WHERE s.node_id = g.id AND g.visibility = 'group'
        ORDER BY access DESC, place, group_name LIMIT 1
      ) e ON true
      WHERE sg.access_set_id = n.access_set_id
    ) x
  ) r
  WHERE n.id = $3::uuid`,
);

/** $1 user. */
export const USER_EXISTS = statement(
  'access.user_exists',
  'SELECT 1 AS found FROM identity.known_user u WHERE u.id = $1::uuid',
);

/** Own setting of a node as it is compared and audited. $1 node. */
export const OWN_SHARES = statement(
  'access.own_shares',
  `
  SELECT CASE WHEN s.user_id IS NULL THEN 'group' ELSE 'user' END AS kind, s.recipient_id::text AS id, s.access
  FROM graph.share s WHERE s.node_id = $1::uuid ORDER BY 1, 2`,
);

/** Recipients of $1 (json array of kind, id) that do not exist, with their place. */
export const MISSING_RECIPIENTS = statement(
  'access.missing_recipients',
  `
  SELECT r.kind, r.id::text AS id, (r.place - 1)::int AS place
  FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS (kind text, id uuid)) WITH ORDINALITY AS r(kind, id, place)
  WHERE NOT EXISTS (SELECT FROM identity.known_user u WHERE r.kind = 'user' AND u.id = r.id)
    AND NOT EXISTS (SELECT FROM identity.known_group g WHERE r.kind = 'group' AND g.id = r.id)
  ORDER BY r.place`,
);

/** $1 node, $2 own visibility or null. */
export const SET_VISIBILITY = statement(
  'access.set_visibility',
  `
  UPDATE graph.node SET visibility = $2::text, version = version + 1, updated_at = now() WHERE id = $1::uuid`,
);

/** Makes $2 (json array of kind, id, access) the recipients of the node $1. */
export const REPLACE_SHARES = statement(
  'access.replace_shares',
  `
  WITH wanted AS MATERIALIZED (
    SELECT r.kind, r.id, r.access FROM jsonb_to_recordset($2::jsonb) AS r(kind text, id uuid, access text)
  ), gone AS (
    DELETE FROM graph.share s WHERE s.node_id = $1::uuid AND NOT EXISTS (SELECT FROM wanted w WHERE w.id = s.recipient_id)
  )
  INSERT INTO graph.share (node_id, user_id, group_id, access)
  SELECT $1::uuid, CASE w.kind WHEN 'user' THEN w.id END, CASE w.kind WHEN 'group' THEN w.id END, w.access FROM wanted w
  ON CONFLICT ON CONSTRAINT share_key DO UPDATE SET access = excluded.access`,
);

/**
 * Who of several viewers sees each of several nodes, worked out once for each access set. $1 users of the viewers, $2
 * whether each sees all, $3 nodes.
 */
export const SIGHT = statement(
  'access.sight',
  `
  WITH viewer AS MATERIALIZED (
    SELECT v.user_id, v.sees_all, v.nth::int - 1 AS place FROM unnest($1::uuid[], $2::boolean[]) WITH ORDINALITY v(user_id, sees_all, nth)
  ), class AS MATERIALIZED (
    SELECT n.access_set_id AS set_id, json_agg(w.nth::int - 1 ORDER BY w.nth) AS nodes
    FROM unnest($3::uuid[]) WITH ORDINALITY w(id, nth) JOIN graph.node n ON n.id = w.id GROUP BY n.access_set_id
  ), principal AS MATERIALIZED (
    SELECT v.place, v.user_id AS id FROM viewer v WHERE NOT v.sees_all
    UNION SELECT v.place, m.group_id FROM viewer v JOIN identity.member m ON m.user_id = v.user_id WHERE NOT v.sees_all
  ), passed AS MATERIALIZED (
    SELECT s.id AS set_id, p.place FROM class c JOIN graph.access_set s ON s.id = c.set_id
    JOIN graph.access_set_gate sg ON sg.access_set_id = s.id JOIN graph.gate_grant g ON g.gate_id = sg.gate_id
    JOIN principal p ON p.id = g.principal_id
    GROUP BY s.id, s.gate_count, p.place HAVING count(DISTINCT sg.gate_id) = s.gate_count
  ), seen AS (
    SELECT c.nodes, c.set_id IS NULL AS is_open, (SELECT json_agg(x.place ORDER BY x.place) FROM (
      SELECT v.place FROM viewer v WHERE v.sees_all UNION ALL SELECT p.place FROM passed p WHERE p.set_id = c.set_id) x) AS by
    FROM class c)
  SELECT json_build_object('seen', coalesce(
    json_agg(json_build_object('nodes', s.nodes, 'by', CASE WHEN NOT s.is_open THEN s.by END)), '[]'))::text AS json
  FROM seen s WHERE s.is_open OR s.by IS NOT NULL`,
);
