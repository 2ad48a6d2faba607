import { z } from 'zod';
import { Id, plainText } from '../common.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { ReportedEvent, SessionEvent } from './log.js';
import { Session, SessionClient, sessionId } from './session.js';
import { RunOutcome, SuspendReason } from './vocabulary.js';

/**
 * What those who hold runs ask of the session service, for the person whose run it is: the edges to which agents
 * connect, and the devices that start them.
 */

const run = { ...sessionId, run_id: Id };
/** The process that holds a run; it renews the lease of all its runs at once. */
const Holder = plainText(200).min(1, 'must not be empty');

export const connectSession = command({
  name: 'connect_session',
  owner: 'session',
  tier: 'internal',
  doc: 'Record that an agent has connected. Without session_id a session is born; with one, that session of the same owner goes on, be it running without a run or suspended.',
  input: z.strictObject({
    run_id: Id,
    holder: Holder,
    session_id: Id.optional(),
    node_id: Id.optional().describe('Home node of a new session.'),
    client: SessionClient,
    instance_id: plainText(200).nullable().default(null),
    terminal_id: plainText(200).nullable().default(null).describe('The terminal that started the client.'),
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
  idempotent: true,
  doc: 'Append what a run reports to the log of its session, all of it or nothing, and carry out what follows: a question waits for its answer, a handoff becomes that of the session. An event that is there already is left as it is.',
  input: z.strictObject({ ...run, events: z.array(ReportedEvent).min(1).max(LIMITS.sessionEventsPerCall) }),
  output: z.strictObject({
    seqs: z.array(z.int().positive()).describe('Of each event, in their order.'),
    last_seq: z.int(),
  }),
  errors: ['SESSION_NOT_FOUND', 'NO_LIVE_RUN', 'CONFLICT'],
});

export const endRun = command({
  name: 'end_run',
  owner: 'session',
  tier: 'internal',
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
  idempotent: true,
  doc: 'Keep the runs of a holder alive. Answers which of them have ended, for whatever reason.',
  input: z.strictObject({ holder: Holder, run_ids: z.array(Id).max(LIMITS.runsPerCall) }),
  output: z.strictObject({ ended: z.array(Id) }),
});

export const readSessionLog = query({
  name: 'read_session_log',
  owner: 'session',
  tier: 'internal',
  doc: 'Read logs of several sessions from where each is known, for those who pass them on to subscribers that were found to see them.',
  input: z.strictObject({
    sessions: z
      .array(z.strictObject({ session_id: Id, after: z.int().nonnegative() }))
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
      .array(z.strictObject({ session_id: Id, items: z.array(SessionEvent), last_seq: z.int().nonnegative() }))
      .describe('Of the sessions that there are.'),
  }),
});

export const listSessionStates = query({
  name: 'list_session_states',
  owner: 'session',
  tier: 'internal',
  doc: 'Read the states of sessions that the caller sees: of all that run or are suspended, the last active first, or of those named.',
  input: z.strictObject({
    session_ids: z.array(Id).max(LIMITS.statesPerRead).optional(),
    limit: z.int().min(1).max(LIMITS.statesPerRead).default(LIMITS.statesOnConnect),
  }),
  output: z.strictObject({
    items: z.array(Session.pick({ id: true, state: true, waiting_since: true }).extend({ node_id: Id.nullable() })),
  }),
});
