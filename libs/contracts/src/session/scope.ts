import { z } from 'zod';
import { Id, Name, page, paging, plainText, Timestamp } from '../common.js';
import { NodeRef } from '../graph/nodes.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { REACH_KINDS } from '../reach.js';
import { Handoff, Session, sessionId, SESSION_TAG as tag } from './session.js';
import { ScopeAccess, ScopeAddedVia, ScopeReview, SessionState } from './vocabulary.js';

/**
 * What a session may reach, below what its person and its credential may. Agents extend it themselves, with a reason;
 * people see that, and give and take.
 */

const path = '/sessions/{session_id}/scope' as const;

/** A node of the scope of a session. */
export const ScopeNode = z.strictObject({
  node: NodeRef,
  access: ScopeAccess,
  added_via: ScopeAddedVia,
  reason: z.string().nullable().describe('Why the agent asked for it.'),
  added_at: Timestamp,
  review: ScopeReview.nullable().describe('Null: nobody has looked at it.'),
});

const NodeIds = z.array(Id).min(1).max(LIMITS.scopeNodesPerCall);

/** What a session holds, as an agent is told it. */
const Standing = z.strictObject({
  session: z.strictObject({
    id: Id,
    name: z.string(),
    state: SessionState,
    node: NodeRef.nullable(),
    brief: z.string().nullable(),
  }),
  scope: z.strictObject({
    read: z.array(NodeRef).describe('Nodes that may be read.'),
    write: z.array(NodeRef).describe('Nodes that may be read and changed.'),
    complete: z.boolean().describe(`False when there are more than ${LIMITS.scopeNodesTold}.`),
  }),
  handoff: Handoff.nullable().describe('What to go on from.'),
});

export const initSession = command({
  name: 'init_session',
  owner: 'session',
  tier: 'read',
  reach: { node_id: 'free' },
  idempotent: true,
  doc: 'Read where your session stands: its home node, its scope and the handoff to go on from. With node_id, a session without a home node is anchored there first: the node becomes its write scope, the neighbours its read scope.',
  input: z.strictObject({ node_id: Id.optional().describe('Home node of a session that has none.') }),
  output: Standing,
  errors: ['NODE_NOT_FOUND', 'SESSION_NOT_FOUND', 'CONFLICT'],
  mcp: { tool: 'svc_session_init', title: 'Begin or go on with the session', additive: true, budgeted: true },
});

/** What devices ask before they do something of their own for a session: they do not know its scope. */
export const checkScope = query({
  name: 'check_scope',
  owner: 'session',
  tier: 'device',
  reach: 'internal',
  doc: 'Look whether the session of the caller holds what a call names. Answers its home node.',
  input: z.strictObject({
    reached: z
      .array(z.strictObject({ kind: z.enum(REACH_KINDS), id: Id, access: z.enum(['read', 'write']) }))
      .max(LIMITS.filesPerChange),
  }),
  output: z.strictObject({ home_node_id: Id.nullable() }),
  errors: ['SESSION_NOT_FOUND', 'scope_expansion_required'],
});

export const expandScope = command({
  name: 'expand_scope',
  owner: 'session',
  tier: 'read',
  reach: { node_ids: 'free' },
  idempotent: true,
  doc: 'Bring nodes into the scope of your session, for what the task needs. People see the reason.',
  input: z.strictObject({
    node_ids: NodeIds,
    access: ScopeAccess.default('read').describe('write: also to change them.'),
    reason: plainText(LIMITS.sessionLineLength).trim().min(1, 'must not be empty'),
  }),
  output: z.strictObject({
    added: z
      .array(NodeRef.extend({ access: ScopeAccess, added_via: ScopeAddedVia }))
      .describe('What was not held before.'),
    read_count: z.int(),
    write_count: z.int(),
  }),
  errors: ['NODE_NOT_FOUND', 'SESSION_NOT_FOUND', 'FORBIDDEN'],
  mcp: { tool: 'svc_expand_scope', title: 'Expand scope', additive: true },
});

export const logSession = command({
  name: 'log_session',
  owner: 'session',
  tier: 'write',
  reach: {},
  doc: 'Write into the log of your session. handoff: what whoever goes on has to know; write one before you end.',
  input: z.strictObject({
    kind: z.enum(['assistant_message', 'handoff']).default('assistant_message'),
    text: plainText(LIMITS.sessionTextLength).trim().min(1, 'must not be empty'),
    title: Name.optional().describe('Of a handoff; required there.'),
  }),
  output: z.strictObject({ seq: z.int().min(1).describe('Of the event in the log.') }),
  errors: ['SESSION_NOT_FOUND', 'NO_LIVE_RUN'],
  mcp: { tool: 'svc_session_log', title: 'Write to the session log', additive: true },
});

export const getSessionScope = query({
  name: 'get_session_scope',
  owner: 'session',
  tier: 'read',
  reach: { session_id: 'read' },
  doc: 'List the nodes that a session may reach and that you see, the last added first.',
  input: z.strictObject({
    ...sessionId,
    unreviewed: z
      .boolean()
      .default(false)
      .describe('Only nodes that no edge joins to the scope and nobody has looked at.'),
    ...paging,
  }),
  output: page(ScopeNode),
  errors: ['SESSION_NOT_FOUND'],
  rest: { method: 'GET', path, tag },
});

export const addToSessionScope = command({
  name: 'add_to_session_scope',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write', node_ids: 'write' },
  idempotent: true,
  doc: 'Bring nodes into the scope of a session of yours, also such as were rejected.',
  input: z.strictObject({ ...sessionId, node_ids: NodeIds, access: ScopeAccess.default('read') }),
  output: Session,
  errors: ['SESSION_NOT_FOUND', 'SESSION_FORBIDDEN', 'NODE_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path, tag },
});

export const reviewScope = command({
  name: 'review_scope',
  owner: 'session',
  tier: 'write',
  reach: { session_id: 'write', node_id: 'write' },
  idempotent: true,
  doc: 'Accept a node of the scope of a session, or reject it: the session loses it and cannot bring it back. For the owner and for manage.',
  input: z.strictObject({ ...sessionId, node_id: Id, decision: z.enum(['accept', 'reject']) }),
  output: Session,
  errors: ['SESSION_NOT_FOUND', 'SESSION_FORBIDDEN', 'NODE_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: `${path}/{node_id}/review`, tag },
});
