import { z } from 'zod';
import { Done, Id, plainText } from '../common.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { Places, viewers } from '../viewers.js';
import { SERVER_FRAMES } from './frames.js';
import { AfterSeq, ReportedEvent, SessionEvent } from './log.js';
import { Session, SessionClient, sessionId, SESSION_TAG as tag } from './session.js';
import { RunOutcome, SuspendReason } from './vocabulary.js';

/**
 * What those who hold runs ask of the session service, for the person whose run it is: the edges to which agents
 * connect, and the devices that start them.
 */

const run = { ...sessionId, run_id: Id };
/** The process that holds a run; it renews the lease of all its runs at once. */
const Holder = plainText(200).min(1, 'must not be empty');

/** What a program calls itself, or the terminal that it runs in. */
export const ProgramId = plainText(200).min(1, 'must not be empty');

export const connectSession = command({
  name: 'connect_session',
  owner: 'session',
  tier: 'internal',
  overLink: 'read',
  reach: 'internal',
  doc: 'Record that an agent has connected. Without session_id a session is born; with one, that session of the same owner goes on, be it running without a run or suspended; a task goes on by resume_session alone.',
  input: z.strictObject({
    run_id: Id,
    holder: Holder,
    session_id: Id.optional(),
    node_id: Id.optional().describe('Home node of a new session.'),
    client: SessionClient,
    instance_id: ProgramId.nullable().default(null),
    binding: plainText(200)
      .nullable()
      .default(null)
      .describe(
        'What requests of one agent have in common that keeps no connection: those with the same one, of the same person, belong to one session.',
      ),
    terminal_id: ProgramId.nullable().default(null).describe('The terminal that started the client.'),
  }),
  output: z.strictObject({
    session: Session,
    run_id: Id.nullable().describe(
      'The run that has begun; null where the agent belongs to one that a runner started.',
    ),
  }),
  errors: ['NODE_NOT_FOUND', 'SESSION_NOT_FOUND', 'SESSION_FORBIDDEN', 'CONFLICT'],
});

export const appendSessionEvents = command({
  name: 'append_session_events',
  owner: 'session',
  tier: 'internal',
  reach: 'internal',
  idempotent: true,
  doc: 'Append what a run reports to the log of its session, all of it or nothing, and carry out what follows: a question waits for its answer, a handoff becomes that of the session. An event that is there already is left as it is.',
  input: z.strictObject({ ...run, events: z.array(ReportedEvent).min(1).max(LIMITS.sessionEventsPerCall) }),
  output: z.strictObject({
    seqs: z.array(z.int().min(1)).describe('Of each event, in their order.'),
    last_seq: z.int(),
  }),
  errors: ['SESSION_NOT_FOUND', 'NO_LIVE_RUN', 'CONFLICT'],
});

export const endTerminal = command({
  name: 'end_terminal',
  owner: 'session',
  tier: 'write',
  reach: {},
  idempotent: true,
  doc: 'Report that a terminal has ended: your sessions whose agent runs in it are suspended. For an agent that connects with ?terminal_id= in its address.',
  input: z.strictObject({ terminal_id: ProgramId }),
  output: z.strictObject({ suspended: z.array(Id).describe('The sessions.') }),
  rest: { method: 'POST', path: '/terminals/{terminal_id}/exit', tag },
});

export const endRun = command({
  name: 'end_run',
  owner: 'session',
  tier: 'internal',
  overLink: 'read',
  reach: 'internal',
  idempotent: true,
  doc: 'Record that a run has ended; its session is suspended. A run that has ended already is left as it is.',
  input: z.strictObject({
    ...run,
    outcome: RunOutcome,
    reason: SuspendReason.nullable().default(null),
    error: plainText(LIMITS.sessionLineLength).optional(),
    can_continue: z.boolean().default(false).describe('Whether its conversation can be picked up later.'),
  }),
  output: z.strictObject({ ended: z.boolean() }),
});

export const renewRuns = command({
  name: 'renew_runs',
  owner: 'session',
  tier: 'internal',
  overLink: 'read',
  reach: 'internal',
  idempotent: true,
  doc: 'Keep the runs of a holder alive. Answers which of them have ended, for whatever reason.',
  input: z.strictObject({
    holder: Holder,
    runs: z
      .array(
        z.strictObject({ run_id: Id, idle_ms: z.int().nonnegative().default(0).describe('Since it was last used.') }),
      )
      .max(LIMITS.runsPerCall),
  }),
  output: z.strictObject({ ended: z.array(Id) }),
});

export const readSessionLogs = query({
  name: 'read_session_logs',
  owner: 'session',
  tier: 'internal',
  reach: 'internal',
  doc: 'Read logs of several sessions from where each is known, and who of the viewers sees each at this moment.',
  input: z.strictObject({
    ...viewers,
    sessions: z
      .array(z.strictObject({ session_id: Id, after: AfterSeq, viewers: Places }))
      .min(1)
      .max(LIMITS.logsPerRead),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.sessionEventsMax)
      .default(LIMITS.sessionEventsDefault)
      .describe('Of each session.'),
  }),
  output: z.strictObject({
    logs: z
      .array(
        z.strictObject({
          session_id: Id,
          items: z.array(SessionEvent),
          last_seq: z.int().nonnegative(),
          seen_by: Places,
        }),
      )
      .describe('Of the sessions that there are.'),
  }),
});

export const readSessionStates = query({
  name: 'read_session_states',
  owner: 'session',
  tier: 'internal',
  reach: 'internal',
  doc: 'Read the states of several sessions, and who of the viewers sees each at this moment.',
  input: z.strictObject({ ...viewers, session_ids: z.array(Id).min(1).max(LIMITS.statesPerRead) }),
  output: z.strictObject({ items: z.array(SERVER_FRAMES.session_state.extend({ seen_by: Places })) }),
});

export const listSessionStates = query({
  name: 'list_session_states',
  owner: 'session',
  tier: 'internal',
  reach: 'internal',
  doc: 'Read the states of the sessions that run or are suspended and that the caller sees, the last active first.',
  input: z.strictObject({ limit: z.int().min(1).max(LIMITS.statesPerRead).default(LIMITS.statesOnConnect) }),
  output: z.strictObject({ items: z.array(SERVER_FRAMES.session_state) }),
});

export const streamDelta = command({
  name: 'stream_delta',
  owner: 'session',
  tier: 'internal',
  reach: 'internal',
  doc: 'Pass on text that an agent is writing to those who follow the session at this moment. It is kept nowhere.',
  input: z.strictObject({ ...run, text: plainText(LIMITS.sessionTextLength).min(1, 'must not be empty') }),
  output: Done,
});
