import { Id, Timestamp } from '@workspace-graph/contracts';
import { cursorOf, pageJson, statement, VISIBLE } from '@workspace-graph/database';
import { z } from 'zod';
import { scopeSize, seenSession, sessionJson, viewersOf } from '../shared/session.statements.js';

/** Sort key of a list of sessions: the last activity, and the id. */
export const SESSION_CURSOR = cursorOf<[string, string]>('list_sessions', z.tuple([Timestamp, Id]));

const FILTERS = `
  (s.last_activity_at, s.id) < ($4::timestamptz, $5::uuid) AND s.state = ANY ($6::text[])
  AND (NOT $7::boolean OR s.owner_id = $1::uuid) AND (NOT $8::boolean OR s.waiting_since IS NOT NULL)`;

const rows = (condition: string): string => `
  SELECT ${sessionJson('s')} AS item, ${SESSION_CURSOR.sql('graph.iso(s.last_activity_at)', 's.id')} AS cursor, s.place
  FROM (
    SELECT s.*, row_number() OVER (ORDER BY s.last_activity_at DESC, s.id DESC) AS place
    FROM session.session s WHERE ${condition} AND ${FILTERS} ORDER BY s.last_activity_at DESC, s.id DESC LIMIT $3::int + 1
  ) s`;

/** Whether the session $9 in whose name is asked, if any, may read the session: as where one is named, itself, those of nodes that it holds and of no node. */
const WITHIN_SCOPE = `($9::uuid IS NULL OR s.id = $9::uuid OR s.node_id IS NULL
  OR s.node_id IN (SELECT c FROM session.scope_nodes($9::uuid) c))`;

/**
 * Sessions that the caller sees. $1 user, $2 sees all, $3 page size, $4 and $5 sort key, $6 states, $7 own alone, $8 waiting alone,
 * $9 session of the caller.
 */
export const SESSIONS = statement('session.list', pageJson('$3::int', rows(`${seenSession('s')} AND ${WITHIN_SCOPE}`)));

/** Sessions of a visible node, $9; no row when it is absent or hidden. */
export const SESSIONS_OF_NODE = statement(
  'session.list_of_node',
  `SELECT (${pageJson('$3::int', rows('s.node_id = n.id'))}) AS json FROM ${VISIBLE} n WHERE n.id = $9::uuid`,
);

const stateJson = (s: string, more = ''): string =>
  `json_build_object('session_id', ${s}.id, 'state', ${s}.state, 'waiting_since', graph.iso(${s}.waiting_since), 'node_id', ${s}.node_id${more})`;

/** States of open sessions that the caller sees, the last active first. $1 user, $2 sees all, $3 most. */
export const OPEN_STATES = statement(
  'session.open_states',
  `
  SELECT json_build_object('items', coalesce(json_agg(${stateJson('s')} ORDER BY s.last_activity_at DESC, s.id DESC), '[]'))::text AS json
  FROM (
    SELECT s.* FROM session.session s WHERE s.state IN ('running', 'suspended') AND ${seenSession('s')}
    ORDER BY s.last_activity_at DESC, s.id DESC LIMIT $3::int
  ) s`,
);

const EVERY_VIEWER = 'SELECT generate_series(0, cardinality($2::uuid[]) - 1)';

/** States of sessions, and who sees each. $1 sessions, $2 users of the viewers, $3 whether each sees all. */
export const STATES = statement(
  'session.states',
  `
  SELECT json_build_object('items', coalesce(json_agg(
    ${stateJson('s', `, 'seen_by', ${viewersOf('s', EVERY_VIEWER, '$2', '$3')}`)}), '[]'))::text AS json
  FROM session.session s WHERE s.id = ANY ($1::uuid[])`,
);

/** $1 user, $2 sees all, $3 session. */
export const SIGNALS = statement(
  'session.signals',
  `
  SELECT json_build_object(
    'run', CASE WHEN r.id IS NOT NULL THEN json_build_object('run_id', r.id, 'mode', r.mode, 'started_at', graph.iso(r.started_at),
      'age_seconds', greatest(extract(epoch FROM now() - r.started_at), 0)::int) END,
    'read_count', ${scopeSize('s')},
    'write_count', ${scopeSize('s', `c.access = 'write'`)},
    'expansions', ${scopeSize('s', `c.added_via <> 'seed' AND c.added_at >= r.started_at`)})::text AS json
  FROM session.session s LEFT JOIN session.run r ON r.id = s.live_run_id
  WHERE s.id = $3::uuid AND ${seenSession('s')}`,
);

/** $1 user, $2 sees all, $3 session. */
export const RESUME_INFO = statement(
  'session.resume_info',
  `
  SELECT json_build_object(
    -- An agent that connects by itself is connected again, not resumed.
    'modes', CASE WHEN s.state <> 'suspended' OR s.owner_id <> $1::uuid OR s.runner IS NULL THEN '[]'::json
      WHEN s.can_continue THEN '["conversation","handoff"]'::json ELSE '["handoff"]'::json END,
    'handoff', CASE WHEN s.handoff_at IS NOT NULL THEN json_build_object(
      'title', s.handoff_title, 'text', s.handoff_text, 'written_by', s.handoff_by, 'at', graph.iso(s.handoff_at)) END,
    -- Only a device knows of files.
    'handoff_file', NULL)::text AS json
  FROM session.session s WHERE s.id = $3::uuid AND ${seenSession('s')}`,
);

/** $1 session, $2 name. */
export const RENAME = statement(
  'session.rename',
  `UPDATE session.session SET name = $2::text, is_named = true, version = version + 1 WHERE id = $1::uuid`,
);
