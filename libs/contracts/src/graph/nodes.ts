import { z } from 'zod';
import { Confirmed, ExpectedVersion, Id, listOf, Name, page, paging, Query, Text, Timestamp } from '../common.js';
import { FileStatus } from '../files/file.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { changed } from './access-preview.js';
import { ActorRef } from './actors.js';
import { Link, Responsibility } from './carried.js';
import { GraphEvent } from './events.js';
import { AccessLevel, Health, Lifecycle, NodeStatus, NodeType, Relation, Visibility } from './vocabulary.js';

/** A node as other records point to it. */
export const NodeRef = z.strictObject({ id: Id, type: NodeType, name: z.string() });
export type NodeRef = z.infer<typeof NodeRef>;

/** A project's health with who said so. */
export const HealthReport = z.strictObject({
  value: Health,
  note: z.string().nullable(),
  by: z.string().nullable().describe('Name of the user who set it; null for the initial value.'),
  at: Timestamp.nullable(),
});

const summary = {
  id: Id,
  type: NodeType,
  name: z.string(),
  status: NodeStatus,
  lifecycle: Lifecycle,
  health: Health.nullable().describe('Projects only.'),
  organization: NodeRef.nullable().describe('Null on an organization, or when the caller may not see it.'),
  owner: ActorRef.nullable(),
  version: z
    .int()
    .describe(
      'Increases with each change of the fields, the sharing, the responsibilities and the links; edges and events do not change it.',
    ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** A node in a list. */
export const NodeSummary = z.strictObject(summary);
export type NodeSummary = z.infer<typeof NodeSummary>;

/** One edge seen from a node. */
export const NodeEdge = z.strictObject({
  id: Id,
  direction: z.enum(['outgoing', 'incoming']),
  relation: Relation,
  node: NodeRef.describe('The node at the other end.'),
});
export type NodeEdge = z.infer<typeof NodeEdge>;

/** How a node is shared, as any reader of it may know. */
export const AccessSummary = z.strictObject({
  mode: Visibility.describe('The strictest setting that applies.'),
  inherited: z.boolean().describe('True when the node has no setting of its own.'),
  from: z.array(NodeRef).describe('The nodes whose sharing applies; empty when open to everyone.'),
  level: AccessLevel.describe('What the caller may do on the node, not limited by the scope of the credential.'),
});

/** A tracked file in the answer of its node; list_files tells all of it. */
export const NodeFile = z.strictObject({
  id: Id,
  path: z.string().describe('Within the node.'),
  status: FileStatus.nullable(),
  size_bytes: z.int().nullable(),
  mime_type: z.string(),
  updated_at: Timestamp,
});
export type NodeFile = z.infer<typeof NodeFile>;

/** A node with everything that belongs to it. */
export const Node = z.strictObject({
  ...summary,
  description: z.string(),
  goal: z.string(),
  sync_key: z.string().describe('Name of the node in paths; never changes.'),
  health_report: HealthReport.nullable(),
  responsibilities: z.array(Responsibility).describe('In their order.'),
  data_sources: z.array(Link),
  tools: z.array(Link),
  edges: z.strictObject({
    items: z.array(NodeEdge),
    complete: z
      .boolean()
      .describe(`False when a direction has more than ${LIMITS.nodeEdges} edges; list_edges returns all.`),
  }),
  recent_events: z.array(GraphEvent).describe(`The newest ${LIMITS.nodeEvents}; list_events returns all.`),
  access: AccessSummary,
  files: z.strictObject({
    items: z.array(NodeFile).describe(`The newest ${LIMITS.nodeFiles}; list_files returns all.`),
    complete: z.boolean(),
  }),
  sessions: z.int().describe('How many are anchored here and not archived; list_node_sessions returns them.'),
  local_path: z
    .string()
    .nullable()
    .describe(
      'Folder of the node on this device; null without one, for callers other than the person of the device and those with manage, and in answers that do not come through a device.',
    ),
});
export type Node = z.infer<typeof Node>;

const nodeId = { node_id: Id };
const editable = {
  name: Name,
  description: Text,
  goal: Text,
  lifecycle: Lifecycle,
  health: Health,
  health_note: Text.nullable().describe('Explains the health; a new health without a note clears the previous note.'),
  owner_id: Id.nullable().describe('Actor that owns the node; null for no owner.'),
};
const tag = 'Nodes';

export const createNode = command({
  name: 'create_node',
  owner: 'graph',
  tier: 'manage',
  reach: { organization_id: 'read', parent_ids: 'read' },
  doc: 'Create a node. Every type except organization needs organization_id; parent_ids are further nodes that it belongs to.',
  input: z.strictObject({
    type: NodeType,
    name: Name,
    organization_id: Id.optional().describe('The organization; required unless the node is an organization.'),
    parent_ids: z
      .array(Id)
      .max(20)
      .default([])
      .describe('Projects, processes, areas or principles that the node belongs to.'),
    description: Text.default(''),
    goal: Text.default(''),
    lifecycle: Lifecycle.optional().describe('Defaults to the first lifecycle value of the type.'),
    health: Health.optional(),
    owner_id: Id.nullable().default(null),
    visibility: Visibility.nullable()
      .default(null)
      .describe('Initial sharing; `group` starts with no recipients. Null inherits.'),
  }),
  output: Node,
  errors: ['NODE_NOT_FOUND', 'ACTOR_NOT_FOUND', 'ORG_INVARIANT', 'LIFECYCLE_INVALID'],
  rest: { method: 'POST', path: '/nodes', status: 201, tag },
  mcp: { tool: 'svc_create_node', title: 'Create node', additive: true, more: 'svc_get_node' },
});

export const getNode = query({
  name: 'get_node',
  owner: 'graph',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'Read one node with owner, responsibilities, data sources, tools, edges, recent events, files and its folder on this device.',
  input: z.strictObject(nodeId),
  output: Node,
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/nodes/{node_id}', tag },
  mcp: {
    tool: 'svc_get_node',
    title: 'Read node',
    more: 'svc_list_edges, svc_list_events and svc_list_files of the node',
  },
});

export const listNodes = query({
  name: 'list_nodes',
  owner: 'graph',
  tier: 'read',
  reach: { organization_id: 'free', parent_id: 'free' },
  doc: 'List nodes by name with filters. Omits archived nodes unless status or lifecycle includes them.',
  input: z.strictObject({
    scope: z
      .enum(['session', 'global'])
      .optional()
      .describe('session: what your session holds, the default with a home node; global: everything you may see.'),
    type: listOf(NodeType).optional(),
    status: listOf(NodeStatus).optional(),
    lifecycle: listOf(Lifecycle).optional(),
    health: listOf(Health).optional(),
    organization_id: Id.optional(),
    owner_id: Id.optional(),
    parent_id: Id.optional().describe('Only nodes that belong to this node directly.'),
    query: Query.optional().describe('Part of the name; ignores case and diacritics.'),
    order: z.enum(['name', 'created', 'updated']).default('name').describe('created and updated: newest first.'),
    ...paging,
  }),
  output: page(NodeSummary),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/nodes', tag, unused: ['scope'] },
  mcp: { tool: 'svc_list_nodes', title: 'List nodes' },
});

export const updateNode = command({
  name: 'update_node',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Change fields of a node. Renaming never moves its folder. Changing the owner of a restricted node can widen access and then needs confirmation.',
  input: z.strictObject({
    ...nodeId,
    ...z.object(editable).partial().shape,
    expected_version: ExpectedVersion,
    confirmed: Confirmed,
  }),
  output: changed('node', Node),
  errors: ['NODE_NOT_FOUND', 'ACTOR_NOT_FOUND', 'LIFECYCLE_INVALID', 'CONFLICT'],
  rest: { method: 'PATCH', path: '/nodes/{node_id}', tag },
  mcp: { tool: 'svc_update_node', title: 'Update node', more: 'svc_get_node' },
});

export const archiveNode = command({
  name: 'archive_node',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Archive a node. All its data is kept, and restore_node restores its previous lifecycle. A project that is done stays done.',
  input: z.strictObject({ ...nodeId, expected_version: ExpectedVersion }),
  output: Node,
  errors: ['NODE_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/nodes/{node_id}/archive', tag },
  mcp: { tool: 'svc_archive_node', title: 'Archive node', more: 'svc_get_node' },
});

export const restoreNode = command({
  name: 'restore_node',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Restore an archived node with its previous lifecycle.',
  input: z.strictObject({ ...nodeId, expected_version: ExpectedVersion }),
  output: Node,
  errors: ['NODE_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/nodes/{node_id}/restore', tag },
  mcp: { tool: 'svc_restore_node', title: 'Restore node', more: 'svc_get_node' },
});

/** What a purge removes. */
export const PurgePreview = z.strictObject({
  edges: z.int(),
  events: z.int(),
  responsibilities: z.int(),
  data_sources: z.int(),
  tools: z.int(),
  files: z.int().describe('Tracked files; each leaves a tombstone.'),
  sessions: z.int().describe('Sessions of agents on the node, with their logs.'),
  access_requests: z
    .int()
    .describe(
      'Approved and refused requests; a pending request stays, so that it does not reveal that the node is gone.',
    ),
  blockers: z
    .array(z.strictObject({ reason: z.enum(['has_members']), count: z.int() }))
    .describe('What to remove first: an organization with members cannot be purged.'),
});

export const purgeNode = command({
  name: 'purge_node',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Permanently remove a node. The first call returns a preview; confirmed: true removes it. Removing a restricted parent can widen access to its children, which the preview shows.',
  input: z.strictObject({ ...nodeId, expected_version: ExpectedVersion, confirmed: Confirmed }),
  output: changed('removes', PurgePreview),
  errors: ['NODE_NOT_FOUND', 'IN_USE', 'CONFLICT'],
  timeoutMs: 30_000,
  rest: { method: 'DELETE', path: '/nodes/{node_id}', tag },
  mcp: { tool: 'svc_purge_node', title: 'Purge node' },
});

export const moveNode = command({
  name: 'move_node',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write', organization_id: 'read' },
  idempotent: true,
  doc: 'Move a node to another organization; its other edges stay. The first call returns which nodes move and who gains and loses access; confirmed: true applies it.',
  input: z.strictObject({
    ...nodeId,
    organization_id: Id,
    with_descendants: z.boolean().default(true).describe('Also move the nodes that belong to it.'),
    expected_version: ExpectedVersion,
    confirmed: Confirmed,
  }),
  output: z.strictObject({
    ...changed('node', Node).shape,
    moves: z.array(NodeRef).describe('The nodes that move, at most 500.'),
    move_count: z.int(),
  }),
  errors: ['NODE_NOT_FOUND', 'ORG_INVARIANT', 'CONFLICT'],
  timeoutMs: 30_000,
  rest: { method: 'POST', path: '/nodes/{node_id}/move', tag },
  mcp: { tool: 'svc_move_node', title: 'Move node to another organization', more: 'svc_get_node' },
});
