import type { FileHit } from '@workspace-graph/contracts';
import { statement, VISIBLE } from '@workspace-graph/database';

/** A file that was found, as far as its record tells. */
export type FoundHit = Omit<FileHit, 'filename' | 'snippet'>;

const COLUMNS = `r.id::text AS file_id, r.node_id::text AS node_id, n.name AS node_name, n.type AS node_type, r.path, r.mime_type,
    graph.iso(r.modified_at) AS modified_at`;

/** Files in whose names all of these stand, newest first. $1 user, $2 sees all, $3 patterns, $4 node or null, $5 how many. */
export const FILES_OF_WORDS = statement(
  'file.of_words',
  `
  SELECT ${COLUMNS} FROM file.record r JOIN ${VISIBLE} n ON n.id = r.node_id
  WHERE r.name_folded LIKE ALL ($3::text[]) AND ($4::uuid IS NULL OR r.node_id = $4::uuid)
  ORDER BY r.updated_at DESC, r.id DESC LIMIT $5::int`,
);

/** Files whose contents lie there, in this order. $1 user, $2 sees all, $3 remote, $4 paths, $5 node or null. */
export const FILES_OF_OBJECTS = statement(
  'file.of_objects',
  `
  SELECT ${COLUMNS}
  FROM unnest($4::text[]) WITH ORDINALITY AS w(path, place)
    JOIN file.record r ON r.remote_name = $3::text AND md5(r.remote_path) = md5(w.path) AND r.remote_path = w.path
    JOIN ${VISIBLE} n ON n.id = r.node_id
  WHERE $5::uuid IS NULL OR r.node_id = $5::uuid
  ORDER BY w.place`,
);

/** A text file, and where its content lies. */
export type GrepCandidate = FoundHit & { readonly remote_path: string };

/**
 * Text files on a remote, the last changed first. $1 user, $2 sees all, $3 remote, $4 node or null, $5 most bytes, $6 media
 * types beside those of text, $7 how many.
 */
export const TEXTS_ON_REMOTE = statement(
  'file.texts_on_remote',
  `
  SELECT ${COLUMNS}, r.remote_path FROM file.record r JOIN ${VISIBLE} n ON n.id = r.node_id
  WHERE r.remote_name = $3::text AND ($4::uuid IS NULL OR r.node_id = $4::uuid) AND r.size_bytes BETWEEN 1 AND $5::bigint
    AND (r.mime_type LIKE 'text/%' OR r.mime_type = ANY ($6::text[]))
  ORDER BY r.updated_at DESC, r.id DESC LIMIT $7::int`,
);
