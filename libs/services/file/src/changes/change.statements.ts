import { statement } from '@workspace-graph/database';
import { fileJson } from '../shared/projections.js';

/** A node whose files change, as the caller may treat it. */
export interface LockedNode {
  readonly id: string;
  /** 1 read, 2 write. */
  readonly level: number;
  /** Folder of the node on a remote. */
  readonly folder: string;
  /** Time of the transaction. */
  readonly now: string;
}

/** Visible nodes, locked against other changes of their files and against their purge. $1 user, $2 sees all, $3 ids. */
export const LOCK_NODES = statement(
  'file.lock_nodes',
  `
  SELECT n.id::text AS id, n.level, graph.iso(now()::timestamptz(3)) AS now,
    file.node_folder(n.type, n.sync_key, n.organization_sync_key) AS folder
  FROM graph.lock_nodes($1::uuid, $2::boolean, $3::uuid[]) n`,
);

/** The files that changes name: by id, and by node and path. $1 ids, $2 nodes, $3 keys of paths. */
export const FILES_OF_CHANGES = statement(
  'file.of_changes',
  `
  SELECT ${fileJson('r')} AS file FROM (
    SELECT unnest($1::uuid[]) AS id
    UNION
    SELECT p.id FROM unnest($2::uuid[], $3::text[]) AS w(node_id, path_key)
      JOIN file.record p ON p.node_id = w.node_id AND p.path_digest = md5(w.path_key)::uuid AND p.path_key = w.path_key
  ) f JOIN file.record r ON r.id = f.id`,
);

/** Version of files that no record has any more and that were removed from a node, the last of all. $1 ids, $2 node. */
export const REMOVED_FROM = statement(
  'file.removed_from',
  `
  SELECT w.id::text AS id, (e.before ->> 'version')::int AS version
  FROM unnest($1::uuid[]) AS w(id), LATERAL (
    SELECT a.target_kind, a.before FROM audit.trail a WHERE a.target_id = w.id ORDER BY a.at DESC, a.id DESC LIMIT 1
  ) e
  WHERE e.target_kind = 'file' AND e.before ? 'version' AND e.before ->> 'node_id' = $2
    AND NOT EXISTS (SELECT FROM file.record r WHERE r.id = w.id)`,
);

/** $1 ids. */
export const REMOVE_FILES = statement('file.remove', `DELETE FROM file.record WHERE id = ANY ($1::uuid[])`);

const COLUMNS = `id uuid, node_id uuid, path text, path_key text, sha256 text, size_bytes bigint, mime_type text, modified_at timestamptz,
    is_native_format boolean, version int, updated_at timestamptz`;

/** All in one statement, so that files may take the paths of each other. $1 rows, $2 author. */
export const UPDATE_FILES = statement(
  'file.update',
  `
  UPDATE file.record r SET node_id = d.node_id, path = d.path, path_key = d.path_key, sha256 = d.sha256, size_bytes = d.size_bytes,
    mime_type = d.mime_type, modified_at = d.modified_at, version = d.version, updated_at = d.updated_at, updated_by = $2::uuid
  FROM jsonb_to_recordset($1::jsonb) AS d(${COLUMNS}) WHERE r.id = d.id`,
);

/** $1 rows, $2 author. */
export const INSERT_FILES = statement(
  'file.insert',
  `
  INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type, modified_at, is_native_format, version, created_at, created_by,
    updated_at, updated_by)
  SELECT d.id, d.node_id, d.path, d.path_key, d.sha256, d.size_bytes, d.mime_type, d.modified_at, d.is_native_format, d.version, d.updated_at, $2::uuid, d.updated_at, $2::uuid
  FROM jsonb_to_recordset($1::jsonb) AS d(${COLUMNS})`,
);

/** $1 rows, $2 author. */
export const INSERT_TOMBSTONES = statement(
  'file.bury',
  `
  INSERT INTO file.tombstone (id, file_id, node_id, path, remote_name, remote_path, sha256, reason, created_by)
  SELECT gen_random_uuid(), d.file_id, d.node_id, d.path, d.remote_name, d.remote_path, d.sha256, d.reason, $2::uuid
  FROM jsonb_to_recordset($1::jsonb) AS d(file_id uuid, node_id uuid, path text, remote_name text, remote_path text, sha256 text, reason text)`,
);

/**
 * Objects that lie elsewhere than their records tell, and that nothing brings there yet: the intents of the centre to do it,
 * whose goal is where the record is then. $1 ids of the intents, $2 files, $3 the node in which they were, $4 author.
 */
export const NOTE_FOLLOWS = statement(
  'file.note_follows',
  `
  INSERT INTO file.pending_op (id, file_id, node_id, kind, from_path, to_node_id, to_path, sha256, from_remote, from_object, created_by)
  SELECT w.id, r.id, $3::uuid, 'move',
    CASE WHEN starts_with(r.remote_path, f.folder || '/') THEN substr(r.remote_path, length(f.folder) + 2) ELSE r.path END,
    r.node_id, r.path, r.sha256, r.remote_name, r.remote_path, $4::uuid
  FROM unnest($1::uuid[], $2::uuid[]) AS w(id, file_id) JOIN file.record r ON r.id = w.file_id, LATERAL (
    SELECT file.node_folder(n.type, n.sync_key, CASE WHEN n.type = 'organization' THEN n.sync_key
      ELSE (SELECT o.sync_key FROM graph.node_place o WHERE o.id = n.organization_id) END) AS folder
    FROM graph.node_place n WHERE n.id = $3::uuid
  ) f
  WHERE r.remote_path IS NOT NULL AND NOT EXISTS (
    SELECT FROM file.pending_op p WHERE p.file_id = r.id AND p.device_id IS NULL AND p.from_object IS NOT NULL
      AND p.kind = 'move' AND p.to_object IS NULL
  )`,
);
