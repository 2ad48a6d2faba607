import { statement, VISIBLE } from '@workspace-graph/database';

/**
 * Whether the caller sees the session: that of a node with the node, one without a node only as its owner. Stands in
 * statements whose first two parameters are `seenBy(caller)`.
 */
export const seenSession = (s: string): string =>
  `(${s}.node_id IS NULL AND ${s}.owner_id = $1::uuid OR EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = ${s}.node_id))`;

/** JSON array of the places among `users` and `all`, arrays of viewers, of those who see the session. `places` selects who is asked about. */
export const viewersOf = (s: string, places: string, users: string, all: string): string => `(
  SELECT coalesce(json_agg(a.place ORDER BY a.place), '[]') FROM (${places}) AS a(place)
  WHERE CASE WHEN ${s}.node_id IS NULL THEN ${s}.owner_id = (${users}::uuid[])[a.place + 1]
    ELSE graph.access_level((SELECT p.access_set_id FROM graph.node_place p WHERE p.id = ${s}.node_id),
      (${users}::uuid[])[a.place + 1], (${all}::boolean[])[a.place + 1]) > 0 END)`;

const EXCERPT = 500;

const questionsOf = (s: string): string => `
  CASE WHEN ${s}.waiting_since IS NULL THEN '[]'::json ELSE (
    SELECT coalesce(json_agg((q.question::jsonb || jsonb_build_object('asked_at', graph.iso(q.asked_at)))::json ORDER BY q.asked_at, q.request_id), '[]')
    FROM session.question q WHERE q.session_id = ${s}.id AND q.answered_at IS NULL) END`;

/** How many nodes of the scope the caller sees: it is its owner's, who may see more than others. */
export const scopeSize = (s: string, condition = 'true'): string => `(
  SELECT count(*) FROM session.scope c WHERE c.session_id = ${s}.id AND c.review IS DISTINCT FROM 'rejected' AND ${condition} AND EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = c.node_id))`;

/** Session of a row of sessions, for a caller who sees it. */
export const sessionJson = (s: string): string => `(jsonb_build_object(
  'id', ${s}.id, 'name', ${s}.name, 'state', ${s}.state, 'origin', ${s}.origin,
  'node', (SELECT json_build_object('id', p.id, 'type', p.type, 'name', p.name) FROM graph.node_place p WHERE p.id = ${s}.node_id),
  'owner', CASE WHEN $2::boolean OR ${s}.owner_id = $1::uuid THEN (
    SELECT json_build_object('id', u.id, 'name', u.name) FROM identity.known_user u WHERE u.id = ${s}.owner_id) END,
  'is_own', ${s}.owner_id = $1::uuid, 'is_live', ${s}.live_run_id IS NOT NULL,
  'waiting_since', graph.iso(${s}.waiting_since), 'open_questions', ${questionsOf(s)},
  'brief', ${s}.brief, 'runner', ${s}.runner, 'instance_id', ${s}.instance_id, 'policy', ${s}.policy, 'client', ${s}.client,
  'suspended', CASE WHEN ${s}.state = 'suspended' THEN json_build_object(
    'at', graph.iso(${s}.suspended_at), 'reason', ${s}.suspend_reason, 'by_server', coalesce(${s}.handoff_by = 'server', false)) END,
  'handoff', CASE WHEN ${s}.handoff_at IS NOT NULL THEN json_build_object('title', ${s}.handoff_title,
    'excerpt', left(${s}.handoff_text, ${EXCERPT}), 'written_by', ${s}.handoff_by, 'at', graph.iso(${s}.handoff_at)) END
) || jsonb_build_object(
  'can_continue', ${s}.can_continue, 'read_count', ${scopeSize(s)}, 'write_count', ${scopeSize(s, `c.access = 'write'`)},
  'last_seq', ${s}.last_seq, 'last_activity_at', graph.iso(${s}.last_activity_at), 'created_at', graph.iso(${s}.created_at),
  'closed_at', graph.iso(${s}.closed_at), 'archived_at', graph.iso(${s}.archived_at), 'version', ${s}.version))`;

/** One session that the caller sees. $1 user, $2 sees all, $3 session. */
export const SESSION = statement(
  'session.one',
  `SELECT ${sessionJson('s')}::text AS json, s.version FROM session.session s WHERE s.id = $3::uuid AND ${seenSession('s')}`,
);

const LOCKED = `
  s.id::text AS id, s.node_id::text AS node_id, s.owner_id::text AS owner_id, s.origin, s.name, s.is_named, s.state, s.brief, s.runner,
  s.instance_id, s.policy, s.client, s.suspend_reason, s.handoff_title, s.handoff_text, s.handoff_by, graph.iso(s.handoff_at) AS handoff_at,
  s.can_continue, s.live_run_id::text AS live_run_id, graph.iso(s.waiting_since) AS waiting_since, s.output_bytes::float8 AS output_bytes,
  s.version, (SELECT p.name FROM graph.node_place p WHERE p.id = s.node_id) AS node_name`;

/** A session that the caller sees, locked for a change. $1 user, $2 sees all, $3 session. */
export const LOCK_SESSION = statement(
  'session.lock',
  `SELECT ${LOCKED} FROM session.session s WHERE s.id = $3::uuid AND ${seenSession('s')} FOR UPDATE OF s`,
);

/** For what the service does by itself: a session, whoever sees it. $1 session. */
export const LOCK_ANY_SESSION = statement(
  'session.lock_any',
  `SELECT ${LOCKED} FROM session.session s WHERE s.id = $1::uuid FOR UPDATE OF s`,
);
