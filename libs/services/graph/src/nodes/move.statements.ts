import { statement } from '@workspace-graph/database';
import { nodeRef } from '../shared/projections.js';

/**
 * The node and, if wanted, everything below it in the same organization, locked; the node first.
 * $1 node, $2 with descendants, $3 its organization.
 */
export const MOVING_NODES = statement(
  'move.nodes',
  `
  WITH RECURSIVE below(id) AS (
    SELECT $1::uuid
    UNION
    SELECT e.source_id FROM below b JOIN graph.edge e ON e.target_id = b.id AND e.relation = 'belongs_to' WHERE $2::boolean
  )
  SELECT n.id, n.type, n.name FROM graph.node n WHERE n.id IN (SELECT b.id FROM below b) AND n.organization_id = $3::uuid
  ORDER BY n.id <> $1::uuid, n.id FOR NO KEY UPDATE OF n`,
);

/**
 * Nodes whose sync_key is taken in the new organization, by a node, or, where `with` is null, by the folder that one has left;
 * and whether a node that goes leaves its folder. $1 nodes, $2 new organization, $3 how many.
 */
export const KEY_CLASHES = statement(
  'move.key_clashes',
  `
  SELECT json_build_object('node', ${nodeRef('n')}, 'with', CASE WHEN t.id IS NOT NULL THEN ${nodeRef('t')} END, 'sync_key', n.sync_key) AS clash,
    file.leaves_folders() AS leaves
  FROM graph.node n
  LEFT JOIN graph.node t ON coalesce(t.organization_id, '00000000-0000-0000-0000-000000000000') = $2::uuid AND t.type = n.type AND t.sync_key = n.sync_key
  WHERE n.id = ANY ($1::uuid[]) AND (t.id IS NOT NULL OR file.was_folder_of_other(n.id, $2::uuid, n.type, n.sync_key)) ORDER BY n.name_folded, n.id LIMIT $3::int`,
);

/** $1 nodes, $2 new organization. */
export const MOVE_NODES = statement(
  'move.move_nodes',
  `
  UPDATE graph.node SET organization_id = $2::uuid, version = version + 1, updated_at = now() WHERE id = ANY ($1::uuid[])`,
);

/** The membership edges keep their ids. $1 nodes, $2 new organization, $3 former organization. */
export const MOVE_MEMBERSHIPS = statement(
  'move.move_memberships',
  `
  UPDATE graph.edge SET target_id = $2::uuid
  WHERE source_id = ANY ($1::uuid[]) AND relation = 'belongs_to' AND target_id = $3::uuid`,
);
