import { z } from 'zod';
import { Done, ExpectedVersion, Id, Name, Text } from '../common.js';
import { LIMITS } from '../limits.js';
import { command } from '../operation.js';
import { ActorRef } from './actors.js';

/** A duty of a node with the actors who answer for it. */
export const Responsibility = z.strictObject({
  id: Id,
  title: z.string(),
  description: z.string(),
  assignees: z.array(ActorRef),
});

/** A data source or tool. */
export const Link = z.strictObject({ id: Id, name: z.string(), url: z.string().nullable() });

const nodeId = { node_id: Id };
const tag = 'Nodes';

/** Changes of what a node carries raise its version; the optional version is the node's. */
const ofVersion = {
  expected_version: ExpectedVersion.describe(
    'Version of the node that the change is based on; a stale version fails with CONFLICT.',
  ),
};
const linkInput = {
  name: Name,
  url: z.string().max(LIMITS.urlLength).nullable().default(null).describe('http, https or mailto.'),
};

export const addResponsibility = command({
  name: 'add_responsibility',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write' },
  doc: 'Add a responsibility at the end of a project, process or area.',
  input: z.strictObject({
    ...nodeId,
    title: Name,
    description: Text.default(''),
    assignee_ids: z
      .array(Id)
      .max(LIMITS.assigneesPerResponsibility)
      .default([])
      .describe('Actors who hold it; duplicates are ignored.'),
    ...ofVersion,
  }),
  output: Responsibility,
  errors: ['NODE_NOT_FOUND', 'ACTOR_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/nodes/{node_id}/responsibilities', status: 201, tag },
  mcp: { tool: 'svc_add_responsibility', title: 'Add responsibility', additive: true },
});

export const updateResponsibility = command({
  name: 'update_responsibility',
  owner: 'graph',
  tier: 'manage',
  reach: { responsibility_id: 'write' },
  idempotent: true,
  doc: 'Change a responsibility; assignee_ids replaces all assignees.',
  input: z.strictObject({
    responsibility_id: Id,
    title: Name.optional(),
    description: Text.optional(),
    assignee_ids: z.array(Id).max(LIMITS.assigneesPerResponsibility).optional(),
    ...ofVersion,
  }),
  output: Responsibility,
  errors: ['RESPONSIBILITY_NOT_FOUND', 'ACTOR_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'PATCH', path: '/responsibilities/{responsibility_id}', tag },
  mcp: { tool: 'svc_update_responsibility', title: 'Update responsibility' },
});

export const removeResponsibility = command({
  name: 'remove_responsibility',
  owner: 'graph',
  tier: 'manage',
  reach: { responsibility_id: 'write' },
  idempotent: true,
  doc: 'Remove a responsibility.',
  input: z.strictObject({ responsibility_id: Id, ...ofVersion }),
  output: Done,
  errors: ['RESPONSIBILITY_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'DELETE', path: '/responsibilities/{responsibility_id}', tag },
  mcp: { tool: 'svc_remove_responsibility', title: 'Remove responsibility' },
});

export const reorderResponsibilities = command({
  name: 'reorder_responsibilities',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write', responsibility_ids: 'free' },
  idempotent: true,
  doc: 'Reorder the responsibilities of a node; name each of them exactly once.',
  input: z.strictObject({ ...nodeId, responsibility_ids: z.array(Id).max(1_000), ...ofVersion }),
  output: z.strictObject({ responsibilities: z.array(Responsibility) }),
  errors: ['NODE_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'PUT', path: '/nodes/{node_id}/responsibilities/order', tag },
  mcp: { tool: 'svc_reorder_responsibilities', title: 'Reorder responsibilities' },
});

export const addDataSource = command({
  name: 'add_data_source',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write' },
  doc: 'Add a data source to a project, process or area.',
  input: z.strictObject({ ...nodeId, ...linkInput, ...ofVersion }),
  output: Link,
  errors: ['NODE_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/nodes/{node_id}/data-sources', status: 201, tag },
  mcp: { tool: 'svc_add_data_source', title: 'Add data source', additive: true },
});

export const removeDataSource = command({
  name: 'remove_data_source',
  owner: 'graph',
  tier: 'manage',
  reach: { data_source_id: 'write' },
  idempotent: true,
  doc: 'Remove a data source.',
  input: z.strictObject({ data_source_id: Id, ...ofVersion }),
  output: Done,
  errors: ['LINK_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'DELETE', path: '/data-sources/{data_source_id}', tag },
  mcp: { tool: 'svc_remove_data_source', title: 'Remove data source' },
});

export const addTool = command({
  name: 'add_tool',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'write' },
  doc: 'Add a tool to a project, process or area.',
  input: z.strictObject({ ...nodeId, ...linkInput, ...ofVersion }),
  output: Link,
  errors: ['NODE_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/nodes/{node_id}/tools', status: 201, tag },
  mcp: { tool: 'svc_add_tool', title: 'Add tool', additive: true },
});

export const removeTool = command({
  name: 'remove_tool',
  owner: 'graph',
  tier: 'manage',
  reach: { tool_id: 'write' },
  idempotent: true,
  doc: 'Remove a tool.',
  input: z.strictObject({ tool_id: Id, ...ofVersion }),
  output: Done,
  errors: ['LINK_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'DELETE', path: '/tools/{tool_id}', tag },
  mcp: { tool: 'svc_remove_tool', title: 'Remove tool' },
});
