import { z } from 'zod';
import { Confirmed, Id, page, paging } from '../common.js';
import { command, query } from '../operation.js';
import { changed } from './access-preview.js';
import { NodeEdge, NodeRef } from './nodes.js';
import { Relation } from './vocabulary.js';

export const Edge = z.strictObject({ id: Id, source: NodeRef, target: NodeRef, relation: Relation });
export type Edge = z.infer<typeof Edge>;

const tag = 'Edges';

export const connect = command({
  name: 'connect',
  owner: 'graph',
  tier: 'manage',
  reach: { source_id: 'write', target_id: 'write' },
  idempotent: true,
  doc: 'Join two nodes by a directed edge. belongs_to passes sharing on: what would widen access answers a preview and waits for confirmed: true. A node changes its organization with move_node, not here.',
  input: z.strictObject({ source_id: Id, target_id: Id, relation: Relation, confirmed: Confirmed }),
  output: changed('edge', Edge.nullable()),
  errors: ['NODE_NOT_FOUND', 'EDGE_EXISTS', 'EDGE_CYCLE', 'ORG_INVARIANT'],
  timeoutMs: 30_000,
  rest: { method: 'POST', path: '/edges', status: 201, tag },
  mcp: { tool: 'svc_connect', title: 'Connect nodes', additive: true },
});

export const disconnect = command({
  name: 'disconnect',
  owner: 'graph',
  tier: 'manage',
  reach: { edge_id: 'write' },
  idempotent: true,
  doc: 'Remove an edge. The belongs_to edge from a node to its organization cannot be removed; move_node changes it.',
  input: z.strictObject({ edge_id: Id, confirmed: Confirmed }),
  output: changed('edge', Edge),
  errors: ['EDGE_NOT_FOUND', 'ORG_INVARIANT'],
  timeoutMs: 30_000,
  rest: { method: 'DELETE', path: '/edges/{edge_id}', tag },
  mcp: { tool: 'svc_disconnect', title: 'Disconnect nodes' },
});

export const listEdges = query({
  name: 'list_edges',
  owner: 'graph',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'List the edges of a node: outgoing before incoming, then by relation, oldest neighbour first.',
  input: z.strictObject({
    node_id: Id,
    direction: z.enum(['outgoing', 'incoming']).optional(),
    relation: Relation.optional(),
    ...paging,
  }),
  output: page(NodeEdge),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/nodes/{node_id}/edges', tag },
  mcp: { tool: 'svc_list_edges', title: 'List edges' },
});
