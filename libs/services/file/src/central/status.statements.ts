import { statement, VISIBLE } from '@workspace-graph/database';

/**
 * Records that a caller sees, as far as their objects go, by id. $1 user, $2 sees all, $3 session or null, $4 node or null, $5 the id
 * to go on after, or null, $6 how many.
 */
export const RECORDS_IN_SIGHT = statement(
  'file.records_in_sight',
  `
  WITH seen AS MATERIALIZED (
    SELECT n.id FROM ${VISIBLE} n WHERE ($4::uuid IS NULL OR n.id = $4::uuid) AND session.holds($3::uuid, n.id)
  )
  SELECT r.id::text AS id, r.node_id::text AS node_id, r.path, r.size_bytes::float8 AS size_bytes, r.sha256, r.remote_name,
    r.remote_path, r.remote_revision, r.current_remote_hash, r.is_native_format
  FROM file.record r JOIN seen ON seen.id = r.node_id
  WHERE $5::uuid IS NULL OR r.id > $5::uuid
  ORDER BY r.id LIMIT $6::int`,
);
