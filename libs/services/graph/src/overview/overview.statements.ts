import { createNode, type NodeType } from '@workspace-graph/contracts';
import { SEEN_SETS, seen, statement } from '@workspace-graph/database';
import { FROM_REQUEST, REQUEST } from '../access/request.statements.js';
import { eventJson, nodeRef, nodeSummaryFields, userName } from '../shared/projections.js';

const LISTED = 200;
const RECENT = 30;
const NEW_NODES = 20;
const SESSIONS = 50;
const UNREVIEWED = 50;

/** When the lifecycle was set last, as the audit trail knows; for nodes without one, such as imported ones, the last change. */
const LIFECYCLE_SINCE = `coalesce((
  SELECT a.at FROM audit.trail a WHERE a.target_id = n.id AND a.after ? 'lifecycle' ORDER BY a.at DESC, a.id DESC LIMIT 1), n.updated_at)`;

/** One more row than is listed, with its place. */
const attention = (name: string, type: NodeType, condition: string, since: string): string => `
  ${name} AS MATERIALIZED (
    SELECT n.place, json_build_object('node', ${nodeRef('n')}, 'lifecycle', n.lifecycle, 'health', n.health, 'note', n.health_note,
      'since', graph.iso(${since})) AS item
    FROM (
      SELECT n.*, row_number() OVER (ORDER BY n.updated_at DESC, n.id DESC) AS place
      FROM graph.node n WHERE n.type = '${type}' AND ${condition} AND ${seen('n')}
      ORDER BY n.updated_at DESC, n.id DESC LIMIT ${LISTED + 1}
    ) n
  )`;
const listed = (name: string): string =>
  `(SELECT coalesce(json_agg(l.item ORDER BY l.place) FILTER (WHERE l.place <= ${LISTED}), '[]') FROM ${name} l)`;
const isShort = (name: string): string => `(SELECT count(*) FROM ${name}) <= ${LISTED}`;
const ATTENTION = ['process', 'area', 'project', 'request', 'stuck'] as const;

/** A node that the caller sees, by its id. */
const nodeOf = (id: string): string => `(SELECT ${nodeRef('n')} FROM graph.node n WHERE n.id = ${id})`;

/** The whole overview. $1 user, $2 sees all. */
export const OVERVIEW = statement(
  'overview.whole',
  `
  WITH ${SEEN_SETS},
  ${attention('process', 'process', `n.lifecycle IN ('at_risk', 'broken')`, LIFECYCLE_SINCE)},
  ${attention('area', 'area', `n.lifecycle = 'needs_attention'`, LIFECYCLE_SINCE)},
  ${attention('project', 'project', `n.health IN ('at_risk', 'off_track') AND n.status = 'active'`, 'coalesce(n.health_at, n.updated_at)')},
  request AS MATERIALIZED (
    SELECT r.item, row_number() OVER (ORDER BY r.id DESC) AS place FROM (
      SELECT r.id, ${REQUEST}::jsonb || jsonb_build_object('node', ${nodeRef('n')}) AS item
      FROM ${FROM_REQUEST} JOIN graph.node n ON n.id = r.node_id
      WHERE $2::boolean AND r.state = 'pending'
      ORDER BY r.id DESC LIMIT ${LISTED + 1}) r
  ),
  -- Both ends of a move must be visible: its paths tell of both.
  stuck AS MATERIALIZED (
    SELECT p.item, row_number() OVER (ORDER BY p.created_at DESC, p.id DESC) AS place FROM (
      SELECT p.id, p.created_at, json_build_object('id', p.id, 'node', ${nodeRef('n')}, 'file_id', p.file_id, 'kind', p.kind,
        'path', p.from_path, 'to_path', p.to_path, 'message', p.last_error, 'attempts', p.attempts, 'since', graph.iso(p.created_at)) AS item
      FROM file.stuck_operation() p JOIN graph.node n ON n.id = p.current_node_id
      WHERE ${seen('n')} AND ((SELECT $2::boolean) OR NOT EXISTS (
        SELECT FROM unnest(ARRAY[p.node_id, p.to_node_id]) AS ends(id) WHERE ends.id IS NOT NULL
          AND NOT EXISTS (SELECT FROM graph.node e WHERE e.id = ends.id AND ${seen('e')})))
      ORDER BY p.created_at DESC, p.id DESC LIMIT ${LISTED + 1}) p
  )
  SELECT json_build_object(
    'attention', json_build_object(
      'processes', ${listed('process')}, 'areas', ${listed('area')}, 'projects', ${listed('project')}, 'access_requests', ${listed('request')},
      'own_access_requests', (
        SELECT coalesce(json_agg(${REQUEST} ORDER BY r.id DESC), '[]') FROM ${FROM_REQUEST} WHERE r.user_id = $1::uuid AND r.state = 'pending'),
      'stuck_operations', ${listed('stuck')},
      'complete', ${ATTENTION.map(isShort).join(' AND ')}),
    'recent_activity', (
      SELECT coalesce(json_agg(a.item ORDER BY a.at DESC, a.id DESC), '[]')
      FROM (
        SELECT * FROM (
          SELECT e.occurred_at AS at, e.id, json_build_object('at', graph.iso(e.occurred_at), 'node', e.node, 'event', ${eventJson('e')}, 'session_write', NULL) AS item
          FROM (
            SELECT e.*, ${nodeRef('n')} AS node FROM graph.event e JOIN graph.node n ON n.id = e.node_id
            WHERE e.status IN ('active', 'resolved') AND e.occurred_at <= now() AND ${seen('n')} ORDER BY e.occurred_at DESC, e.id DESC LIMIT ${RECENT}
          ) e
          UNION ALL
          SELECT w.added_at, w.node_id, json_build_object('at', graph.iso(w.added_at), 'node', ${nodeOf('w.node_id')}, 'event', NULL,
            'session_write', json_build_object('session', json_build_object('id', w.session_id, 'name', w.session_name), 'added_via', w.added_via, 'agent', w.agent))
          FROM session.recent_write($1::uuid, $2::boolean, ${RECENT}) w
        ) b ORDER BY b.at DESC, b.id DESC LIMIT ${RECENT}
      ) a),
    'sessions', (
      SELECT json_build_object(
        'items', coalesce(json_agg(json_build_object('id', o.id, 'name', o.name, 'state', o.state, 'node', ${nodeOf('o.node_id')}, 'is_own', o.is_own,
          'is_live', o.is_live, 'waiting_since', graph.iso(o.waiting_since), 'last_activity_at', graph.iso(o.last_activity_at), 'agent', o.agent) ORDER BY o.place)
          FILTER (WHERE o.place <= ${SESSIONS}), '[]'),
        'complete', count(*) <= ${SESSIONS})
      FROM session.open_session($1::uuid, $2::boolean, ${SESSIONS + 1}) o),
    'review', (
      SELECT json_build_object(
        'items', coalesce(json_agg(u.item ORDER BY u.place) FILTER (WHERE u.place <= ${UNREVIEWED}), '[]'), 'complete', count(*) <= ${UNREVIEWED})
      FROM (
        SELECT row_number() OVER (ORDER BY u.added_at DESC, u.node_id, u.session_id) AS place,
          json_build_object('session', json_build_object('id', u.session_id, 'name', u.session_name), 'node', ${nodeOf('u.node_id')},
            'access', u.access, 'reason', u.reason, 'added_at', graph.iso(u.added_at)) AS item
        FROM session.unreviewed($1::uuid, $2::boolean, ${UNREVIEWED + 1}) u
      ) u),
    'new_nodes', (
      SELECT coalesce(json_agg(json_build_object(
        ${nodeSummaryFields('n')},
        'created_by', ${userName('n.created_by')},
        'by_agent', EXISTS (SELECT FROM audit.trail a WHERE a.target_id = n.id AND a.action = '${createNode.name}' AND a.via IN ('mcp', 'runner')))
        ORDER BY n.created_at DESC, n.id DESC), '[]')
      FROM (SELECT n.* FROM graph.node n WHERE ${seen('n')} ORDER BY n.created_at DESC, n.id DESC LIMIT ${NEW_NODES}) n)
  )::text AS json`,
);
