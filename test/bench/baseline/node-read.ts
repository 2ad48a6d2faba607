import { iso, isSeen, mySets } from './access.js';

/** $1 user, $2 node: one node with everything that hangs on it. */
export const NODE_READ = `
  WITH ${mySets('$1::uuid')},
  n AS MATERIALIZED (SELECT * FROM graph.node x WHERE x.id = $2::uuid AND ${isSeen('x')})
  SELECT json_build_object(
    'id', n.id, 'type', n.type, 'name', n.name, 'status', n.status, 'lifecycle', n.lifecycle, 'health', n.health,
    'organization', CASE WHEN o.id IS NOT NULL THEN json_build_object('id', o.id, 'type', o.type, 'name', o.name) END,
    'owner', CASE WHEN w.id IS NOT NULL THEN json_build_object('id', w.id, 'type', w.type, 'name', w.name) END,
    'version', n.version, 'created_at', ${iso('n.created_at')}, 'updated_at', ${iso('n.updated_at')},
    'description', n.description, 'goal', n.goal, 'sync_key', n.sync_key,
    'health_report', CASE WHEN n.health IS NOT NULL THEN
      json_build_object('value', n.health, 'note', n.health_note, 'by', h.name, 'at', ${iso('n.health_at')}) END,
    'responsibilities', (
      SELECT coalesce(json_agg(json_build_object('id', r.id, 'title', r.title, 'description', r.description, 'assignees', (
        SELECT coalesce(json_agg(json_build_object('id', a.id, 'type', a.type, 'name', a.name) ORDER BY ra.position), '[]')
        FROM graph.responsibility_assignee ra JOIN graph.actor a ON a.id = ra.actor_id WHERE ra.responsibility_id = r.id
      )) ORDER BY r.position), '[]') FROM graph.responsibility r WHERE r.node_id = n.id),
    'data_sources', l.data_sources, 'tools', l.tools,
    'edges', json_build_object('items', e.items, 'complete', e.complete),
    'recent_events', (
      SELECT coalesce(json_agg(json_build_object(
        'id', v.id, 'node_id', v.node_id, 'kind', v.kind, 'status', v.status, 'content', v.content,
        'occurred_at', ${iso('v.occurred_at')}, 'logged_at', ${iso('v.logged_at')}, 'logged_by', lu.name,
        'resolution', v.resolution, 'resolved_at', ${iso('v.resolved_at')}, 'resolved_by', ru.name,
        'supersedes_id', v.supersedes_id, 'superseded_by_id', NULL, 'version', v.version
      ) ORDER BY v.occurred_at DESC, v.id DESC), '[]')
      FROM (
        SELECT * FROM graph.event WHERE node_id = n.id AND status IN ('active', 'resolved')
        ORDER BY occurred_at DESC, id DESC LIMIT 20
      ) v LEFT JOIN identity."user" lu ON lu.id = v.logged_by LEFT JOIN identity."user" ru ON ru.id = v.resolved_by),
    'access', json_build_object(
      'mode', CASE WHEN n.access_set_id IS NULL THEN 'everyone' ELSE g.mode END,
      'inherited', n.visibility IS NULL, 'from', coalesce(g.gates, '[]'),
      'level', CASE WHEN n.access_set_id IS NULL OR g.level = 2 THEN 'write' ELSE 'read' END),
    'files', (
      SELECT json_build_object('items', coalesce(json_agg(json_build_object('id', f.id, 'path', f.path,
        'status', CASE f.section WHEN 'wip' THEN 'wip' WHEN 'outputs' THEN 'output' END, 'size_bytes', f.size_bytes,
        'mime_type', f.mime_type, 'updated_at', ${iso('f.updated_at')}) ORDER BY f.updated_at DESC, f.id DESC)
        FILTER (WHERE f.place <= 50), '[]'), 'complete', count(*) <= 50)
      FROM (SELECT *, row_number() OVER () AS place FROM (
        SELECT * FROM file.record WHERE node_id = n.id ORDER BY updated_at DESC, id DESC LIMIT 51) x) f),
    'sessions', (SELECT count(*) FROM session.session c WHERE c.node_id = n.id AND c.state <> 'archived'),
    'local_path', NULL
  )::text AS json
  FROM n
  LEFT JOIN graph.node o ON o.id = n.organization_id AND ${isSeen('o')}
  LEFT JOIN graph.actor w ON w.id = n.owner_id
  LEFT JOIN identity."user" h ON h.id = n.health_by
  CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(x.link ORDER BY x.position) FILTER (WHERE x.kind = 'data_source'), '[]') AS data_sources,
      coalesce(json_agg(x.link ORDER BY x.position) FILTER (WHERE x.kind = 'tool'), '[]') AS tools
    FROM (SELECT kind, position, json_build_object('id', id, 'name', name, 'url', url) AS link FROM graph.link WHERE node_id = n.id) x
  ) l
  CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_object('id', x.id, 'direction', x.direction, 'relation', x.relation,
        'node', json_build_object('id', x.there, 'type', x.type, 'name', x.name))) FILTER (WHERE x.place <= 100), '[]') AS items,
      coalesce(max(x.place), 0) <= 100 AS complete
    FROM (
      SELECT d.*, row_number() OVER (PARTITION BY d.direction) AS place
      FROM (
        (SELECT e.id, 'outgoing' AS direction, e.relation, t.id AS there, t.type, t.name
          FROM graph.edge e JOIN graph.node t ON t.id = e.target_id AND ${isSeen('t')}
          WHERE e.source_id = n.id ORDER BY e.relation, e.target_id LIMIT 101)
        UNION ALL
        (SELECT e.id, 'incoming', e.relation, t.id, t.type, t.name
          FROM graph.edge e JOIN graph.node t ON t.id = e.source_id AND ${isSeen('t')}
          WHERE e.target_id = n.id ORDER BY e.relation, e.source_id LIMIT 101)
      ) d
    ) x
  ) e
  LEFT JOIN LATERAL (
    SELECT CASE WHEN bool_or(gn.visibility = 'private') THEN 'private' ELSE 'group' END AS mode,
      json_agg(json_build_object('id', gn.id, 'type', gn.type, 'name', gn.name) ORDER BY gn.name_folded, gn.id) AS gates,
      min((SELECT max(gg.access) FROM graph.gate_grant gg WHERE gg.gate_id = gn.id
        AND gg.principal_id IN (SELECT $1::uuid UNION ALL SELECT m.group_id FROM identity.membership m WHERE m.user_id = $1::uuid))) AS level
    FROM graph.access_set_gate sg JOIN graph.node gn ON gn.id = sg.gate_id WHERE sg.access_set_id = n.access_set_id
  ) g ON n.access_set_id IS NOT NULL`;
