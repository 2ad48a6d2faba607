import { statement, VISIBLE } from '@workspace-graph/database';

/** The node in whose folder something lies. */
export interface FolderOwner {
  readonly id: string;
  readonly is_seen: boolean;
}

/**
 * The node in whose folder a path of a remote lies: the innermost, be it hidden; none for what lies beside all folders.
 * $1 user, $2 sees all, $3 path.
 */
export const OWNER_OF_PATH = statement(
  'file.owner_of_path',
  `
  SELECT n.id::text AS id, EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = n.id) AS is_seen
  FROM graph.node_place n LEFT JOIN graph.node_place o ON o.id = n.organization_id,
    LATERAL (SELECT file.node_folder(n.type, n.sync_key, o.sync_key) AS path) f
  WHERE n.sync_key IN (split_part($3::text, '/', 1), split_part($3::text, '/', 3)) AND starts_with($3::text, f.path || '/')
  ORDER BY length(f.path) DESC LIMIT 1`,
);
