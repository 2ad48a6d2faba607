import { Id, LIMITS, Timestamp } from '@workspace-graph/contracts';
import { cursorOf, pageJson, statement, VISIBLE } from '@workspace-graph/database';
import { z } from 'zod';
import { seenSession } from '../shared/session.statements.js';

/** Nodes that the caller sees, with what the caller may do there, kept from being purged. $1 user, $2 sees all, $3 nodes. */
export const LOCK_NODES = statement(
  'session.lock_nodes',
  `
  SELECT n.id::text AS id, p.name, n.type, n.level FROM graph.lock_nodes($1::uuid, $2::boolean, $3::uuid[]) n JOIN graph.node_place p ON p.id = n.id`,
);

/** What a session that is locked has of nodes, and whether edges lead there from what the caller sees of it. $1 user, $2 sees all, $3 session, $4 nodes. */
export const HELD = statement(
  'session.held',
  `
  WITH held AS MATERIALIZED (
    SELECT array_agg(c) AS ids FROM session.scope_nodes($3::uuid) c WHERE EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = c))
  SELECT w.id::text AS id, coalesce(c.review = 'rejected', false) AS is_rejected,
    h.ids IS NULL OR graph.is_joined($1::uuid, $2::boolean, w.id, h.ids) AS is_joined
  FROM unnest($4::uuid[]) AS w(id) CROSS JOIN held h LEFT JOIN session.scope c ON c.session_id = $3::uuid AND c.node_id = w.id`,
);

/**
 * Adds nodes to the scope of a session that is locked, or raises what they are held for. $1 session, $2 nodes, $3 how each
 * joined, $4 access, $5 reason, $6 whether a person does it, which ends a rejection. Answers what has changed.
 */
export const HOLD = statement(
  'session.hold',
  `
  INSERT INTO session.scope AS c (session_id, node_id, access, added_via, reason)
  SELECT $1::uuid, w.id, $4::text, w.via, $5::text FROM unnest($2::uuid[], $3::text[]) AS w(id, via)
  ON CONFLICT (session_id, node_id) DO UPDATE SET
    access = CASE WHEN c.review = 'rejected' THEN excluded.access ELSE greatest(c.access, excluded.access) END,
    added_via = CASE WHEN c.added_via = 'disconnected' AND NOT $6::boolean THEN c.added_via ELSE excluded.added_via END,
    reason = excluded.reason, added_at = now(), review = NULL, reviewed_by = NULL, reviewed_at = NULL
    WHERE c.review = 'rejected' AND $6::boolean OR c.review IS DISTINCT FROM 'rejected' AND c.access < excluded.access
  RETURNING c.node_id::text AS id, c.access, c.added_via`,
);

/** $1 session, $2 node, $3 name. */
export const ANCHOR = statement(
  'session.anchor',
  `UPDATE session.session SET node_id = $2::uuid, name = $3::text, version = version + 1 WHERE id = $1::uuid`,
);

const refs = (access: string): string => `coalesce((
  SELECT json_agg(json_build_object('id', v.id, 'type', v.type, 'name', v.name) ORDER BY h.added_at, h.node_id) FROM shown h JOIN ${VISIBLE} v ON v.id = h.node_id
  WHERE h.access = '${access}'), '[]')`;

/** What a session holds, as its agent is told it. $1 user, $2 sees all, $3 session. */
export const STANDING = statement(
  'session.standing',
  `
  WITH held AS MATERIALIZED (
    SELECT c.node_id, c.access, c.added_at, row_number() OVER (ORDER BY c.access DESC, c.added_at, c.node_id) AS place
    FROM session.scope c WHERE c.session_id = $3::uuid AND c.review IS DISTINCT FROM 'rejected' AND EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = c.node_id)
  ), shown AS MATERIALIZED (SELECT * FROM held WHERE place <= ${LIMITS.scopeNodesTold})
  SELECT json_build_object(
    'session', json_build_object('id', s.id, 'name', s.name, 'state', s.state, 'brief', s.brief,
      'node', (SELECT json_build_object('id', v.id, 'type', v.type, 'name', v.name) FROM ${VISIBLE} v WHERE v.id = s.node_id)),
    'scope', json_build_object('read', ${refs('read')}, 'write', ${refs('write')}, 'complete', (SELECT count(*) FROM held) <= ${LIMITS.scopeNodesTold}),
    'handoff', CASE WHEN s.handoff_at IS NOT NULL THEN json_build_object('title', s.handoff_title, 'text', s.handoff_text,
      'written_by', s.handoff_by, 'at', graph.iso(s.handoff_at)) END)::text AS json
  FROM session.session s WHERE s.id = $3::uuid AND ${seenSession('s')}`,
);

/** Sort key of a scope: when, and the node. */
export const SCOPE_CURSOR = cursorOf<[string, string]>('get_session_scope', z.tuple([Timestamp, Id]));

/** Nodes of the scope of a session that the caller sees. $1 user, $2 sees all, $3 page size, $4 and $5 sort key, $6 session, $7 unreviewed alone. */
export const SCOPE = statement(
  'session.scope',
  `
  SELECT (${pageJson(
    '$3::int',
    `
    SELECT json_build_object('node', json_build_object('id', c.node_id, 'type', c.type, 'name', c.name), 'access', c.access, 'added_via', c.added_via,
        'reason', c.reason, 'added_at', graph.iso(c.added_at), 'review', c.review) AS item,
      ${SCOPE_CURSOR.sql('graph.iso(c.added_at)', 'c.node_id')} AS cursor, row_number() OVER (ORDER BY c.added_at DESC, c.node_id DESC) AS place
    FROM (
      SELECT c.*, v.type, v.name FROM session.scope c JOIN ${VISIBLE} v ON v.id = c.node_id
      WHERE c.session_id = s.id AND (c.added_at, c.node_id) < ($4::timestamptz, $5::uuid)
        AND (NOT $7::boolean OR c.added_via = 'disconnected' AND c.review IS NULL)
      ORDER BY c.added_at DESC, c.node_id DESC LIMIT $3::int + 1
    ) c`,
  )}) AS json
  FROM session.session s WHERE s.id = $6::uuid AND ${seenSession('s')}`,
);

/** A node of the scope of a session, which the caller sees. $1 user, $2 sees all, $3 session, $4 node. */
export const SCOPE_NODE = statement(
  'session.scope_node',
  `
  SELECT c.added_via, c.review FROM session.scope c
  WHERE c.session_id = $3::uuid AND c.node_id = $4::uuid AND EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = c.node_id)`,
);

/** $1 session, $2 node, $3 what it is now, $4 who looked at it. */
export const REVIEW = statement(
  'session.review',
  `UPDATE session.scope SET review = $3::text, reviewed_by = $4::uuid, reviewed_at = now() WHERE session_id = $1::uuid AND node_id = $2::uuid`,
);
