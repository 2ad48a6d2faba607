import { statement, VISIBLE } from '@workspace-graph/database';

/** A node that the caller sees, kept from being purged. $1 user, $2 sees all, $3 node. */
export const HOME_NODE = statement(
  'session.home_node',
  `SELECT p.name FROM graph.lock_nodes($1::uuid, $2::boolean, ARRAY[$3::uuid]) n JOIN graph.node_place p ON p.id = n.id`,
);

/** $1 id, $2 node, $3 owner, $4 origin, $5 name, $6 brief, $7 runner, $8 instance, $9 policy, $10 client. */
export const INSERT_SESSION = statement(
  'session.insert',
  `
  INSERT INTO session.session (id, node_id, owner_id, origin, name, brief, runner, instance_id, policy, client)
  VALUES ($1::uuid, $2::uuid, $3::uuid, $4::text, $5::text, $6::text, $7::text, $8::text, $9::json, $10::json)`,
);

/**
 * Begins a run of a session whose row is locked. $1 run, $2 session, $3 holder, $4 mode, $5 runner, $6 instance,
 * $7 terminal, $8 seconds of its lease, $9 binding.
 */
export const INSERT_RUN = statement(
  'session.insert_run',
  `
  WITH begun AS (
    INSERT INTO session.run (id, session_id, holder, mode, runner, instance_id, terminal_id, lease_until, binding)
    VALUES ($1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::text, now() + $8::int * interval '1 second', $9::text)
  )
  UPDATE session.session SET live_run_id = $1::uuid WHERE id = $2::uuid`,
);

/** $1 session, $2 client. */
export const SET_CLIENT = statement(
  'session.set_client',
  `UPDATE session.session SET client = $2::json, version = version + 1 WHERE id = $1::uuid`,
);

/** The home node and its visible neighbours, before anything is asked for. $1 user, $2 sees all, $3 session, $4 node. */
export const SEED_SCOPE = statement(
  'session.seed_scope',
  `
  INSERT INTO session.scope (session_id, node_id, access, added_via)
  SELECT $3::uuid, v.id, CASE WHEN v.id = $4::uuid THEN 'write' ELSE 'read' END, 'seed'
  FROM graph.node_and_neighbours($4::uuid) AS a(id) JOIN ${VISIBLE} v ON v.id = a.id
  ON CONFLICT (session_id, node_id) DO UPDATE SET access = 'write', added_via = 'seed' WHERE excluded.access = 'write'`,
);

/**
 * Renews the leases of a holder; those of agents without a connection are anybody's to renew. $1 holder, $2 runs, $3 seconds,
 * $4 milliseconds since each was used, $5 whose alone; null for a service that holds those of anybody. Answers those that
 * have ended.
 */
export const RENEW_RUNS = statement(
  'session.renew_runs',
  `
  WITH asked AS MATERIALIZED (
    SELECT w.id, now() - w.idle_ms * interval '1 millisecond' AS used_at, w.place
    FROM unnest($2::uuid[], $4::int[]) WITH ORDINALITY AS w(id, idle_ms, place)
  ), renewed AS (
    UPDATE session.run r SET lease_until = now() + $3::int * interval '1 second', last_used_at = greatest(r.last_used_at, w.used_at)
    FROM asked w WHERE r.id = w.id AND (r.holder = $1::text OR r.binding IS NOT NULL) AND r.ended_at IS NULL
      AND ($5::uuid IS NULL OR EXISTS (SELECT FROM session.session s WHERE s.id = r.session_id AND s.owner_id = $5::uuid))
    RETURNING r.id
  )
  SELECT json_build_object('ended', coalesce(json_agg(w.id ORDER BY w.place), '[]'))::text AS json
  FROM asked w WHERE NOT EXISTS (SELECT FROM renewed d WHERE d.id = w.id)`,
);

/** Sessions of a person whose agent runs in a terminal. $1 user, $2 terminal. */
export const SESSIONS_IN_TERMINAL = statement(
  'session.in_terminal',
  `
  SELECT s.id::text AS id, r.id::text AS run_id FROM session.run r JOIN session.session s ON s.live_run_id = r.id
  WHERE r.terminal_id = $2::text AND r.ended_at IS NULL AND s.owner_id = $1::uuid ORDER BY s.id`,
);

/** Those who bind the same agent at the same moment take turns. $1 binding. */
export const LOCK_BINDING = statement('session.lock_binding', `SELECT pg_advisory_xact_lock(7310, hashtext($1::text))`);

/**
 * The session that an agent without a connection last worked on, where it goes on or can: running with its run, or suspended
 * by itself less than a day ago. $1 binding, $2 owner.
 */
export const BOUND_SESSION = statement(
  'session.bound',
  `
  SELECT s.id::text AS id, CASE WHEN r.ended_at IS NULL THEN r.id::text END AS run_id
  FROM session.run r JOIN session.session s ON s.id = r.session_id
  WHERE r.binding = $1::text AND s.owner_id = $2::uuid AND (r.ended_at IS NULL OR s.state = 'suspended'
    AND s.suspend_reason IN ('disconnect', 'idle', 'server_restart') AND s.suspended_at > now() - interval '1 day')
  ORDER BY r.started_at DESC LIMIT 1`,
);
