import { z } from 'zod';
import { Id, Name, plainText, Text, Timestamp } from '../common.js';
import { LIMITS } from '../limits.js';
import {
  QuestionType,
  RunMode,
  RunOutcome,
  ScopeAccess,
  ScopeAddedVia,
  SessionActor,
  SessionState,
  SuspendReason,
} from './vocabulary.js';

/** Text of an event: what somebody or something said. */
const Said = plainText(LIMITS.sessionTextLength);
const Line = plainText(LIMITS.sessionLineLength);
/** Names one thing within a session, in the words of the agent that made it. */
const Key = plainText(200).min(1, 'must not be empty');

export const QuestionOption = z.strictObject({
  id: Key,
  label: Line,
  role: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
});
export type QuestionOption = z.infer<typeof QuestionOption>;

/** Answer to a question: one of its options for an approval, free text for an input. */
export const Decision = z.union([z.strictObject({ option_id: Key }), z.strictObject({ text: Text })]);
export type Decision = z.infer<typeof Decision>;

export const Question = z.strictObject({
  request_id: Key,
  type: QuestionType,
  title: Line.min(1, 'must not be empty'),
  text: Said.optional(),
  options: z.array(QuestionOption).max(LIMITS.questionOptions).optional().describe('Of an approval.'),
  deadline_at: Timestamp.optional().describe('After it, the default answers; without a default nobody does.'),
  default: Decision.optional(),
});
export type Question = z.infer<typeof Question>;

/** A place in a log, 0 before its first event. */
export const AfterSeq = z.int().nonnegative().max(LIMITS.versionMax);

/** What a run reports of itself, by kind. */
export const REPORTED_EVENTS = {
  assistant_message: z.strictObject({ text: Said }),
  reasoning: z.strictObject({ text: Said }),
  tool_call: z.strictObject({
    call_id: Key,
    phase: z.enum(['started', 'completed', 'failed']),
    title: Line,
    tool_kind: Line.optional(),
    input_summary: Said.optional(),
    output_excerpt: Said.optional(),
    output_bytes: z
      .int()
      .nonnegative()
      .optional()
      .describe('Of the whole output, where it is kept beside the log. Set by the service.'),
    locations: z
      .array(z.strictObject({ path: Line, line: z.int().nonnegative().optional() }))
      .max(LIMITS.toolCallLocations)
      .optional(),
  }),
  file_change: z.strictObject({
    path: Line,
    change: z.enum(['created', 'modified', 'deleted']),
    file_id: Id.optional(),
  }),
  compaction: z.strictObject({ summary: Said.optional() }),
  question: Question,
  handoff: z.strictObject({
    title: Name,
    text: Said,
    written_by: z.enum(['agent', 'server']),
    reason: SuspendReason.optional(),
  }),
} as const;

/** What the service records itself, in the transaction of the change. */
export const RECORDED_EVENTS = {
  user_message: z.strictObject({ text: Said, author: SessionActor }),
  answer: z.strictObject({
    request_id: Key,
    decision: Decision.nullable().describe(
      'Null when the deadline passed without a default, or nobody can answer any more.',
    ),
    by: SessionActor,
  }),
  state_changed: z.strictObject({
    from: SessionState,
    to: SessionState,
    reason: z.union([SuspendReason, z.enum(['interrupt', 'resume', 'reconnect', 'close', 'archive'])]).optional(),
    by: SessionActor,
  }),
  run_started: z.strictObject({
    run_id: Id,
    runner: z.string(),
    instance_id: z.string().nullable(),
    mode: RunMode,
  }),
  run_ended: z.strictObject({ run_id: Id, outcome: RunOutcome, error: Line.optional() }),
  scope_changed: z.strictObject({
    node_ids: z.array(Id).describe('Those that you see.'),
    access: ScopeAccess.nullable().describe('Null: the session has lost them.'),
    added_via: ScopeAddedVia,
    reason: Line.optional().describe('Told with one of the nodes; without one to the owner and to manage alone.'),
  }),
} as const;

export const SESSION_EVENTS = { ...REPORTED_EVENTS, ...RECORDED_EVENTS } as const;
export type SessionEventKind = keyof typeof SESSION_EVENTS;
export type SessionEventPayload<K extends SessionEventKind> = z.infer<(typeof SESSION_EVENTS)[K]>;
/** One kind with its payload. */
export type SessionEventBody = {
  [K in SessionEventKind]: { readonly kind: K; readonly payload: SessionEventPayload<K> };
}[SessionEventKind];

const place = {
  seq: z.int().min(1).describe('Counts the events of the session from 1, without a gap.'),
  id: Id,
  session_id: Id,
  run_id: Id.nullable(),
  at: Timestamp,
};
const kinds = Object.entries(SESSION_EVENTS).map(([kind, payload]) =>
  z.strictObject({ ...place, kind: z.literal(kind), payload }),
);

/** An entry of the log of a session. */
export const SessionEvent = z
  .discriminatedUnion('kind', kinds as unknown as [(typeof kinds)[number]])
  .describe('An entry of the log of a session; `payload` depends on `kind`.');
export type SessionEvent = SessionEventBody & {
  readonly seq: number;
  readonly id: string;
  readonly session_id: string;
  readonly run_id: string | null;
  readonly at: string;
};

const reports = Object.entries(REPORTED_EVENTS).map(([kind, payload]) =>
  z.strictObject({
    id: Id.describe('Made by the run; appending it again appends nothing.'),
    at: Timestamp.optional().describe('When it happened; defaults to now.'),
    kind: z.literal(kind),
    payload,
    output: plainText(LIMITS.sessionOutputLength)
      .optional()
      .describe('Whole output of a tool call, kept beside the log.'),
  }),
);
/** An event as a run reports it. */
export const ReportedEvent = z.discriminatedUnion('kind', reports as unknown as [(typeof reports)[number]]);
export type ReportedEvent = {
  [K in keyof typeof REPORTED_EVENTS]: { readonly kind: K; readonly payload: SessionEventPayload<K> };
}[keyof typeof REPORTED_EVENTS] & { readonly id: string; readonly at?: string; readonly output?: string };
