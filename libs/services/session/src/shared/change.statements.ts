import { statement } from '@workspace-graph/database';

/**
 * $1 session, $2 state, $3 reason of a suspend, $4 the run that begins, $5 whether the conversation can be picked up. The
 * times follow from the state.
 */
export const SET_STATE = statement(
  'session.set_state',
  `
  UPDATE session.session s SET state = $2::text, suspend_reason = $3::text, live_run_id = $4::uuid, can_continue = $5::boolean,
    suspended_at = CASE WHEN $2::text = 'suspended' THEN now() END,
    closed_at = CASE WHEN $2::text IN ('closed', 'archived') THEN coalesce(s.closed_at, now()) END,
    archived_at = CASE WHEN $2::text = 'archived' THEN now() END,
    waiting_since = CASE WHEN $2::text IN ('running', 'suspended') THEN s.waiting_since END,
    last_activity_at = CASE WHEN $2::text = 'archived' THEN s.last_activity_at ELSE now() END, version = s.version + 1
  WHERE s.id = $1::uuid`,
);

/** $1 session, $2 title, $3 text, $4 agent or server, $5 name of the session from now on. */
export const KEEP_HANDOFF = statement(
  'session.keep_handoff',
  `
  UPDATE session.session SET handoff_title = $2::text, handoff_text = $3::text, handoff_by = $4::text, handoff_at = now(), name = $5::text,
    version = version + 1 WHERE id = $1::uuid`,
);

/** $1 run, $2 outcome, $3 error. */
export const END_RUN = statement(
  'session.end_run',
  `UPDATE session.run SET ended_at = now(), outcome = $2::text, error = $3::text WHERE id = $1::uuid AND ended_at IS NULL`,
);

/** Open questions that nobody will answer. $1 session. */
export const WITHDRAW_QUESTIONS = statement(
  'session.withdraw_questions',
  `UPDATE session.question SET answered_at = now() WHERE session_id = $1::uuid AND answered_at IS NULL RETURNING request_id`,
);

/** What the end of a log says. */
export interface LoggedFacts {
  readonly lastUserMessage: string | null;
  readonly lastAssistantMessage: string | null;
  readonly openQuestions: readonly string[];
  readonly changedFiles: readonly string[];
  /** Whether the agent has written a handoff in the run that ends. */
  readonly is_handed_over: boolean;
}

/** A handoff is made of this many events at most. */
const LOOKED_AT = 1_000;
const lastText = (kind: string): string =>
  `(SELECT e.payload ->> 'text' FROM recent e WHERE e.kind = '${kind}' ORDER BY e.seq DESC LIMIT 1)`;

/** $1 session, $2 the run that ends. */
export const HANDOFF_FACTS = statement(
  'session.handoff_facts',
  `
  WITH recent AS MATERIALIZED (
    SELECT e.seq, e.kind, e.payload FROM session.event e
    WHERE e.session_id = $1::uuid AND e.kind IN ('user_message', 'assistant_message', 'file_change')
      AND e.seq > (SELECT s.last_seq - ${LOOKED_AT} FROM session.session s WHERE s.id = $1::uuid)
  )
  SELECT ${lastText('user_message')} AS "lastUserMessage", ${lastText('assistant_message')} AS "lastAssistantMessage",
    ARRAY(SELECT e.payload ->> 'path' FROM recent e WHERE e.kind = 'file_change' ORDER BY e.seq DESC) AS "changedFiles",
    ARRAY(SELECT q.question ->> 'title' FROM session.question q WHERE q.session_id = $1::uuid AND q.answered_at IS NULL ORDER BY q.asked_at) AS "openQuestions",
    -- It may lie further back in the log than what is looked at.
    EXISTS (SELECT FROM session.session s JOIN session.run r ON r.id = $2::uuid
      WHERE s.id = $1::uuid AND s.handoff_by = 'agent' AND s.handoff_at >= r.started_at) AS is_handed_over`,
);
