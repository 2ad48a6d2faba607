import { z } from 'zod';
import { Confirmed, ExpectedVersion, Id, page, paging, Text, Timestamp } from '../common.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { Places, viewers } from '../viewers.js';
import { changed } from './access-preview.js';
import { NodeRef } from './nodes.js';
import { AccessLevel, Visibility } from './vocabulary.js';

/** One line of a sharing list: exactly one of a user and a group. */
export const Recipient = z.strictObject({
  kind: z.enum(['user', 'group']),
  id: Id.describe('Id of the user or group.'),
  name: z.string(),
  access: AccessLevel,
});

const RecipientInput = z.strictObject({ kind: z.enum(['user', 'group']), id: Id, access: AccessLevel.default('read') });

/** The sharing of a node: its own setting, and what applies in effect. */
export const NodeAccess = z.strictObject({
  node_id: Id,
  version: z.int().describe('Version of the node.'),
  own: z
    .strictObject({ visibility: Visibility, recipients: z.array(Recipient) })
    .nullable()
    .describe('Null when the node inherits.'),
  effective: z
    .array(z.strictObject({ node: NodeRef, visibility: Visibility, recipients: z.array(Recipient) }))
    .describe('All restricted settings that apply; a caller must be allowed by each of them. Empty: open to everyone.'),
});
export type NodeAccess = z.infer<typeof NodeAccess>;

const tag = 'Access';
const nodeId = { node_id: Id };

export const getAccess = query({
  name: 'get_access',
  owner: 'graph',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'Read how a node is shared: its own setting and what it inherits. Only callers with manage see the recipients.',
  input: z.strictObject(nodeId),
  output: NodeAccess,
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/nodes/{node_id}/access', tag },
  mcp: { tool: 'svc_get_access', title: 'Read sharing' },
});

export const setAccess = command({
  name: 'set_access',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Set the sharing of a node; visibility null removes its own setting, so that it inherits again. A change that widens access returns a preview and needs confirmed: true; dry_run only previews.',
  input: z.strictObject({
    ...nodeId,
    visibility: Visibility.nullable(),
    recipients: z.array(RecipientInput).max(LIMITS.recipientsPerNode).default([]).describe('For `group` only.'),
    expected_version: ExpectedVersion,
    dry_run: z.boolean().default(false),
    confirmed: Confirmed,
  }),
  output: changed('access', NodeAccess.describe('As it is stored after the call.')),
  errors: ['NODE_NOT_FOUND', 'USER_NOT_FOUND', 'GROUP_NOT_FOUND', 'CONFLICT'],
  // Sharing a large organization rewrites every node that follows it.
  timeoutMs: 60_000,
  rest: { method: 'PUT', path: '/nodes/{node_id}/access', tag },
  mcp: { tool: 'svc_set_access', title: 'Set sharing' },
});

export const explainAccess = query({
  name: 'explain_access',
  owner: 'graph',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'Explain why a user may or may not see a node, apart from the scope manage, which sees every node. Asking about another user needs manage.',
  input: z.strictObject({ ...nodeId, user_id: Id.optional().describe('Defaults to the caller.') }),
  output: z.strictObject({
    node_id: Id,
    user_id: Id,
    level: z
      .enum(['none', 'read', 'write'])
      .describe('The weakest level of the reasons; write when no setting restricts the node.'),
    reasons: z.array(
      z.strictObject({
        node: NodeRef.describe('The node whose setting decides.'),
        visibility: Visibility,
        level: z.enum(['none', 'read', 'write']),
        because: z.enum(['owner', 'creator', 'recipient', 'group_member', 'not_listed']),
        group: z.string().nullable().describe('Name of the group, for group_member.'),
      }),
    ),
    open: z.boolean().describe('True when nothing restricts the node.'),
  }),
  errors: ['NODE_NOT_FOUND', 'USER_NOT_FOUND'],
  rest: { method: 'GET', path: '/nodes/{node_id}/access/explain', tag },
  mcp: { tool: 'svc_explain_access', title: 'Explain access' },
});

/** A request for access. Its node is named by id alone: whether it exists is not the requester's to learn. */
export const AccessRequest = z.strictObject({
  id: Id,
  node_id: Id,
  access: AccessLevel,
  reason: z.string(),
  state: z.enum(['pending', 'approved', 'refused', 'withdrawn']),
  requested_by: z.strictObject({ id: Id, name: z.string() }),
  requested_at: Timestamp,
  decided_at: Timestamp.nullable(),
  decision_note: z.string().nullable(),
});
export type AccessRequest = z.infer<typeof AccessRequest>;

export const requestAccess = command({
  name: 'request_access',
  owner: 'graph',
  tier: 'read',
  reach: { node_id: 'free' },
  idempotent: true,
  doc: 'Request access to a node by its id. The answer is the same whether the node exists or not; a repeated call returns the pending request.',
  input: z.strictObject({
    ...nodeId,
    access: AccessLevel.default('read'),
    reason: Text.max(LIMITS.reasonLength).default(''),
  }),
  output: AccessRequest,
  errors: ['CONFLICT'],
  rest: { method: 'POST', path: '/access-requests', status: 201, tag },
  mcp: { tool: 'svc_request_access', title: 'Request access', additive: true },
});

export const listAccessRequests = query({
  name: 'list_access_requests',
  owner: 'graph',
  tier: 'read',
  reach: {},
  doc: 'List access requests, newest first: your own, or with manage and mine: false those of all users for existing nodes.',
  input: z.strictObject({
    mine: z.boolean().default(true).describe('False: those of all users, which needs manage.'),
    state: z.enum(['pending', 'approved', 'refused', 'withdrawn']).optional(),
    ...paging,
  }),
  output: page(AccessRequest),
  errors: [],
  rest: { method: 'GET', path: '/access-requests', tag },
  mcp: { tool: 'svc_list_access_requests', title: 'List access requests' },
});

export const approveAccessRequest = command({
  name: 'approve_access_request',
  owner: 'graph',
  tier: 'manage',
  reach: { access_request_id: 'write' },
  idempotent: true,
  doc: 'Approve a request: adds the requester, unless they are disabled, to every list that excludes them. The first call returns what they gain; confirmed: true applies it.',
  input: z.strictObject({
    access_request_id: Id,
    note: Text.max(LIMITS.reasonLength).optional(),
    confirmed: Confirmed,
  }),
  output: changed('access_request', AccessRequest),
  errors: ['ACCESS_REQUEST_NOT_FOUND', 'NODE_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/access-requests/{access_request_id}/approve', tag },
  mcp: { tool: 'svc_approve_access_request', title: 'Approve access request' },
});

export const refuseAccessRequest = command({
  name: 'refuse_access_request',
  owner: 'graph',
  tier: 'manage',
  reach: { access_request_id: 'write' },
  idempotent: true,
  doc: 'Refuse a request, with an optional reason.',
  input: z.strictObject({ access_request_id: Id, note: Text.max(LIMITS.reasonLength).optional() }),
  output: AccessRequest,
  errors: ['ACCESS_REQUEST_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/access-requests/{access_request_id}/refuse', tag },
  mcp: { tool: 'svc_refuse_access_request', title: 'Refuse access request' },
});

export const withdrawAccessRequest = command({
  name: 'withdraw_access_request',
  owner: 'graph',
  tier: 'read',
  reach: { access_request_id: 'free' },
  idempotent: true,
  doc: 'Withdraw your own pending request.',
  input: z.strictObject({ access_request_id: Id }),
  output: AccessRequest,
  errors: ['ACCESS_REQUEST_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/access-requests/{access_request_id}/withdraw', tag },
  mcp: { tool: 'svc_withdraw_access_request', title: 'Withdraw access request' },
});

export const readSight = query({
  name: 'read_sight',
  owner: 'graph',
  tier: 'internal',
  reach: 'internal',
  doc: 'Read who of the viewers sees each of several nodes at this moment. Nodes that the same of them see are taken together; of a node that nobody sees nothing is told.',
  input: z.strictObject({ ...viewers, node_ids: z.array(Id).min(1).max(LIMITS.nodesPerEvent) }),
  output: z.strictObject({
    seen: z.array(
      z.strictObject({
        nodes: z.array(z.int().nonnegative()).describe('Their places in node_ids.'),
        by: Places.nullable().describe('Null: all of the viewers.'),
      }),
    ),
  }),
});
