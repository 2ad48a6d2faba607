import { type ModelSession, waits } from './model.js';

/** Rows of a statement, read behind the service. */
type Rows = (text: string, values: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

/** Looks whether the database has of a session what the model says. */
export async function expectStored(rows: Rows, session: ModelSession): Promise<void> {
  const [row] = await rows(
    `SELECT s.state, s.live_run_id AS run, s.can_continue AS "canContinue", s.last_seq AS length, s.waiting_since IS NOT NULL AS waits,
       (SELECT count(*)::int FROM session.run r WHERE r.session_id = s.id AND r.ended_at IS NULL) AS "liveRuns",
       ARRAY(SELECT e.kind FROM session.event e WHERE e.session_id = s.id ORDER BY e.seq) AS log
     FROM session.session s WHERE s.id = $1`,
    [session.id],
  );
  const { state, run, canContinue, log } = session;
  const liveRuns = run === null ? 0 : 1;
  expect(row).toEqual({ state, run, canContinue, length: log.length, waits: waits(session), liveRuns, log });
}
