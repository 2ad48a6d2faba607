import { levelOf, statement, VISIBLE } from '@workspace-graph/database';

/** A file of which something is noted. */
export interface IntendedFile {
  readonly id: string;
  readonly node_id: string;
  readonly path: string;
  readonly sha256: string | null;
  /** 1 read, 2 write. */
  readonly level: number;
}

/** Files of visible nodes, kept from being removed. $1 user, $2 sees all, $3 ids. */
export const INTENDED_FILES = statement(
  'file.intended',
  `
  SELECT r.id::text AS id, r.node_id::text AS node_id, r.path, r.sha256, ${levelOf('n')} AS level
  FROM file.record r JOIN ${VISIBLE} n ON n.id = r.node_id WHERE r.id = ANY ($3::uuid[])
  ORDER BY r.id FOR KEY SHARE OF r`,
);

/** What the caller may do on visible nodes. $1 user, $2 sees all, $3 ids. */
export const INTENDED_NODES = statement(
  'file.intended_nodes',
  `SELECT n.id::text AS id, ${levelOf('n')} AS level FROM ${VISIBLE} n WHERE n.id = ANY ($3::uuid[])`,
);

/** What is noted under the same id already stays. $1 rows, $2 author, $3 device. */
export const NOTE_INTENTS = statement(
  'file.note_intents',
  `
  INSERT INTO file.pending_op (id, file_id, node_id, kind, from_path, to_node_id, to_path, sha256, created_by, device_id)
  SELECT d.id, d.file_id, d.node_id, d.kind, d.from_path, d.to_node_id, d.to_path, d.sha256, $2::uuid, $3::uuid
  FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, file_id uuid, node_id uuid, kind text, from_path text, to_node_id uuid, to_path text, sha256 text)
  ON CONFLICT (id) DO NOTHING`,
);

/** Intents of a device about files that the caller may change; others are left alone. $1 user, $2 sees all, $3 device, $4 ids, $5 their errors, null for those that are done. */
export const SETTLE_INTENTS = statement(
  'file.settle_intents',
  `
  WITH outcome AS MATERIALIZED (
    SELECT p.id, w.error FROM unnest($4::uuid[], $5::text[]) AS w(id, error)
      JOIN file.pending_op p ON p.id = w.id JOIN file.record r ON r.id = p.file_id JOIN ${VISIBLE} n ON n.id = r.node_id
    WHERE p.device_id = $3::uuid AND ${levelOf('n')} = 2
  ), settled AS (
    DELETE FROM file.pending_op p USING outcome o WHERE p.id = o.id AND o.error IS NULL
  )
  UPDATE file.pending_op p SET last_error = o.error, attempts = p.attempts + 1
  FROM outcome o WHERE p.id = o.id AND o.error IS NOT NULL`,
);

/** Intents of a device that begin or end in one of the nodes; neither end may be hidden. $1 user, $2 sees all, $3 device, $4 nodes. */
export const LIST_INTENTS = statement(
  'file.list_intents',
  `
  SELECT json_build_object('intents', coalesce(json_agg(json_build_object(
    'id', p.id, 'file_id', p.file_id, 'node_id', p.node_id, 'kind', p.kind, 'from_path', p.from_path, 'to_node_id', p.to_node_id,
    'to_path', p.to_path, 'sha256', p.sha256, 'last_error', p.last_error, 'attempts', p.attempts, 'created_at', graph.iso(p.created_at))
    ORDER BY p.created_at, p.id), '[]'))::text AS json
  FROM file.pending_op p
  WHERE p.device_id = $3::uuid AND (p.node_id = ANY ($4::uuid[]) OR p.to_node_id = ANY ($4::uuid[]))
    AND ((SELECT $2::boolean) OR (
      EXISTS (SELECT FROM ${VISIBLE} n WHERE n.id = p.node_id)
      AND (p.to_node_id IS NULL OR EXISTS (SELECT FROM ${VISIBLE} n WHERE n.id = p.to_node_id))))`,
);
