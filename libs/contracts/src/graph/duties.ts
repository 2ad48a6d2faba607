import { z } from 'zod';
import { Id, listOf, page, paging } from '../common.js';
import { query } from '../operation.js';
import { NodeRef } from './nodes.js';
import { NodeStatus } from './vocabulary.js';

/** Something that an actor answers for. */
export const Duty = z.strictObject({
  node: NodeRef,
  role: z.enum(['owner', 'assignee']).describe('owner: of the node; assignee: of the responsibility.'),
  responsibility: z.strictObject({ id: Id, title: z.string(), description: z.string() }).nullable(),
});

export const listDuties = query({
  name: 'list_duties',
  owner: 'graph',
  tier: 'read',
  reach: {},
  doc: 'List what an actor is responsible for, as far as you may see it: nodes that it owns and responsibilities that it holds, sorted by node name. Omits archived nodes unless status includes them.',
  input: z.strictObject({ actor_id: Id, status: listOf(NodeStatus).optional(), ...paging }),
  output: page(Duty),
  errors: ['ACTOR_NOT_FOUND'],
  rest: { method: 'GET', path: '/actors/{actor_id}/duties', tag: 'Actors' },
  mcp: { tool: 'svc_list_duties', title: 'List responsibilities of an actor' },
});
