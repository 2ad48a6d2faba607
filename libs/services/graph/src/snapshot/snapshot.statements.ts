import { Health, Lifecycle, NODE_TYPES, Relation } from '@workspace-graph/contracts';
import { statement, VISIBLE, writable } from '@workspace-graph/database';
import { UNDRAWN_ACTIONS } from './undrawn-actions.js';

/** Place of a value in a list of the contract, -1 for none. */
const codeOf = (values: readonly string[], value: string): string =>
  `(coalesce(array_position(ARRAY[${values.map((each) => `'${each}'`).join(', ')}], ${value}), 0) - 1)`;
const column = (value: string): string => `'[' || coalesce(string_agg(${value}, ','), '') || ']'`;

/**
 * The visible graph as columns of JSON text, and the snapshot of the database in which it was so. Rows in the order of
 * ids and edges in the order of rows, so that equal graphs give equal texts. $1 user, $2 sees all, $3 archived ones too.
 */
export const SNAPSHOT = statement(
  'snapshot.columns',
  `
  WITH seen AS MATERIALIZED (
    SELECT n.id, n.name, n.type, n.lifecycle, n.health, n.organization_id, (row_number() OVER (ORDER BY n.id))::int - 1 AS place
    FROM ${VISIBLE} n WHERE $3::boolean OR n.status <> 'archived'
  ), organization AS MATERIALIZED (
    SELECT v.id, (row_number() OVER (ORDER BY v.id))::int - 1 AS place
    FROM ${VISIBLE} v WHERE v.id IN (SELECT s.organization_id FROM seen s)
  ), node_columns AS (
    SELECT ${column(`'"' || s.id || '"'`)} AS id,
      ${column('to_json(s.name)::text')} AS name,
      ${column(`${codeOf(NODE_TYPES, 's.type')}::text`)} AS type,
      ${column(`${codeOf(Lifecycle.options, 's.lifecycle')}::text`)} AS lifecycle,
      ${column(`${codeOf(Health.options, 's.health')}::text`)} AS health,
      ${column('coalesce(s.organization, -1)::text')} AS organization,
      ${column(`coalesce(s.x::text, 'null')`)} AS x,
      ${column(`coalesce(s.y::text, 'null')`)} AS y
    FROM (
      SELECT s.*, o.place AS organization, p.x, p.y
      FROM seen s LEFT JOIN organization o ON o.id = s.organization_id LEFT JOIN graph.position p ON p.node_id = s.id ORDER BY s.place) s
  ), edge_column AS (
    SELECT ${column(`e.source || ',' || e.target || ',' || e.code`)} AS edges FROM (
      SELECT s.place AS source, t.place AS target, ${codeOf(Relation.options, 'e.relation')} AS code
      FROM graph.edge e JOIN seen s ON s.id = e.source_id JOIN seen t ON t.id = e.target_id
      ORDER BY source, target, code) e
  )
  SELECT pg_current_snapshot()::text AS as_of, n.*, e.edges,
    (SELECT ${column(`'"' || o.id || '"'`)} FROM (SELECT o.id FROM organization o ORDER BY o.place) o) AS organizations
  FROM node_columns n, edge_column e`,
);

/** What SNAPSHOT answers: JSON texts. */
export interface SnapshotRow extends Record<string, unknown> {
  readonly as_of: string;
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly lifecycle: string;
  readonly health: string;
  readonly organization: string;
  readonly x: string;
  readonly y: string;
  readonly edges: string;
  readonly organizations: string;
}

/**
 * Whether nothing that is drawn, and nobody's access, has changed since a snapshot of the database, $1: every change
 * leaves an audit line in its own transaction. A database that has gone back in time has changed.
 */
export const UNCHANGED_SINCE = statement(
  'snapshot.unchanged_since',
  `
  SELECT now.snapshot::text AS as_of,
    pg_snapshot_xmax(now.snapshot) >= pg_snapshot_xmax($1::pg_snapshot) AND NOT EXISTS (
      SELECT FROM audit.trail a
      WHERE a.xid >= pg_snapshot_xmin($1::pg_snapshot) AND a.xid < pg_snapshot_xmax(now.snapshot)
        AND NOT pg_visible_in_snapshot(a.xid, $1::pg_snapshot)
        -- As in the predicate of entry_xid_idx.
        AND a.action <> 'log' AND a.target_kind <> 'file' AND a.action NOT IN (${UNDRAWN_ACTIONS.map((action) => `'${action}'`).join(', ')})
    ) AS unchanged
  FROM (SELECT pg_current_snapshot() AS snapshot) now`,
);

/**
 * $1 user, $2 sees all, $3 nodes, $4 and $5 where they are drawn; of a node that is named twice the last place counts.
 * Answers how many of them the caller may place, and how many moved.
 */
export const SET_POSITIONS = statement(
  'position.set',
  `
  WITH wanted AS (
    SELECT DISTINCT ON (w.node_id) w.node_id, w.x, w.y
    FROM unnest($3::uuid[], $4::float8[], $5::float8[]) WITH ORDINALITY AS w(node_id, x, y, place) ORDER BY w.node_id, w.place DESC
  ), writable AS MATERIALIZED (
    -- In the order of ids, so that two callers never wait for each other; a purge cannot pass in between.
    SELECT n.id FROM graph.node n
    WHERE n.id IN (SELECT w.node_id FROM wanted w) AND ${writable('n')}
    ORDER BY n.id FOR KEY SHARE
  ), saved AS (
    INSERT INTO graph.position AS p (node_id, x, y)
    SELECT w.node_id, round(w.x::numeric, 2), round(w.y::numeric, 2) FROM wanted w JOIN writable n ON n.id = w.node_id ORDER BY w.node_id
    ON CONFLICT (node_id) DO UPDATE SET x = excluded.x, y = excluded.y WHERE (p.x, p.y) IS DISTINCT FROM (excluded.x, excluded.y)
    RETURNING p.node_id
  )
  SELECT (SELECT count(*)::int FROM writable) AS saved, (SELECT coalesce(json_agg(s.node_id), '[]') FROM saved s) AS moved`,
);
