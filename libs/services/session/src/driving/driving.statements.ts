import { statement } from '@workspace-graph/database';
import { seenSession } from '../shared/session.statements.js';

/** Name of a user. $1 user. */
export const USER_NAME = statement(
  'session.user_name',
  `SELECT u.name FROM identity.known_user u WHERE u.id = $1::uuid`,
);

/** The session with its live run, as it is at this moment, for what is asked of the run before anything is changed. $1 user, $2 sees all, $3 session. */
export const LIVE_RUN = statement(
  'session.live_run',
  `
  SELECT s.id::text AS id, s.state, s.origin, s.owner_id::text AS owner_id, s.live_run_id::text AS live_run_id FROM session.session s
  WHERE s.id = $3::uuid AND ${seenSession('s')}`,
);
