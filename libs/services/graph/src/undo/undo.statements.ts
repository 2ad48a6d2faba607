import { statement, VISIBLE } from '@workspace-graph/database';
import { nodeRef } from '../shared/projections.js';

/** A session that the caller sees. $1 user, $2 sees all, $3 session. */
export const SEEN_SESSION = statement(
  'undo.session',
  `SELECT s.node_id::text AS node_id, s.is_own FROM session.seen_session($1::uuid, $2::boolean, $3::uuid) s`,
);

const visible = (id: string): string => `EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = ${id})`;

const UNDID_OTHER = `(a.target_kind = 'session' AND a.action = 'undo_session' AND a.target_id <> a.session_id)`;

/** Those who undo the same session at the same moment take turns. $1 session. */
export const LOCK_UNDO = statement('undo.lock', `SELECT pg_advisory_xact_lock(7311, hashtext($1::text))`);

/**
 * The last changes of a session to what the caller sees, the last one first. All by which it undid another session are one, the
 * undo; those by which it undid its own are none. $1 user, $2 sees all, $3 session, $4 first seq or null, $5 most, $6 last seq
 * or null, $7 session of the caller, which changes what it holds for that alone.
 */
export const CHANGES = statement(
  'undo.changes',
  `
  WITH undone AS MATERIALIZED (
    SELECT e.id::uuid AS id FROM audit.trail u, jsonb_array_elements_text(u.after -> 'entries') AS e(id)
    WHERE u.target_id = $3::uuid AND u.target_kind = 'session' AND u.action = 'undo_session'
  )
  SELECT a.id::text AS id, a.id IN (SELECT d.id FROM undone d) AS is_undone,
    session.holds_to_write($7::uuid, CASE a.target_kind
      WHEN 'actor' THEN ARRAY(SELECT n FROM graph.nodes_of('actor', a.target_id) n WHERE ${visible('n')})
      ELSE array_remove(ARRAY[p.node_id, p.other_id], NULL) END) AS is_within,
    graph.iso(a.at) AS at, a.session_seq AS seq, a.action, a.target_kind, a.target_id::text AS target_id, a.before, a.after,
    (SELECT ${nodeRef('v')} FROM ${VISIBLE} v WHERE v.id = p.node_id) AS node
  FROM audit.trail a
  LEFT JOIN LATERAL session.seen_session($1::uuid, $2::boolean, a.target_id) undone_session ON ${UNDID_OTHER}
  CROSS JOIN LATERAL (
    SELECT CASE a.target_kind
        WHEN 'node' THEN a.target_id
        WHEN 'event' THEN (SELECT e.node_id FROM graph.event e WHERE e.id = a.target_id)
        WHEN 'file' THEN (SELECT f FROM file.nodes_of(a.target_id) f)
        WHEN 'edge' THEN (coalesce(a.after, a.before) ->> 'source_id')::uuid
        ELSE coalesce(undone_session.node_id, (coalesce(a.after, a.before) ->> 'node_id')::uuid) END AS node_id,
      CASE a.target_kind WHEN 'edge' THEN (coalesce(a.after, a.before) ->> 'target_id')::uuid END AS other_id
  ) p
  WHERE a.session_id = $3::uuid AND a.target_id IS NOT NULL AND ($4::int IS NULL OR a.session_seq >= $4::int)
    AND (a.target_kind = 'actor' OR undone_session.is_own IS NOT NULL OR ${visible('p.node_id')}) AND (p.other_id IS NULL OR ${visible('p.other_id')})
    AND ($6::int IS NULL OR a.session_seq <= $6::int)
    AND (${UNDID_OTHER} OR NOT EXISTS (SELECT FROM audit.trail u WHERE u.session_id = a.session_id AND u.session_seq = a.session_seq
      AND u.target_kind = 'session' AND u.action = 'undo_session'))
  ORDER BY a.session_seq DESC NULLS LAST, a.at DESC, a.id DESC LIMIT $5::int`,
);

const otherwise = (id: string, more = ''): string =>
  `NOT EXISTS (SELECT FROM audit.trail t WHERE t.target_id = ${id} AND t.session_id = $4::uuid ${more})`;

/**
 * Whether anything that the caller sees and that the session did not do rests on a node that it made. $1 user, $2 sees all,
 * $3 node, $4 session.
 */
export const BUILT_ON = statement(
  'undo.built_on',
  `
  SELECT EXISTS (SELECT FROM audit.trail t WHERE t.target_id = $3::uuid AND t.session_id IS DISTINCT FROM $4::uuid)
    -- The order keeps the plan on the timeline of the node where a few nodes have nearly all events.
    OR (SELECT true FROM graph.event e WHERE e.node_id = $3::uuid AND ${otherwise('e.id')} ORDER BY e.occurred_at DESC, e.id DESC LIMIT 1) IS TRUE
    OR EXISTS (SELECT FROM graph.responsibility r WHERE r.node_id = $3::uuid AND ${otherwise('r.id')})
    OR EXISTS (SELECT FROM graph.link l WHERE l.node_id = $3::uuid AND ${otherwise('l.id')})
    OR EXISTS (SELECT FROM file.node_file($3::uuid))
    -- What belongs to it from its making on has no line of its own for the edge.
    OR EXISTS (SELECT FROM graph.edge e WHERE e.source_id = $3::uuid AND e.relation <> 'belongs_to' AND ${otherwise('e.id')} AND ${visible('e.target_id')})
    OR EXISTS (SELECT FROM graph.edge e WHERE e.target_id = $3::uuid AND ${otherwise('e.id')} AND ${otherwise('e.source_id', `AND t.action = 'create_node'`)}
      AND ${visible('e.source_id')})
    AS is_so`,
);

/** Whether a record is there that was removed under this id. $1 id. */
export const IS_THERE = statement(
  'undo.is_there',
  `
  SELECT EXISTS (SELECT FROM graph.edge e WHERE e.id = $1::uuid) OR EXISTS (SELECT FROM graph.responsibility r WHERE r.id = $1::uuid)
    OR EXISTS (SELECT FROM graph.link l WHERE l.id = $1::uuid) AS is_so`,
);

/** $1 edge. */
export const EDGE = statement('undo.edge', `SELECT e.relation FROM graph.edge e WHERE e.id = $1::uuid`);

/** An event gets a former status. $1 event, $2 status. */
export const REOPEN_EVENT = statement(
  'undo.reopen_event',
  `
  UPDATE graph.event SET status = $2::text, resolution = CASE WHEN $2::text = 'resolved' THEN resolution END,
    resolved_by = CASE WHEN $2::text = 'resolved' THEN resolved_by END, resolved_at = CASE WHEN $2::text = 'resolved' THEN resolved_at END,
    version = version + 1
  WHERE id = $1::uuid`,
);

/** An event stands in the place of no other any more. $1 event. */
export const WITHDRAW_SUCCESSOR = statement(
  'undo.withdraw_successor',
  `UPDATE graph.event SET status = 'archived', supersedes_id = NULL, version = version + 1 WHERE id = $1::uuid`,
);
