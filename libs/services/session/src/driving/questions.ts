import {
  type answerQuestion,
  type Decision,
  LIMITS,
  type ParsedInputOf,
  type Question,
  type ReportedEvent,
  ServiceError,
  type SessionActor,
  type ValidationIssue,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { problemOfDecision } from '@workspace-graph/domain';
import { append } from '../log/append.js';
import { conflict, lockOwnSession, OWNER, type SessionRow } from '../shared/locked-session.js';
import { emitChanged } from '../shared/session-changes.js';
import {
  ANSWER_QUESTION,
  ASK_QUESTIONS,
  ASKED_BEFORE,
  type AskedBefore,
  LOCK_QUESTION,
  type QuestionRow,
} from './question.statements.js';

/**
 * Looks at the questions of a report before anything of it is kept.
 * @throws ServiceError VALIDATION_FAILED for an id under which another question was asked, for nobody could tell their
 * answers apart; CONFLICT when too many would be open
 */
export async function refuseQuestions(
  tx: Transaction,
  session: SessionRow,
  events: readonly ReportedEvent[],
): Promise<void> {
  const questions = events.flatMap((event, index) =>
    event.kind === 'question' ? [{ index, eventId: event.id, requestId: event.payload.request_id }] : [],
  );
  if (questions.length === 0) return;
  const before = await tx.row<AskedBefore>(ASKED_BEFORE, [
    session.id,
    questions.map(({ eventId }) => eventId),
    questions.map(({ requestId }) => requestId),
  ]);
  if (!before) throw new Error('What was asked before is answered in one row');
  const fresh = questions.filter(({ eventId }) => !before.known_events.includes(eventId));
  const taken = new Set(before.request_ids);
  const issues = fresh.flatMap(({ index, requestId }): ValidationIssue[] => {
    const isTaken = taken.has(requestId);
    taken.add(requestId);
    const path = `events.${index}.payload.request_id`;
    return isTaken ? [{ path, message: 'is the id of another question of this session' }] : [];
  });
  if (issues.length > 0) throw validationFailed(issues);
  if (before.open + fresh.length > LIMITS.openQuestions)
    throw await conflict(tx, session, `A session has at most ${LIMITS.openQuestions} open questions.`);
}

/** Keeps questions until they are answered. */
export async function askQuestions(
  tx: Transaction,
  session: SessionRow,
  questions: readonly Question[],
): Promise<void> {
  await tx.execute(ASK_QUESTIONS, [
    session.id,
    session.live_run_id,
    questions.map(({ request_id }) => request_id),
    questions.map((question) => JSON.stringify(question)),
    questions.map(({ deadline_at }) => deadline_at ?? null),
  ]);
}

/**
 * Answers a question, once.
 * @throws ServiceError NO_PENDING_QUESTION, CONFLICT for one that is answered, VALIDATION_FAILED for an answer that does not fit
 */
export async function answer(
  tx: Transaction,
  { session_id, request_id, decision }: ParsedInputOf<typeof answerQuestion>,
): Promise<SessionRow> {
  const session = await lockOwnSession(tx, session_id);
  const asked = await tx.row<QuestionRow>(LOCK_QUESTION, [session_id, request_id]);
  if (!asked) throw new ServiceError('NO_PENDING_QUESTION', `The session has no question ${request_id}.`);
  if (asked.is_answered) throw await conflict(tx, session, 'The question is answered already.');
  const problem = problemOfDecision(asked.question, decision);
  if (problem) throw validationFailed([{ path: 'decision', message: problem }]);
  await settle(tx, session, { request_id, decision, by: OWNER });
  tx.audit({
    action: 'answer_question',
    targetKind: 'session',
    targetId: session.id,
    concerns: [session.node_id],
    after: { request_id },
  });
  return session;
}

export interface Settlement {
  readonly request_id: string;
  /** Null when nobody decided. */
  readonly decision: Decision | null;
  readonly by: SessionActor;
}

/** Records what became of an open question. */
export async function settle(tx: Transaction, session: SessionRow, settlement: Settlement): Promise<void> {
  const { request_id, decision } = settlement;
  await tx.execute(ANSWER_QUESTION, [session.id, request_id, decision === null ? null : JSON.stringify(decision)]);
  await append(tx, { sessionId: session.id, runId: session.live_run_id }, [{ kind: 'answer', payload: settlement }]);
  emitChanged(tx, session);
}
