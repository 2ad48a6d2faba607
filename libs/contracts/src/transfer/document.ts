import { z } from 'zod';
import { Scope, Via } from '../caller.js';
import { Coordinate, Email, Id, Name, plainText, SaidText, Text, Timestamp, Version } from '../common.js';
import { FilePath, Sha256 } from '../files/file.js';
import {
  AccessLevel,
  ActorType,
  EventKind,
  EventStatus,
  Health,
  Lifecycle,
  NodeType,
  Relation,
  Visibility,
} from '../graph/vocabulary.js';
import { LIMITS } from '../limits.js';

export const DOCUMENT_FORMAT = 'workspace-graph/1';

/** Names a record within a document and across imports; an exported record without one of its own carries its id. */
const Key = plainText(300).min(1, 'must not be empty').describe('Key of the record; references use it.');

/** What only a complete backup carries; a new record takes it over, an existing one keeps its own. */
const record = {
  id: Id.optional(),
  version: Version.optional(),
  created_at: Timestamp.optional(),
  updated_at: Timestamp.optional(),
};

const DocumentLink = z.strictObject({
  id: Id.optional(),
  name: Name,
  url: z.string().max(LIMITS.urlLength).nullable().default(null),
});

export const DocumentActor = z.strictObject({
  key: Key,
  type: ActorType,
  name: Name,
  user: Key.nullable().optional(),
  ...record,
});

export const DocumentNode = z.strictObject({
  key: Key,
  type: NodeType,
  name: Name,
  description: Text.optional(),
  goal: Text.optional(),
  organization: Key.nullable()
    .optional()
    .describe('Key of the organization; required unless the node is an organization.'),
  lifecycle: Lifecycle.optional(),
  lifecycle_before_archive: Lifecycle.nullable().optional(),
  health: Health.optional(),
  health_note: Text.nullable().optional(),
  health_by: Key.nullable().optional(),
  health_at: Timestamp.nullable().optional(),
  owner: Key.nullable().optional().describe('Key of an actor.'),
  responsibilities: z
    .array(
      z.strictObject({
        id: Id.optional(),
        title: Name,
        description: Text.default(''),
        assignees: z.array(Key).max(LIMITS.assigneesPerResponsibility).default([]),
      }),
    )
    .optional(),
  data_sources: z.array(DocumentLink).optional(),
  tools: z.array(DocumentLink).optional(),
  folder: plainText(1_000).optional().describe('Folder of its files beside the document; informative, not read.'),
  sync_key: z
    .string()
    .max(100)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must consist of a-z and 0-9, with - between words')
    .optional(),
  sharing: z
    .strictObject({
      visibility: Visibility,
      recipients: z
        .array(z.strictObject({ user: Key.optional(), group: Key.optional(), access: AccessLevel }))
        .max(LIMITS.recipientsPerNode)
        .default([]),
    })
    .nullable()
    .optional()
    .describe('Own sharing; null inherits, a missing field does not change an existing node.'),
  position: z.tuple([Coordinate, Coordinate]).nullable().optional(),
  membership: z
    .strictObject({ id: Id, created_by: Key.nullable(), created_at: Timestamp })
    .optional()
    .describe('The edge to the organization.'),
  created_by: Key.nullable().optional(),
  ...record,
});

export const DocumentEdge = z.strictObject({
  from: Key,
  to: Key,
  relation: Relation,
  id: Id.optional(),
  created_by: Key.nullable().optional(),
  created_at: Timestamp.optional(),
});

export const DocumentEvent = z.strictObject({
  key: Key.optional().describe('Events without a key are one event when they are equal.'),
  node: Key,
  kind: EventKind,
  content: SaidText,
  occurred_at: Timestamp,
  status: EventStatus.optional(),
  resolution: Text.nullable().optional(),
  resolved_at: Timestamp.nullable().optional(),
  resolved_by: Key.nullable().optional(),
  supersedes: Key.nullable().optional().describe('Key of the event that this one replaces.'),
  logged_at: Timestamp.optional(),
  logged_by: Key.nullable().optional(),
  id: Id.optional(),
  version: Version.optional(),
});

/** What is known of a file; its bytes are beside the document. A file that is there already keeps its own record. */
export const DocumentFile = z.strictObject({
  node: Key,
  path: FilePath,
  sha256: Sha256.nullable().default(null),
  size_bytes: z.int().nonnegative().nullable().default(null),
  mime_type: plainText(200).min(1, 'must not be empty'),
  modified_at: Timestamp.nullable().default(null),
  remote_name: plainText(200).nullable().default(null),
  current_remote_hash: plainText(1_000).nullable().default(null),
  last_pushed_at: Timestamp.nullable().default(null),
  is_native_format: z.boolean().default(false),
  created_by: Key.nullable().optional(),
  updated_by: Key.nullable().optional(),
  ...record,
});

const DocumentUser = z.strictObject({
  key: Key,
  name: Name,
  external_id: plainText(500).nullable().default(null),
  email: Email.nullable().default(null),
  handle: Name.nullable().default(null),
  max_scope: Scope,
  claim_scope: Scope.nullable().default(null),
  disabled_at: Timestamp.nullable().default(null),
  ...record,
});

const DocumentGroup = z.strictObject({
  key: Key,
  name: Name,
  claim: plainText(500).nullable().default(null),
  members: z.array(z.strictObject({ user: Key, source: z.enum(['manual', 'claim']).default('manual') })).default([]),
  ...record,
});

const DocumentAccessRequest = z.strictObject({
  id: Id,
  node_id: Id,
  user: Key,
  access: AccessLevel,
  reason: Text.max(LIMITS.reasonLength),
  state: z.enum(['pending', 'approved', 'refused', 'withdrawn']),
  requested_at: Timestamp,
  decided_at: Timestamp.nullable(),
  decided_by: Key.nullable(),
  decision_note: Text.max(LIMITS.reasonLength).nullable(),
});

/** JSON that the database can hold: no NUL and no half of a surrogate pair anywhere in it. */
const StorableRecord = z.record(z.string(), z.unknown()).refine((value) => {
  const text = JSON.stringify(value);
  return !/\\u0000|\\ud[89a-f][0-9a-f]{2}/i.test(text.replaceAll('\\\\', ''));
}, 'must not contain NUL characters or broken Unicode text');

const DocumentAudit = z.strictObject({
  id: Id,
  at: Timestamp,
  user: Key.nullable(),
  via: Via,
  action: plainText(200),
  target_kind: plainText(200),
  target_id: Id.nullable(),
  before: StorableRecord.nullable(),
  after: StorableRecord.nullable(),
  request_id: plainText(200),
});

/** The import and export format. Only `format` and `nodes` are needed; an export fills everything. */
export const GraphDocument = z.strictObject({
  format: z.literal(DOCUMENT_FORMAT, { error: `must be "${DOCUMENT_FORMAT}"` }),
  source: plainText(2_000).optional().describe('Origin of the document; for people.'),
  users: z.array(DocumentUser).default([]),
  groups: z.array(DocumentGroup).default([]),
  actors: z.array(DocumentActor).default([]),
  nodes: z.array(DocumentNode),
  edges: z.array(DocumentEdge).default([]).describe('All edges except those to the organizations.'),
  events: z.array(DocumentEvent).default([]),
  files: z.array(DocumentFile).default([]).describe('Tracked files, without their bytes.'),
  access_requests: z.array(DocumentAccessRequest).default([]),
  audit: z.array(DocumentAudit).default([]),
});
export type GraphDocument = z.output<typeof GraphDocument>;
