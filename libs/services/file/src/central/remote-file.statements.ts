import type { FileRecord } from '@workspace-graph/contracts';
import { levelOf, statement, VISIBLE } from '@workspace-graph/database';
import { fileJson, placedJson, placeJson } from '../shared/projections.js';
import type { ToldNode } from '../shared/told-path.js';

/** A node that the caller sees and that the caller's session holds, as a place for files on remotes. */
export interface FileNode extends ToldNode {
  /** sync_key of its organization, for an organization its own. */
  readonly organization_key: string | null;
  /** Whether the caller may write on it, and the session too. */
  readonly is_writable: boolean;
}

/** A record, and where its content lies. */
export interface FoundFile extends FileNode {
  readonly file: FileRecord;
  /** Null for a content that is on no remote. */
  readonly remote_path: string | null;
  /** What was seen of it last. */
  readonly remote_revision: string | null;
}

/** Of a visible node `n`, and a session in the parameter `session`. */
const nodeColumns = (session: string): string => `
    ${placeJson('n')} AS place, file.node_folder(n.type, n.sync_key, k.key) AS folder, k.key AS organization_key,
    ${levelOf('n')} = 2 AND session.holds_to_write(${session}::uuid, ARRAY[n.id]) AS is_writable`;
const ORGANIZATION_KEY = `LATERAL (
    SELECT CASE WHEN n.type = 'organization' THEN n.sync_key
      ELSE (SELECT o.sync_key FROM graph.node_place o WHERE o.id = n.organization_id) END AS key
  ) k`;
const RECORD_COLUMNS = `${fileJson('r')} AS file, r.remote_path, r.remote_revision`;

/** $1 user, $2 sees all, $3 node, $4 session or null. */
export const FIND_FILE_NODE = statement(
  'file.file_node',
  `
  SELECT ${nodeColumns('$4')}
  FROM ${VISIBLE} n, ${ORGANIZATION_KEY}
  WHERE n.id = $3::uuid AND session.holds($4::uuid, n.id)`,
);

/** $1 user, $2 sees all, $3 node, $4 session or null, $5 key of the path. */
export const FILE_AT = statement(
  'file.remote_file_at',
  `
  SELECT ${RECORD_COLUMNS}, ${nodeColumns('$4')}
  FROM file.record r JOIN ${VISIBLE} n ON n.id = r.node_id, ${ORGANIZATION_KEY}
  WHERE r.node_id = $3::uuid AND r.path_digest = md5($5::text)::uuid AND r.path_key = $5::text AND session.holds($4::uuid, n.id)`,
);

/** $1 user, $2 sees all, $3 file, $4 session or null. */
export const FILE_BY_ID = statement(
  'file.remote_file',
  `
  SELECT ${RECORD_COLUMNS}, ${nodeColumns('$4')}
  FROM file.record r JOIN ${VISIBLE} n ON n.id = r.node_id, ${ORGANIZATION_KEY}
  WHERE r.id = $3::uuid AND session.holds($4::uuid, n.id)`,
);

/** Those of some files that the caller sees. $1 user, $2 sees all, $3 files, $4 session or null. */
export const FILES_BY_ID = statement(
  'file.remote_files',
  `
  SELECT ${RECORD_COLUMNS}, ${nodeColumns('$4')}
  FROM file.record r JOIN ${VISIBLE} n ON n.id = r.node_id, ${ORGANIZATION_KEY}
  WHERE r.id = ANY ($3::uuid[]) AND session.holds($4::uuid, n.id) ORDER BY r.id`,
);

/** The content of a file lies there now. $1 file, $2 remote, $3 path, $4 revision, $5 hash; none of them: on no remote. */
export const SET_REMOTE = statement(
  'file.set_remote',
  `
  UPDATE file.record SET remote_name = $2::text, remote_path = $3::text, remote_revision = $4::text,
    current_remote_hash = 'sha256:' || $5::text, last_pushed_at = now()
  WHERE id = $1::uuid`,
);

/** A document lies there now. $1 file, $2 remote, $3 path, $4 revision. */
export const SET_DOCUMENT = statement(
  'file.set_document',
  `
  UPDATE file.record SET remote_name = $2::text, remote_path = $3::text, remote_revision = $4::text
  WHERE id = $1::uuid`,
);

/** The same of several files on one remote. $1 files, $2 remote, $3 paths, $4 revisions, $5 hashes. */
export const SET_REMOTES = statement(
  'file.set_remotes',
  `
  UPDATE file.record r SET remote_name = $2::text, remote_path = w.path, remote_revision = w.revision,
    current_remote_hash = 'sha256:' || w.sha256, last_pushed_at = now()
  FROM unnest($1::uuid[], $3::text[], $4::text[], $5::text[]) AS w(id, path, revision, sha256) WHERE r.id = w.id`,
);

/** Records of a node, as far as their objects go. $1 node, $2 how many. */
export const NODE_OBJECTS = statement(
  'file.node_objects',
  `
  SELECT r.id::text AS id, r.path, r.size_bytes::float8 AS size_bytes, r.sha256, r.remote_name, r.remote_path, r.remote_revision,
    r.current_remote_hash, r.is_native_format
  FROM file.record r WHERE r.node_id = $1::uuid ORDER BY r.path, r.id LIMIT $2::int`,
);

/** Files of a node within a folder, by path. $1 node, $2 folder. */
export const FILES_UNDER = statement(
  'file.files_under',
  `
  SELECT r.id::text AS id, r.path FROM file.record r
  WHERE r.node_id = $1::uuid AND starts_with(r.path, $2::text || '/') ORDER BY r.path COLLATE "C", r.id`,
);

/** Those objects of a remote that belong to a file. $1 remote, $2 paths. */
export const KNOWN_OBJECTS = statement(
  'file.known_objects',
  `
  SELECT r.remote_path AS path FROM unnest($2::text[]) AS w(path)
    JOIN file.record r ON r.remote_name = $1::text AND md5(r.remote_path) = md5(w.path) AND r.remote_path = w.path`,
);

/** Which of some objects were files of nodes that were purged, and are of none since. $1 remote, $2 paths. */
export const PURGED_OBJECTS = statement(
  'file.purged_objects',
  `
  SELECT w.path FROM unnest($2::text[]) AS w(path)
  WHERE EXISTS (SELECT FROM file.tombstone t
    WHERE t.reason = 'purged' AND t.remote_name = $1::text AND md5(t.remote_path) = md5(w.path) AND t.remote_path = w.path)`,
);

/** A file as a listing answers it. $1 user, $2 sees all, $3 file. */
export const PLACED_FILE = statement(
  'file.placed',
  `SELECT ${placedJson('r', 'n')} AS placed FROM file.record r JOIN graph.node_place n ON n.id = r.node_id WHERE r.id = $3::uuid`,
);

/**
 * What is to happen to a file and its objects, noted before the first step. A move without `to_object` is of a record that
 * has moved already: its object is to lie where the record tells by then.
 */
export interface CentreIntent {
  readonly id: string;
  readonly file_id: string;
  readonly node_id: string;
  readonly kind: 'move' | 'delete';
  readonly from_path: string;
  readonly to_node_id: string | null;
  readonly to_path: string | null;
  readonly sha256: string | null;
  readonly from_remote: string;
  readonly from_object: string;
  readonly to_remote: string | null;
  readonly to_object: string | null;
}

/** $1 the intent, $2 author. */
export const NOTE_INTENT = statement(
  'file.note_centre_intent',
  `
  INSERT INTO file.pending_op (id, file_id, node_id, kind, from_path, to_node_id, to_path, sha256, from_remote, from_object, to_remote, to_object, created_by)
  SELECT d.id, d.file_id, d.node_id, d.kind, d.from_path, d.to_node_id, d.to_path, d.sha256, d.from_remote, d.from_object, d.to_remote, d.to_object, $2::uuid
  FROM jsonb_to_record($1::jsonb) AS d(id uuid, file_id uuid, node_id uuid, kind text, from_path text, to_node_id uuid, to_path text, sha256 text,
    from_remote text, from_object text, to_remote text, to_object text)`,
);

/** $1 id. */
export const DROP_INTENT = statement('file.drop_centre_intent', 'DELETE FROM file.pending_op WHERE id = $1::uuid');

/** $1 id, $2 what failed. */
export const FAIL_INTENT = statement(
  'file.fail_centre_intent',
  'UPDATE file.pending_op SET last_error = $2::text, attempts = attempts + 1 WHERE id = $1::uuid',
);

/** Ends what had an object follow its record. $1 file. */
export const DROP_FOLLOW = statement(
  'file.drop_follow',
  `
  DELETE FROM file.pending_op
  WHERE file_id = $1::uuid AND device_id IS NULL AND from_object IS NOT NULL AND kind = 'move' AND to_object IS NULL`,
);

const INTENT_COLUMNS = `p.id::text AS id, p.file_id::text AS file_id, p.node_id::text AS node_id, p.kind, p.from_path, p.to_node_id::text AS to_node_id,
    p.to_path, p.sha256, p.from_remote, p.from_object, p.to_remote, p.to_object`;

/** Intents of the centre, the oldest first. $1 the id to go on after, or null, $2 how many. */
export const CENTRE_INTENTS = statement(
  'file.centre_intents',
  `
  SELECT ${INTENT_COLUMNS} FROM file.pending_op p
  WHERE p.device_id IS NULL AND p.from_object IS NOT NULL AND ($1::uuid IS NULL OR p.id > $1::uuid)
  ORDER BY p.id LIMIT $2::int`,
);

/** Those by which objects of a remote are to follow their records from one place. $1 remote, $2 path. */
export const FOLLOWS_FROM = statement(
  'file.follows_from',
  `
  SELECT ${INTENT_COLUMNS} FROM file.record r JOIN file.pending_op p ON p.file_id = r.id
  WHERE r.remote_name = $1::text AND md5(r.remote_path) = md5($2::text) AND r.remote_path = $2::text
    AND p.device_id IS NULL AND p.from_object IS NOT NULL AND p.kind = 'move' AND p.to_object IS NULL`,
);

/** Moves of one file by the centre, but for those that are to follow its record, the oldest first. $1 file. */
export const MOVES_OF_FILE = statement(
  'file.moves_of_file',
  `
  SELECT ${INTENT_COLUMNS} FROM file.pending_op p
  WHERE p.file_id = $1::uuid AND p.device_id IS NULL AND p.from_object IS NOT NULL AND p.kind = 'move' AND p.to_object IS NOT NULL
  ORDER BY p.id`,
);

/** $1 id. */
export const CENTRE_INTENT = statement(
  'file.centre_intent',
  `SELECT ${INTENT_COLUMNS} FROM file.pending_op p WHERE p.id = $1::uuid`,
);
