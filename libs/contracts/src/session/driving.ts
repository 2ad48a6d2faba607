import { z } from 'zod';
import { ExpectedVersion, Id, Name, plainText, SaidText } from '../common.js';
import type { ErrorCode } from '../errors.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { Decision } from './log.js';
import { Session, sessionId, SESSION_TAG as tag } from './session.js';
import { ResumeMode } from './vocabulary.js';

/**
 * What people do with sessions. Messages, answers, names and resumes are the owner's alone; interrupt, suspend and close
 * are the owner's and of whoever has the scope manage.
 */

const path = '/sessions/{session_id}' as const;
const refused: ErrorCode[] = ['SESSION_NOT_FOUND', 'SESSION_FORBIDDEN', 'CONFLICT'];
/** Longer than a suspend waits for the handoff of an agent. */
const STOP_MS = 45_000;

/** A program that can carry out tasks, on the machine that was asked. */
export const Runner = z.strictObject({
  id: z.string(),
  name: z.string(),
  installed: z.boolean(),
  logged_in: z.boolean(),
});
export type Runner = z.infer<typeof Runner>;

export const listRunners = query({
  name: 'list_runners',
  owner: 'session',
  tier: 'read',
  reach: {},
  doc: 'List the programs that can carry out tasks here. One can be chosen when it is installed and logged in.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(Runner) }),
  rest: { method: 'GET', path: '/runners', tag },
});

export const startSession = command({
  name: 'start_session',
  owner: 'session',
  tier: 'write',
  reach: { node_id: 'write' },
  doc: 'Start a task on a node: creates its session and starts the first run.',
  input: z.strictObject({
    node_id: Id,
    brief: SaidText,
    runner: plainText(100).min(1, 'must not be empty').describe('Id of a runner of list_runners.'),
    instance_id: plainText(200).optional().describe('Instance of the runner; defaults to that of the organization.'),
    policy: z
      .record(z.string().max(100), z.unknown())
      .refine(
        (value) => JSON.stringify(value).length <= LIMITS.sessionPolicyLength,
        `must have at most ${LIMITS.sessionPolicyLength} characters as JSON`,
      )
      .refine((value) => !JSON.stringify(value).includes('\\u0000'), 'must not contain NUL characters')
      // A lone half of a surrogate pair is written as its escape.
      .refine((value) => !/\\ud[89a-f]/i.test(JSON.stringify(value)), 'must be valid Unicode text')
      .optional()
      .describe('What the run may do without asking, in the words of the runner.'),
  }),
  output: Session,
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'POST', path: '/sessions', status: 201, tag },
  timeoutMs: STOP_MS,
});

export const renameSession = command({
  name: 'rename_session',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write' },
  idempotent: true,
  doc: 'Rename a session of yours.',
  input: z.strictObject({ ...sessionId, name: Name, expected_version: ExpectedVersion }),
  output: Session,
  errors: refused,
  rest: { method: 'PATCH', path, tag },
});

export const sendMessage = command({
  name: 'send_message',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write' },
  doc: 'Send a message to the run of a session of yours.',
  input: z.strictObject({
    ...sessionId,
    text: SaidText,
  }),
  output: z.strictObject({
    seq: z.int().min(1).describe('Of the message in the log.'),
    delivered: z
      .boolean()
      .describe('False when the run was found to be gone: the message waits in the log for the next one.'),
  }),
  errors: [...refused, 'NO_LIVE_RUN'],
  rest: { method: 'POST', path: `${path}/messages`, status: 201, tag },
});

export const answerQuestion = command({
  name: 'answer_question',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write' },
  doc: 'Answer an open question of a session of yours. A question is answered once.',
  input: z.strictObject({
    ...sessionId,
    request_id: plainText(200).min(1, 'must not be empty'),
    decision: Decision.describe('option_id of an approval, text of an input.'),
  }),
  output: Session,
  errors: [...refused, 'NO_PENDING_QUESTION'],
  rest: { method: 'POST', path: `${path}/questions/{request_id}`, tag },
});

export const interruptSession = command({
  name: 'interrupt_session',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write' },
  idempotent: true,
  doc: 'End the current turn of the run; the session stays running and takes the next message.',
  input: z.strictObject(sessionId),
  output: Session,
  errors: [...refused, 'NO_LIVE_RUN'],
  rest: { method: 'POST', path: `${path}/interrupt`, tag },
});

export const suspendSession = command({
  name: 'suspend_session',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write' },
  idempotent: true,
  doc: 'Suspend a running session. Its agent has 30 seconds to write a handoff; then the server writes one.',
  input: z.strictObject(sessionId),
  output: Session,
  errors: refused,
  rest: { method: 'POST', path: `${path}/suspend`, tag },
  timeoutMs: STOP_MS,
});

export const resumeSession = command({
  name: 'resume_session',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write', node_id: 'free' },
  doc: 'Go on with a suspended session of yours: with its conversation, where that can be picked up, or from its handoff.',
  input: z.strictObject({
    ...sessionId,
    mode: ResumeMode,
    node_id: Id.optional().describe('Where it must be anchored; refused with CONFLICT when it is not.'),
  }),
  output: Session,
  errors: [...refused, 'NODE_NOT_FOUND', 'NO_LIVE_RUN'],
  rest: { method: 'POST', path: `${path}/resume`, tag },
  timeoutMs: STOP_MS,
});

export const closeSession = command({
  name: 'close_session',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write' },
  idempotent: true,
  doc: 'Close a session for good. Its record and its log stay.',
  input: z.strictObject(sessionId),
  output: Session,
  errors: refused,
  rest: { method: 'POST', path: `${path}/close`, tag },
  timeoutMs: STOP_MS,
});
