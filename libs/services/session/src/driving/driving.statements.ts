import { statement, VISIBLE } from '@workspace-graph/database';

/** Name of a user. $1 user. */
export const USER_NAME = statement(
  'session.user_name',
  `SELECT u.name FROM identity.known_user u WHERE u.id = $1::uuid`,
);

/** The session with its live run, as it is at this moment, for what is asked of the run before anything is changed. $1 user, $2 sees all, $3 session. */
export const LIVE_RUN = statement(
  'session.live_run',
  `
  SELECT s.state, s.origin, s.owner_id::text AS owner_id, s.live_run_id::text AS live_run_id FROM session.session s
  WHERE s.id = $3::uuid AND (s.node_id IS NULL AND s.owner_id = $1::uuid OR EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = s.node_id))`,
);
