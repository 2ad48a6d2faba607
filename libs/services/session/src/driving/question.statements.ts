import type { Question } from '@workspace-graph/contracts';
import { statement } from '@workspace-graph/database';

/**
 * Keeps questions of a locked session; answers how many are open then. $1 session, $2 run, $3 request ids, $4 questions,
 * $5 deadlines. One that was asked under the same id before is left as it is.
 */
export const ASK_QUESTIONS = statement(
  'session.ask_questions',
  `
  WITH asked AS (
    INSERT INTO session.question (session_id, run_id, request_id, question, deadline_at)
    SELECT $1::uuid, $2::uuid, q.request_id, q.question::json, q.deadline_at
    FROM unnest($3::text[], $4::text[], $5::timestamptz[]) AS q(request_id, question, deadline_at)
    ON CONFLICT (session_id, request_id) DO NOTHING RETURNING asked_at
  ), waiting AS (
    UPDATE session.session s SET waiting_since = coalesce(s.waiting_since, now()), version = s.version + 1
    WHERE s.id = $1::uuid AND EXISTS (SELECT FROM asked)
  )
  SELECT ((SELECT count(*) FROM asked) + (SELECT count(*) FROM session.question o WHERE o.session_id = $1::uuid AND o.answered_at IS NULL))::int AS open`,
);

export interface QuestionRow {
  readonly question: Question;
  readonly is_answered: boolean;
}

/** $1 session, $2 request. */
export const LOCK_QUESTION = statement(
  'session.lock_question',
  `
  SELECT q.question, q.answered_at IS NOT NULL AS is_answered FROM session.question q
  WHERE q.session_id = $1::uuid AND q.request_id = $2::text FOR UPDATE OF q`,
);

/** $1 session, $2 request, $3 decision. A session waits until its last question is answered. */
export const ANSWER_QUESTION = statement(
  'session.answer_question',
  `
  WITH answered AS (
    UPDATE session.question q SET answered_at = now(), decision = $3::json
    WHERE q.session_id = $1::uuid AND q.request_id = $2::text AND q.answered_at IS NULL
  )
  UPDATE session.session s SET version = s.version + 1, waiting_since = (
    SELECT min(o.asked_at) FROM session.question o
    WHERE o.session_id = s.id AND o.answered_at IS NULL AND o.request_id <> $2::text)
  WHERE s.id = $1::uuid`,
);

/** Answers that the runs of a session have not learnt. $1 session. */
export const UNDELIVERED = statement(
  'session.undelivered_answers',
  `
  SELECT q.request_id, q.decision FROM session.question q
  WHERE q.session_id = $1::uuid AND q.answered_at IS NOT NULL AND q.delivered_at IS NULL ORDER BY q.answered_at, q.request_id`,
);

/** $1 session, $2 requests. */
export const MARK_DELIVERED = statement(
  'session.mark_delivered',
  `UPDATE session.question SET delivered_at = now() WHERE session_id = $1::uuid AND request_id = ANY ($2::text[]) AND delivered_at IS NULL`,
);
