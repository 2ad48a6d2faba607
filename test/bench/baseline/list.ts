import { iso, isSeen, mySets } from './access.js';

/** $1 user, $2 organization: its first fifty projects by name that are not archived, and whether there are more. */
export const LIST = `
  WITH ${mySets('$1::uuid')}
  SELECT json_build_object(
      'id', n.id, 'type', n.type, 'name', n.name, 'status', n.status, 'lifecycle', n.lifecycle, 'health', n.health,
      'organization', CASE WHEN o.id IS NOT NULL THEN json_build_object('id', o.id, 'type', o.type, 'name', o.name) END,
      'owner', CASE WHEN w.id IS NOT NULL THEN json_build_object('id', w.id, 'type', w.type, 'name', w.name) END,
      'version', n.version, 'created_at', ${iso('n.created_at')}, 'updated_at', ${iso('n.updated_at')})::text AS item
  FROM (
    SELECT * FROM graph.node x
    WHERE x.organization_id = $2::uuid AND x.type = 'project' AND x.status IN ('active', 'completed') AND ${isSeen('x')}
    ORDER BY x.name_folded, x.id LIMIT 51
  ) n
  LEFT JOIN graph.node o ON o.id = n.organization_id AND ${isSeen('o')}
  LEFT JOIN graph.actor w ON w.id = n.owner_id
  ORDER BY n.name_folded, n.id`;
