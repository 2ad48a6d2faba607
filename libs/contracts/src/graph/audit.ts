import { z } from 'zod';
import { Id, page, paging, Query, Timestamp } from '../common.js';
import { query } from '../operation.js';

/** What a line of the audit trail is about, in the history of a node. */
export const AuditAbout = z.enum(['node', 'responsibility', 'link', 'edge', 'event', 'file', 'session', 'access']);

export const AuditEntry = z.strictObject({
  id: Id,
  at: Timestamp,
  user: z.strictObject({ id: Id, name: z.string() }).nullable().describe('Null for the system itself.'),
  via: z.string(),
  action: z.string().describe('Name of the operation.'),
  target_kind: z.string(),
  target_id: Id.nullable(),
  target_name: z
    .string()
    .nullable()
    .describe(
      'Name, title, path or beginning of the text of the target, as the change left it, or as it is now or was last. Null where none is known.',
    ),
  before: z.record(z.string(), z.unknown()).nullable().describe('Changed fields as they were.'),
  after: z.record(z.string(), z.unknown()).nullable().describe('Changed fields as they became.'),
  request_id: z.string(),
  session: z
    .strictObject({
      id: Id,
      seq: z.int().nullable().describe('Of the call in its log; null when the session is gone.'),
    })
    .nullable()
    .describe('The session of the agent that did it.'),
});

export const listAudit = query({
  name: 'list_audit',
  owner: 'graph',
  tier: 'manage',
  reach: { node_id: 'read', target_id: 'read' },
  doc: 'Read the audit trail, newest first. In a session, of the nodes that it holds.',
  input: z.strictObject({
    node_id: Id.optional().describe(
      'Everything that concerns this node: also its responsibilities, links, edges, events, files, sessions and requests for access.',
    ),
    about: AuditAbout.optional().describe('With node_id: what the change is about. `access` is sharing and requests.'),
    target_id: Id.optional(),
    user_id: Id.optional(),
    action: Query.optional(),
    from: Timestamp.optional(),
    to: Timestamp.optional(),
    ...paging,
  }),
  output: page(AuditEntry),
  rest: { method: 'GET', path: '/audit', tag: 'Administration' },
  mcp: { tool: 'svc_list_audit', title: 'Read the audit trail' },
});
