import { statement } from '@workspace-graph/database';

/** Runs whose holder has not renewed them. $1 most. */
export const EXPIRED_RUNS = statement(
  'session.expired_runs',
  `
  SELECT r.session_id::text AS session_id, r.id::text AS run_id FROM session.run r
  WHERE r.ended_at IS NULL AND r.lease_until < now() ORDER BY r.lease_until LIMIT $1::int`,
);

/** Runs that no process can hold any more, for there was one alone. $1 the holders that live, $2 most. */
export const RUNS_OF_OTHERS = statement(
  'session.runs_of_others',
  `
  SELECT r.session_id::text AS session_id, r.id::text AS run_id FROM session.run r
  WHERE r.ended_at IS NULL AND r.holder <> ALL ($1::text[]) ORDER BY r.started_at LIMIT $2::int`,
);

/** Whether a run has not been renewed, once its session is locked. $1 run. */
export const IS_EXPIRED = statement(
  'session.is_expired',
  `SELECT r.lease_until < now() AS expired FROM session.run r WHERE r.id = $1::uuid AND r.ended_at IS NULL`,
);

/** $1 most. */
export const OVERDUE_QUESTIONS = statement(
  'session.overdue_questions',
  `
  SELECT q.session_id::text AS session_id, q.request_id FROM session.question q
  WHERE q.answered_at IS NULL AND q.deadline_at < now() ORDER BY q.deadline_at LIMIT $1::int`,
);

/** Closed sessions without activity for so many days. $1 days, $2 most. */
export const OLD_SESSIONS = statement(
  'session.old',
  `
  SELECT s.id::text AS session_id FROM session.session s
  WHERE s.state = 'closed' AND s.last_activity_at < now() - $1::int * interval '1 day' ORDER BY s.last_activity_at LIMIT $2::int`,
);

/** Connected agents that have done nothing for so long. $1 minutes, $2 most. */
export const IDLE_RUNS = statement(
  'session.idle_runs',
  `
  SELECT r.session_id::text AS session_id, r.id::text AS run_id FROM session.run r
  WHERE r.ended_at IS NULL AND r.runner = 'mcp' AND r.last_used_at < now() - $1::int * interval '1 minute' ORDER BY r.last_used_at LIMIT $2::int`,
);

/** Whether a run is idle, once its session is locked. $1 run, $2 minutes. */
export const IS_IDLE = statement(
  'session.is_idle',
  `SELECT r.last_used_at < now() - $2::int * interval '1 minute' AS expired FROM session.run r WHERE r.id = $1::uuid AND r.ended_at IS NULL`,
);
