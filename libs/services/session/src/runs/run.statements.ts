import { statement, VISIBLE } from '@workspace-graph/database';

/** A node that the caller sees, kept from being purged. $1 user, $2 sees all, $3 node. */
export const HOME_NODE = statement('session.home_node', `SELECT n.name FROM ${VISIBLE} n WHERE n.id = $3::uuid`);

/** $1 id, $2 node, $3 owner, $4 origin, $5 name, $6 brief, $7 runner, $8 instance, $9 policy, $10 client. */
export const INSERT_SESSION = statement(
  'session.insert',
  `
  INSERT INTO session.session (id, node_id, owner_id, origin, name, brief, runner, instance_id, policy, client)
  VALUES ($1::uuid, $2::uuid, $3::uuid, $4::text, $5::text, $6::text, $7::text, $8::text, $9::json, $10::json)`,
);

/**
 * Begins a run of a session whose row is locked. $1 run, $2 session, $3 holder, $4 mode, $5 runner, $6 instance,
 * $7 terminal, $8 seconds of its lease.
 */
export const INSERT_RUN = statement(
  'session.insert_run',
  `
  WITH begun AS (
    INSERT INTO session.run (id, session_id, holder, mode, runner, instance_id, terminal_id, lease_until)
    VALUES ($1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::text, now() + $8::int * interval '1 second')
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
  ON CONFLICT (session_id, node_id) DO NOTHING`,
);

/** Renews the leases of a holder. $1 holder, $2 runs, $3 seconds. Answers those that have ended. */
export const RENEW_RUNS = statement(
  'session.renew_runs',
  `
  WITH renewed AS (
    UPDATE session.run r SET lease_until = now() + $3::int * interval '1 second'
    WHERE r.id = ANY ($2::uuid[]) AND r.holder = $1::text AND r.ended_at IS NULL RETURNING r.id
  )
  SELECT json_build_object('ended', coalesce(json_agg(w.id ORDER BY w.place), '[]'))::text AS json
  FROM unnest($2::uuid[]) WITH ORDINALITY AS w(id, place) WHERE NOT EXISTS (SELECT FROM renewed d WHERE d.id = w.id)`,
);
