import type { Question } from '@workspace-graph/contracts';
import { statement } from '@workspace-graph/database';

/** What a log has of the events of questions, and of their ids, before they are asked. */
export interface AskedBefore {
  readonly open: number;
  /** Of $2, those that the log has already. */
  readonly known_events: readonly string[];
  /** Of $3, those that have been asked. */
  readonly request_ids: readonly string[];
}

/** $1 session, $2 ids of events, $3 request ids. */
export const ASKED_BEFORE = statement(
  'session.asked_before',
  `
  SELECT (SELECT count(*)::int FROM session.question o WHERE o.session_id = $1::uuid AND o.answered_at IS NULL) AS open,
    ARRAY(SELECT e.id::text FROM session.event e WHERE e.session_id = $1::uuid AND e.id = ANY ($2::uuid[])) AS known_events,
    ARRAY(SELECT q.request_id FROM session.question q WHERE q.session_id = $1::uuid AND q.request_id = ANY ($3::text[])) AS request_ids`,
);

/** Keeps questions of a locked session. $1 session, $2 run, $3 request ids, $4 questions, $5 deadlines. */
export const ASK_QUESTIONS = statement(
  'session.ask_questions',
  `
  WITH asked AS (
    INSERT INTO session.question (session_id, run_id, request_id, question, deadline_at)
    SELECT $1::uuid, $2::uuid, q.request_id, q.question::json, q.deadline_at
    FROM unnest($3::text[], $4::text[], $5::timestamptz[]) AS q(request_id, question, deadline_at)
  )
  UPDATE session.session s SET waiting_since = coalesce(s.waiting_since, now()), version = s.version + 1 WHERE s.id = $1::uuid`,
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
