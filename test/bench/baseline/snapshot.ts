import { isSeen, mySets } from './access.js';

/** $1 user: the visible graph as columns; the codes are the places in the contract's lists. */
export const SNAPSHOT = `
  WITH ${mySets('$1::uuid')},
  seen AS MATERIALIZED (
    SELECT x.id, x.name, x.type, x.lifecycle, x.health, x.organization_id, (row_number() OVER (ORDER BY x.id) - 1)::int AS place
    FROM graph.node x WHERE ${isSeen('x')}
  ),
  o AS MATERIALIZED (SELECT id, (row_number() OVER (ORDER BY id) - 1)::int AS place FROM seen WHERE type = 'organization')
  SELECT n.nodes::text AS nodes, e.edges, (SELECT array_to_json(array_agg(o.id ORDER BY o.place)) FROM o)::text AS organizations
  FROM (
    SELECT json_build_object('id', array_agg(n.id), 'name', array_agg(n.name),
      'type', array_agg(array_position($2::text[], n.type) - 1),
      'lifecycle', array_agg(array_position($3::text[], n.lifecycle) - 1),
      'health', array_agg(coalesce(array_position($4::text[], n.health), 0) - 1),
      'organization', array_agg(coalesce(n.organization, -1)), 'x', array_agg(n.x), 'y', array_agg(n.y)) AS nodes
    FROM (
      SELECT n.*, o.place AS organization, p.x, p.y
      FROM seen n LEFT JOIN o ON o.id = n.organization_id LEFT JOIN graph.position p ON p.node_id = n.id ORDER BY n.place
    ) n
  ) n, (
    SELECT string_agg(e.source || ',' || e.target || ',' || e.code, ',') AS edges FROM (
      SELECT s.place AS source, t.place AS target, array_position($5::text[], e.relation) - 1 AS code
      FROM graph.edge e JOIN seen s ON s.id = e.source_id JOIN seen t ON t.id = e.target_id ORDER BY 1, 2, 3
    ) e
  ) e`;

/** $1 a snapshot of the database: whether the drawn graph and its access are as they were then. */
export const UNCHANGED = `
  SELECT NOT EXISTS (
    SELECT FROM audit.entry a
    WHERE a.xid >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(a.xid, $1::pg_snapshot) AND a.action <> 'log'
  ) AS unchanged`;
