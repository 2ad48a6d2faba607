import { z } from 'zod';
import { ExpectedVersion, Id, listOf, page, paging, SaidText, Text, Timestamp } from '../common.js';
import { command, query } from '../operation.js';
import { EventKind, EventStatus } from './vocabulary.js';

/** An entry on the timeline of a node. */
export const GraphEvent = z.strictObject({
  id: Id,
  node_id: Id,
  kind: EventKind,
  status: EventStatus,
  content: z.string(),
  occurred_at: Timestamp.describe('When it happened; editable.'),
  logged_at: Timestamp.describe('When it was recorded; never changes.'),
  logged_by: z.string().nullable().describe('Name of the user who recorded it.'),
  resolution: z.string().nullable().describe('How it was resolved.'),
  resolved_at: Timestamp.nullable(),
  resolved_by: z.string().nullable().describe('Name of the user who resolved it.'),
  supersedes_id: Id.nullable(),
  superseded_by_id: Id.nullable(),
  version: z.int(),
});
export type GraphEvent = z.infer<typeof GraphEvent>;

/** An event beside those of other nodes, with what its node goes by. */
export const ListedEvent = z.strictObject({
  ...GraphEvent.shape,
  node_name: z.string(),
  node_path: z
    .string()
    .nullable()
    .describe('Path that calls accept in place of the node id; null when the caller does not see its organization.'),
});
export type ListedEvent = z.infer<typeof ListedEvent>;

const eventId = { event_id: Id };
const tag = 'Events';

export const logEvent = command({
  name: 'log',
  owner: 'graph',
  tier: 'write',
  reach: { node_id: 'write' },
  doc: 'Record a decision, discovery, blocker, reference, milestone, note or change on the timeline of a node.',
  input: z.strictObject({
    node_id: Id,
    kind: EventKind,
    content: SaidText,
    occurred_at: Timestamp.optional().describe('Defaults to now.'),
  }),
  output: GraphEvent,
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'POST', path: '/nodes/{node_id}/events', status: 201, tag },
  mcp: { tool: 'svc_log', title: 'Log event', additive: true },
});

export const listEvents = query({
  name: 'list_events',
  owner: 'graph',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'List events, newest first, of one node or of all nodes you may see. Omits archived and superseded events unless status includes them.',
  input: z.strictObject({
    node_id: Id.optional(),
    kind: listOf(EventKind).optional(),
    status: listOf(EventStatus).optional(),
    from: Timestamp.optional().describe('Earliest occurred_at.'),
    to: Timestamp.optional().describe('Latest occurred_at, exclusive.'),
    ...paging,
  }),
  output: page(ListedEvent),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/events', tag },
  mcp: { tool: 'svc_list_events', title: 'List events', more: 'svc_get_event for a long one' },
});

export const getEvent = query({
  name: 'get_event',
  owner: 'graph',
  tier: 'read',
  reach: { event_id: 'read' },
  doc: 'Read one event.',
  input: z.strictObject(eventId),
  output: ListedEvent,
  errors: ['EVENT_NOT_FOUND'],
  rest: { method: 'GET', path: '/events/{event_id}', tag },
  mcp: { tool: 'svc_get_event', title: 'Read event' },
});

export const editEvent = command({
  name: 'edit_event',
  owner: 'graph',
  tier: 'write',
  reach: { event_id: 'write' },
  idempotent: true,
  doc: 'Correct the kind, content or time of an event.',
  input: z.strictObject({
    ...eventId,
    kind: EventKind.optional(),
    content: SaidText.optional(),
    occurred_at: Timestamp.optional(),
    expected_version: ExpectedVersion,
  }),
  output: GraphEvent,
  errors: ['EVENT_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'PATCH', path: '/events/{event_id}', tag },
  mcp: { tool: 'svc_edit_event', title: 'Edit event' },
});

export const resolveEvent = command({
  name: 'resolve_event',
  owner: 'graph',
  tier: 'write',
  reach: { event_id: 'write' },
  idempotent: true,
  doc: 'Mark an active event as resolved, with an optional resolution.',
  input: z.strictObject({ ...eventId, resolution: Text.optional(), expected_version: ExpectedVersion }),
  output: GraphEvent,
  errors: ['EVENT_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/events/{event_id}/resolve', tag },
  mcp: { tool: 'svc_resolve_event', title: 'Resolve event' },
});

export const supersedeEvent = command({
  name: 'supersede_event',
  owner: 'graph',
  tier: 'write',
  reach: { event_id: 'write' },
  doc: 'Replace an active or resolved event with a new one; both refer to each other.',
  input: z.strictObject({
    ...eventId,
    content: SaidText,
    kind: EventKind.optional().describe('Defaults to the kind of the old event.'),
    occurred_at: Timestamp.optional(),
    expected_version: ExpectedVersion,
  }),
  output: GraphEvent.describe('The new event.'),
  errors: ['EVENT_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/events/{event_id}/supersede', status: 201, tag },
  mcp: { tool: 'svc_supersede_event', title: 'Supersede event' },
});

export const archiveEvent = command({
  name: 'archive_event',
  owner: 'graph',
  tier: 'write',
  reach: { event_id: 'write' },
  idempotent: true,
  doc: 'Archive an event: lists omit it unless status includes archived events.',
  input: z.strictObject({ ...eventId, expected_version: ExpectedVersion }),
  output: GraphEvent,
  errors: ['EVENT_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/events/{event_id}/archive', tag },
  mcp: { tool: 'svc_archive_event', title: 'Archive event' },
});
