import { z } from 'zod';
import { Id, listOf, page, paging, plainText, Timestamp } from '../common.js';
import { NodeRef } from '../graph/nodes.js';
import { LIMITS } from '../limits.js';
import { query } from '../operation.js';
import { AfterSeq, Question, SessionEvent } from './log.js';
import { ResumeMode, RunMode, SessionOrigin, SessionState, SuspendReason } from './vocabulary.js';

/** The program at the other end of an MCP connection, by its own handshake. */
export const SessionClient = z.strictObject({
  name: plainText(200),
  title: plainText(200).nullable(),
  version: plainText(200),
});
export type SessionClient = z.infer<typeof SessionClient>;

/** A question that waits for its answer. */
export const OpenQuestion = z.strictObject({ ...Question.shape, asked_at: Timestamp });
export type OpenQuestion = z.infer<typeof OpenQuestion>;

/** What an agent, or the server in its place, wrote down for whoever goes on. */
export const Handoff = z.strictObject({
  title: z.string(),
  text: z.string(),
  written_by: z.enum(['agent', 'server']),
  at: Timestamp,
});

/** A handoff in the folder of its node, on a device of the owner of the session. */
export const HandoffFile = z
  .strictObject({
    path: z.string().describe('On this device.'),
    state: z.enum(['changed', 'unchanged']).describe('Whether somebody changed the file since it was written.'),
  })
  .describe('Null where the node has no folder of the owner of the session, and to whom paths here are not told.');

/** A session; rows of lists and details are the same. */
export const Session = z.strictObject({
  id: Id,
  name: z.string(),
  state: SessionState,
  origin: SessionOrigin,
  node: NodeRef.nullable().describe('Where it is anchored; null for a session without a node.'),
  owner: z
    .strictObject({ id: Id, name: z.string() })
    .nullable()
    .describe('Who started it; null in sessions of others below manage.'),
  is_own: z.boolean().describe('Whether the caller started it.'),
  is_live: z.boolean().describe('Whether a run is under way.'),
  waiting_since: Timestamp.nullable().describe('Set while a question is open.'),
  open_questions: z.array(OpenQuestion).describe('Oldest first.'),
  brief: z.string().nullable(),
  runner: z.string().nullable(),
  instance_id: z.string().nullable(),
  policy: z.record(z.string(), z.unknown()).nullable(),
  client: SessionClient.nullable().describe('From the handshake of its MCP connection.'),
  suspended: z
    .strictObject({
      at: Timestamp,
      reason: SuspendReason.nullable(),
      by_server: z.boolean().describe('Whether the server wrote the handoff.'),
    })
    .nullable(),
  handoff: z
    .strictObject({
      title: z.string(),
      excerpt: z.string().describe('The first 500 characters; get_resume_info has all of it.'),
      written_by: z.enum(['agent', 'server']),
      at: Timestamp,
    })
    .nullable(),
  can_continue: z.boolean().describe('Whether the conversation of the last run can be picked up.'),
  read_count: z.int().describe('Nodes in the read scope.'),
  write_count: z.int().describe('Nodes in the write scope, the home node among them.'),
  last_seq: z.int().nonnegative().describe('Of the last event; 0 without one.'),
  last_activity_at: Timestamp,
  created_at: Timestamp,
  closed_at: Timestamp.nullable(),
  archived_at: Timestamp.nullable(),
  version: z.int(),
});
export type Session = z.infer<typeof Session>;

const tag = 'Sessions';
export const sessionId = { session_id: Id };

const filters = {
  state: listOf(SessionState).optional().describe('Defaults to all but archived.'),
  own: z.boolean().default(false).describe('Only those that you started.'),
  waiting: z.boolean().default(false).describe('Only those with an open question.'),
  ...paging,
};

export const listSessions = query({
  name: 'list_sessions',
  owner: 'session',
  tier: 'read',
  reach: {},
  doc: 'List the sessions of all nodes you may see and your own without a node, the last active first. Archived ones are left out unless state asks for them. In a session, itself and those of the nodes that it holds.',
  input: z.strictObject(filters),
  output: page(Session),
  rest: { method: 'GET', path: '/sessions', tag },
  mcp: { tool: 'svc_list_sessions', title: 'List sessions' },
});

export const listNodeSessions = query({
  name: 'list_node_sessions',
  owner: 'session',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'List the sessions of a node, the last active first. Archived ones are left out unless state asks for them.',
  input: z.strictObject({ node_id: Id, ...filters }),
  output: page(Session),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/nodes/{node_id}/sessions', tag },
});

export const getSession = query({
  name: 'get_session',
  owner: 'session',
  tier: 'read',
  reach: { session_id: 'read' },
  doc: 'Read a session.',
  input: z.strictObject(sessionId),
  output: Session,
  errors: ['SESSION_NOT_FOUND'],
  rest: { method: 'GET', path: '/sessions/{session_id}', tag },
  mcp: { tool: 'svc_get_session', title: 'Read session' },
});

export const listSessionEvents = query({
  name: 'list_session_events',
  owner: 'session',
  tier: 'read',
  reach: { session_id: 'read' },
  doc: 'Read the log of a session in the order of seq.',
  input: z.strictObject({
    ...sessionId,
    after: AfterSeq.default(0).describe('seq of the last event that is known already.'),
    limit: z.int().min(1).max(LIMITS.sessionEventsMax).default(LIMITS.sessionEventsDefault),
    newest: z.boolean().default(false).describe('The last events of the log in place of the first ones.'),
  }),
  output: z.strictObject({
    items: z.array(SessionEvent),
    last_seq: z
      .int()
      .nonnegative()
      .describe('Of the whole log; more are to be read while it is higher than the last item.'),
  }),
  errors: ['SESSION_NOT_FOUND'],
  rest: { method: 'GET', path: '/sessions/{session_id}/events', tag },
  mcp: {
    tool: 'svc_list_session_events',
    title: 'Read the log of a session',
    more: 'svc_list_session_events with after: the seq of the last item, or with newest a seq before the first one',
  },
});

export const getSessionOutput = query({
  name: 'get_session_output',
  owner: 'session',
  tier: 'read',
  reach: { session_id: 'read', event_id: 'free' },
  doc: 'Read the whole output of a tool call whose event has output_bytes.',
  input: z.strictObject({ ...sessionId, event_id: Id }),
  output: z.strictObject({
    text: z.string(),
    is_complete: z.boolean().describe('False when it was cut to the quota.'),
  }),
  errors: ['SESSION_NOT_FOUND', 'EVENT_NOT_FOUND'],
  rest: { method: 'GET', path: '/sessions/{session_id}/events/{event_id}/output', tag },
});

export const getSessionSignals = query({
  name: 'get_session_signals',
  owner: 'session',
  tier: 'read',
  reach: { session_id: 'read' },
  doc: 'Read what speaks for handing over and starting again: the age of the run and the growth of the scope.',
  input: z.strictObject(sessionId),
  output: z.strictObject({
    run: z
      .strictObject({ run_id: Id, mode: RunMode, started_at: Timestamp, age_seconds: z.int().nonnegative() })
      .nullable()
      .describe('The run under way.'),
    read_count: z.int(),
    write_count: z.int(),
    expansions: z.int().describe('Nodes added to the scope since the run started.'),
  }),
  errors: ['SESSION_NOT_FOUND'],
  rest: { method: 'GET', path: '/sessions/{session_id}/signals', tag },
});

export const getResumeInfo = query({
  name: 'get_resume_info',
  owner: 'session',
  tier: 'read',
  reach: { session_id: 'read' },
  doc: 'Read in which ways a session can go on.',
  input: z.strictObject(sessionId),
  output: z.strictObject({
    modes: z.array(ResumeMode).describe('Empty unless the session is suspended and yours.'),
    handoff: Handoff.nullable(),
    handoff_file: HandoffFile.nullable(),
  }),
  errors: ['SESSION_NOT_FOUND'],
  rest: { method: 'GET', path: '/sessions/{session_id}/resume-info', tag },
});

export const SESSION_TAG = tag;
