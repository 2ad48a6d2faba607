import { iso, isSeen, mySets } from './access.js';

/** When the lifecycle of `n` was set last, as far as the audit trail tells. */
const lifecycleSince = `
  LEFT JOIN LATERAL (
    SELECT a.at FROM audit.entry a WHERE a.target_id = n.id AND a.after ? 'lifecycle' ORDER BY a.at DESC, a.id DESC LIMIT 1
  ) a ON true`;

const attention = (condition: string, since: string, join = ''): string => `
  SELECT coalesce(json_agg(json_build_object(
      'node', json_build_object('id', n.id, 'type', n.type, 'name', n.name), 'lifecycle', n.lifecycle, 'health', n.health,
      'note', n.health_note, 'since', ${iso(since)}) ORDER BY n.updated_at DESC, n.id DESC) FILTER (WHERE n.place <= 200), '[]') AS items,
    count(*) <= 200 AS complete
  FROM (
    SELECT x.*, row_number() OVER (ORDER BY x.updated_at DESC, x.id DESC) AS place
    FROM graph.node x WHERE ${condition} AND ${isSeen('x')} ORDER BY x.updated_at DESC, x.id DESC LIMIT 201
  ) n ${join}`;

/** In a graph without sessions. $1 user: what needs attention, what happened lately and what is new. */
export const OVERVIEW = `
  WITH ${mySets('$1::uuid')},
  process AS (${attention(`x.type = 'process' AND x.lifecycle IN ('at_risk', 'broken')`, 'coalesce(a.at, n.updated_at)', lifecycleSince)}),
  area AS (${attention(`x.type = 'area' AND x.lifecycle = 'needs_attention'`, 'coalesce(a.at, n.updated_at)', lifecycleSince)}),
  project AS (${attention(`x.type = 'project' AND x.health IN ('at_risk', 'off_track') AND x.status = 'active'`, 'coalesce(n.health_at, n.updated_at)')}),
  activity AS (
    SELECT coalesce(json_agg(json_build_object(
        'at', ${iso('v.occurred_at')}, 'node', json_build_object('id', v.node_id, 'type', v.type, 'name', v.name),
        'event', json_build_object(
          'id', v.id, 'node_id', v.node_id, 'kind', v.kind, 'status', v.status, 'content', v.content,
          'occurred_at', ${iso('v.occurred_at')}, 'logged_at', ${iso('v.logged_at')}, 'logged_by', lu.name,
          'resolution', v.resolution, 'resolved_at', ${iso('v.resolved_at')}, 'resolved_by', ru.name,
          'supersedes_id', v.supersedes_id, 'superseded_by_id', NULL, 'version', v.version),
        'session_write', NULL
      ) ORDER BY v.occurred_at DESC, v.id DESC), '[]') AS items
    FROM (
      SELECT e.*, n.type, n.name FROM graph.event e JOIN graph.node n ON n.id = e.node_id
      WHERE e.status IN ('active', 'resolved') AND ${isSeen('n')} ORDER BY e.occurred_at DESC, e.id DESC LIMIT 30
    ) v LEFT JOIN identity."user" lu ON lu.id = v.logged_by LEFT JOIN identity."user" ru ON ru.id = v.resolved_by
  ),
  fresh AS (
    SELECT coalesce(json_agg(json_build_object(
        'id', n.id, 'type', n.type, 'name', n.name, 'status', n.status, 'lifecycle', n.lifecycle, 'health', n.health,
        'organization', CASE WHEN o.id IS NOT NULL THEN json_build_object('id', o.id, 'type', o.type, 'name', o.name) END,
        'owner', CASE WHEN w.id IS NOT NULL THEN json_build_object('id', w.id, 'type', w.type, 'name', w.name) END,
        'version', n.version, 'created_at', ${iso('n.created_at')}, 'updated_at', ${iso('n.updated_at')}, 'created_by', c.name,
        'by_agent', EXISTS (SELECT FROM audit.entry a WHERE a.target_id = n.id AND a.action = 'create_node' AND a.via IN ('mcp', 'runner'))
      ) ORDER BY n.created_at DESC, n.id DESC), '[]') AS items
    FROM (SELECT * FROM graph.node x WHERE ${isSeen('x')} ORDER BY x.created_at DESC, x.id DESC LIMIT 20) n
      LEFT JOIN graph.node o ON o.id = n.organization_id AND ${isSeen('o')}
      LEFT JOIN graph.actor w ON w.id = n.owner_id LEFT JOIN identity."user" c ON c.id = n.created_by
  )
  SELECT json_build_object(
    'attention', json_build_object('processes', process.items, 'areas', area.items, 'projects', project.items,
      'access_requests', json_build_array(), 'own_access_requests', json_build_array(), 'stuck_operations', json_build_array(), 'complete', process.complete AND area.complete AND project.complete),
    'recent_activity', activity.items, 'sessions', json_build_object('items', json_build_array(), 'complete', true),
    'review', json_build_object('items', json_build_array(), 'complete', true), 'new_nodes', fresh.items)::text AS json
  FROM process, area, project, activity, fresh`;
