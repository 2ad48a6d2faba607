import { z } from 'zod';
import { Done, Id, page, Timestamp, Version } from '../common.js';
import { ERRORS, type ErrorCode } from '../errors.js';
import { NodeType } from '../graph/vocabulary.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { FilePath, FileRecord, FileStatus, Sha256 } from './file.js';

/**
 * What a device asks of the file service: the records of files, which the whole organization shares. No bytes pass
 * here. Every operation acts for the caller in its envelope, who sees what that person sees now.
 */

/** A node as a place for files. */
export const NodePlace = z.strictObject({
  node_id: Id,
  type: NodeType,
  name: z.string(),
  sync_key: z.string(),
  organization_sync_key: z
    .string()
    .nullable()
    .describe('Null for an organization, and when the caller does not see the organization.'),
  level: z.enum(['read', 'write']).describe('What the caller may do on the node.'),
});
export type NodePlace = z.infer<typeof NodePlace>;

export const findPlaces = query({
  name: 'find_places',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'Return where the files of nodes belong. Omits nodes that the caller does not see.',
  input: z.strictObject({
    node_ids: z.array(Id).max(LIMITS.filesPerChange),
    held: z.boolean().default(false).describe('Also omit nodes that the session of the caller does not hold.'),
  }),
  output: z.strictObject({ places: z.array(NodePlace) }),
});

/** A record with the node it belongs to. */
export const PlacedFile = z.strictObject({ file: FileRecord, place: NodePlace });
export type PlacedFile = z.infer<typeof PlacedFile>;

export const findFiles = query({
  name: 'find_files',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'Read files by id, or by node and path. Omits files of nodes that the caller does not see.',
  input: z.strictObject({
    ids: z.array(Id).max(LIMITS.filesPerChange).default([]),
    paths: z
      .array(z.strictObject({ node_id: Id, path: FilePath }))
      .max(LIMITS.filesPerChange)
      .default([]),
  }),
  output: z.strictObject({ files: z.array(PlacedFile) }),
});

export const queryFiles = query({
  name: 'query_files',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'List files, newest first, of one node, of the home node and its neighbours, or of everything visible.',
  input: z.strictObject({
    node_id: Id.optional(),
    status: FileStatus.optional(),
    limit: z.int().min(1).max(LIMITS.filesMax).default(LIMITS.filesDefault),
    cursor: z.string().max(LIMITS.cursorLength).optional(),
  }),
  output: page(PlacedFile),
  errors: ['NODE_NOT_FOUND'],
});

export const listNodeRecords = query({
  name: 'list_node_records',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'List all records of one node by id, to compare them with its folder.',
  input: z.strictObject({
    node_id: Id,
    after: Id.optional().describe('Id of the last record of the previous page.'),
    limit: z.int().min(1).max(10_000).default(5_000),
  }),
  output: z.strictObject({ files: z.array(FileRecord) }),
  errors: ['NODE_NOT_FOUND'],
  timeoutMs: 30_000,
});

export const findRemovedFiles = query({
  name: 'find_removed_files',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'Tell which of these files were deleted from the node or moved to another one. Omits files whose records were lost in another way.',
  input: z.strictObject({ node_id: Id, ids: z.array(Id).min(1).max(LIMITS.filesPerChange) }),
  output: z.strictObject({ ids: z.array(Id) }),
  errors: ['NODE_NOT_FOUND'],
});

const content = {
  sha256: Sha256,
  size_bytes: z.int().nonnegative(),
  mime_type: z.string().max(200),
  modified_at: Timestamp,
};

/** One change of a record. `expected_version` refuses it with CONFLICT when the record is another one by now. */
export const FileChange = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('register'),
    path: FilePath,
    ...content,
    file_id: Id.optional().describe(
      'Id of a file that was removed from this node and is restored: it keeps its id, and its version continues. Any other id is ignored.',
    ),
  }),
  z.strictObject({ kind: z.literal('update'), file_id: Id, ...content, expected_version: Version.optional() }),
  z.strictObject({
    kind: z.literal('move'),
    file_id: Id,
    node_id: Id.optional().describe('The node to move to; defaults to the node of the file.'),
    path: FilePath,
    expected_version: Version.optional(),
  }),
  z.strictObject({
    kind: z.literal('remove'),
    file_id: Id,
    tombstone: z.boolean().describe('Whether other devices remove their unchanged copies.'),
    unless_pushed: z
      .boolean()
      .optional()
      .describe('True: the record of a file that was uploaded stays as it is, and is answered.'),
    expected_version: Version.optional(),
  }),
]);
export type FileChange = z.infer<typeof FileChange>;

/** What became of one change. A record that was removed, or was gone already, is answered as null. */
export const FileChangeResult = z.union([
  z.strictObject({ file: FileRecord.nullable() }),
  z.strictObject({ refused: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]), message: z.string() }),
]);
export type FileChangeResult = z.infer<typeof FileChangeResult>;

export const applyFileChanges = command({
  name: 'apply_file_changes',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  idempotent: true,
  doc: 'Change records of one node in one transaction, in order: a path is free for the next change once its file has left it. Registering a path that has a record updates that record; a record that already has the requested state is returned unchanged.',
  input: z.strictObject({
    node_id: Id,
    action: z.string().max(100).describe('Name of the operation, as the audit trail records it.'),
    changes: z.array(FileChange).min(1).max(LIMITS.filesPerChange),
    strict: z
      .boolean()
      .describe(
        'True: one refused change refuses all of them. False: the others are applied, and the refusal is in the result.',
      ),
  }),
  output: z.strictObject({ results: z.array(FileChangeResult).describe('One for each change, in the same order.') }),
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'CONFLICT', 'DESTINATION_EXISTS', 'NATIVE_FORMAT'],
  timeoutMs: 60_000,
});

/** What is to happen to a file in several steps: noted before the first one, and gone after the last. */
export const FileIntent = z.strictObject({
  id: Id,
  file_id: Id,
  node_id: Id,
  kind: z.enum(['move', 'delete']),
  from_path: FilePath,
  to_node_id: Id.nullable(),
  to_path: FilePath.nullable(),
  sha256: Sha256.nullable().describe('Content of the file when the intent was noted.'),
  last_error: z.string().nullable(),
  attempts: z.int(),
  created_at: Timestamp,
});
export type FileIntent = z.infer<typeof FileIntent>;

export const noteFileIntents = command({
  name: 'note_file_intents',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'Record file operations before they begin, so that each is finished or rolled back after a failure.',
  input: z.strictObject({
    intents: z
      .array(FileIntent.pick({ id: true, file_id: true, kind: true, to_node_id: true, to_path: true }))
      .min(1)
      .max(LIMITS.filesPerChange),
  }),
  output: Done,
  errors: ['FILE_NOT_FOUND', 'NODE_NOT_FOUND'],
});

export const settleFileIntents = command({
  name: 'settle_file_intents',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  idempotent: true,
  doc: 'Remove intents of this device that are finished or rolled back, or record why they are not.',
  input: z.strictObject({
    outcomes: z
      .array(z.strictObject({ id: Id, error: z.string().max(2_000).nullable().describe('Null removes the intent.') }))
      .min(1)
      .max(LIMITS.filesPerChange),
  }),
  output: Done,
});

export const listFileIntents = query({
  name: 'list_file_intents',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'List the unfinished intents of this device for these nodes, oldest first.',
  input: z.strictObject({ node_ids: z.array(Id).max(LIMITS.filesPerChange) }),
  output: z.strictObject({ intents: z.array(FileIntent) }),
});
