import { z } from 'zod';
import { Confirmed, Done, Id, plainText, Timestamp } from '../common.js';
import { NodeType } from '../graph/vocabulary.js';
import { LIMITS } from '../limits.js';
import { command, type Operation, query } from '../operation.js';
import { FileName, FilePath, FileStatus, LocalPath, PathText, Section, Sha256, Subpath } from './file.js';
import { HASH_KINDS, RemoteName, RemoteType } from './remote-config.js';
import { pullFiles, storeFiles } from './transfer-batches.js';

/**
 * Operations on the organization's remote storage. Those about the remotes themselves belong to the file service, those
 * that touch a folder to the device that has it. A local workspace has no remote and refuses each but the lists.
 */

const tag = 'Remotes';
const FILES_TAG = 'Files';
/** Bytes move meanwhile, as many as there are. */
const TRANSFER_MS = 24 * 3_600_000;
/** The shape of these answers is part of the transfer of files. */
const Answer = z.record(z.string(), z.unknown());

export const RemoteGrade = z.strictObject({
  conditions: z
    .enum(['atomic', 'captured', 'checked'])
    .describe(
      'Who makes sure that nothing is overwritten unseen: atomic, the storage itself; captured, what is displaced is compared and put back; checked, it is looked at before, and writes to one file are let in one by one.',
    ),
  listing: z.enum(['immediate', 'delayed']).describe('Whether a listing shows at once what was just written.'),
  case_sensitive: z.boolean(),
  hashes: z.array(z.enum(HASH_KINDS)).describe('Hashes of contents that a listing tells.'),
  server_side_copy: z.boolean(),
  trash_days: z.int().nullable().describe('Days for which the storage keeps what is deleted; null for none.'),
  graded_at: Timestamp,
});
export type RemoteGrade = z.infer<typeof RemoteGrade>;

export const RemoteSummary = z.strictObject({
  name: z.string(),
  type: RemoteType,
  authenticated: z.boolean().describe('Whether the credentials that it needs are there; always true for a folder.'),
  grade: RemoteGrade.describe('What the storage was found to guarantee when it was last tried.'),
});
export type RemoteSummary = z.infer<typeof RemoteSummary>;

export const listRemotes = query({
  name: 'list_remotes',
  owner: 'file',
  tier: 'read',
  reach: {},
  doc: 'List the remote storages, whether their credentials are there, and what each guarantees. A local workspace has none.',
  input: z.strictObject({}),
  output: z.strictObject({ remotes: z.array(RemoteSummary) }),
  rest: { method: 'GET', path: '/remotes', tag },
  mcp: { tool: 'svc_list_remotes', title: 'List remotes' },
});

export const setupRemote = command({
  name: 'setup_remote',
  owner: 'file',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Set up a remote storage, or replace its configuration, after trying what it guarantees. Credentials that are left out stay as they are. Central workspaces only.',
  input: z.strictObject({
    name: RemoteName,
    type: RemoteType,
    config: z
      .record(z.string().max(100), z.union([plainText(2_000), z.number(), z.boolean()]))
      .describe('Where the storage is; docs/remotes.md lists the fields of each type.'),
    credentials: z
      .record(z.string().max(100), plainText(20_000))
      .optional()
      .describe('Kept in the token store, never in the database.'),
    service_account_json: plainText(20_000).optional().describe('Credentials of the type drive.'),
    confirmed: Confirmed,
  }),
  output: z.strictObject({
    applied: z.boolean(),
    remote: RemoteSummary,
    root: z.enum(['new', 'known']).describe('Whether its root had been this remote before.'),
    files: z
      .int()
      .describe('Files that are recorded on this remote. Another root needs confirmed: true if there are any.'),
  }),
  errors: ['LOCAL_MODE_NO_REMOTE', 'CONFLICT', 'REMOTE_REFUSED', 'REMOTE_UNAVAILABLE', 'STORAGE_FULL'],
  timeoutMs: 120_000,
  rest: { method: 'PUT', path: '/remotes/{name}', tag },
  mcp: { tool: 'svc_setup_remote', title: 'Set up a remote' },
});

export const testRemote = command({
  name: 'test_remote',
  owner: 'file',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Try what a remote storage guarantees, and store it. Central workspaces only.',
  input: z.strictObject({ name: RemoteName }),
  output: RemoteSummary,
  errors: [
    'LOCAL_MODE_NO_REMOTE',
    'REMOTE_NOT_FOUND',
    'CONFLICT',
    'REMOTE_REFUSED',
    'REMOTE_UNAVAILABLE',
    'STORAGE_FULL',
  ],
  timeoutMs: 120_000,
  rest: { method: 'POST', path: '/remotes/{name}/test', tag },
});

export const removeRemote = command({
  name: 'remove_remote',
  owner: 'file',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Forget a remote storage and its credentials; nothing on it is changed. Refused while rules or files use it. Central workspaces only.',
  input: z.strictObject({ name: RemoteName }),
  output: Done,
  errors: ['LOCAL_MODE_NO_REMOTE', 'REMOTE_NOT_FOUND', 'IN_USE'],
  rest: { method: 'DELETE', path: '/remotes/{name}', tag },
});

export const RoutingRule = z.strictObject({
  priority: z.int().min(-1_000_000).max(1_000_000).describe('The lowest wins; 100 is usual, 10 for exceptions.'),
  node_type: NodeType.nullable().describe('Null matches any type.'),
  org_slug: plainText(200).nullable().describe('sync_key of an organization; null matches any.'),
  remote_name: RemoteName,
});
export type RoutingRule = z.infer<typeof RoutingRule>;

export const listRoutingRules = query({
  name: 'list_routing_rules',
  owner: 'file',
  tier: 'manage',
  reach: {},
  doc: 'List the rules that decide which remote storage holds the files of which nodes, in the order in which they are tried.',
  input: z.strictObject({}),
  output: z.strictObject({ rules: z.array(RoutingRule) }),
  rest: { method: 'GET', path: '/routing-policy', tag },
});

export const setRoutingPolicy = command({
  name: 'set_routing_policy',
  owner: 'file',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Replace all rules that decide which remote storage holds the files of which nodes. Central workspaces only.',
  input: z.strictObject({ rules: z.array(RoutingRule).max(LIMITS.routingRules) }),
  output: z.strictObject({ count: z.int() }),
  errors: ['LOCAL_MODE_NO_REMOTE'],
  rest: { method: 'PUT', path: '/routing-policy', tag },
  mcp: { tool: 'svc_set_routing_policy', title: 'Replace routing rules' },
});

export const storeFile = command({
  name: 'store_file',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Copy a file of this device into the folder of a node, where it is not there already, and upload it. What differs on the remote from what this device has last seen of it is CONFLICT: pull it first. Central workspaces only.',
  input: z.strictObject({
    node_id: Id,
    local_path: PathText.describe('Absolute path of the file.'),
    status: FileStatus.optional().describe('For a file outside the folder of the node. Default: wip.'),
    subpath: Subpath.optional(),
  }),
  output: z.strictObject({
    file_id: Id,
    remote_name: z.string(),
    remote_path: z.string(),
    local_path: LocalPath.nullable(),
    hash: Sha256,
  }),
  errors: [
    'LOCAL_MODE_NO_REMOTE',
    'NODE_NOT_FOUND',
    'NO_MIRROR',
    'NO_REMOTE',
    'FILE_NOT_FOUND',
    'DESTINATION_EXISTS',
    'CONFLICT',
    'REMOTE_REFUSED',
    'REMOTE_UNAVAILABLE',
    'STORAGE_FULL',
  ],
  timeoutMs: TRANSFER_MS,
  rest: { method: 'POST', path: '/nodes/{node_id}/files/store', tag: FILES_TAG },
  mcp: { tool: 'svc_store', title: 'Store file' },
});

/** What pulling a file would do. */
export const PULL_CLASSES = ['unchanged', 'updated', 'conflict', 'remote_missing', 'remote_error', 'native'] as const;

export const pullFile = command({
  name: 'pull_file',
  owner: 'device',
  tier: 'write',
  reach: { file_id: 'write', node_id: 'write' },
  idempotent: true,
  doc: 'With file_id, download what the remote has of a file into the folder of its node; a change here that was not uploaded is CONFLICT without force, and with it goes to the trash. With node_id, preview that for each file of the node that was uploaded, and change nothing. Central workspaces only.',
  input: z.strictObject({ file_id: Id.optional(), node_id: Id.optional(), force: z.boolean().default(false) }),
  output: z.strictObject({
    pulled: z
      .strictObject({
        file_id: Id,
        local_path: LocalPath.nullable(),
        hash: Sha256,
        changed: z.boolean().describe('False when the content was there already.'),
      })
      .nullable()
      .describe('With file_id.'),
    preview: z
      .strictObject({
        node_id: Id,
        files: z.array(
          z.strictObject({
            file_id: Id,
            path: FilePath,
            class: z.enum(PULL_CLASSES),
            message: z.string().optional().describe('Why the remote does not tell, or what is in conflict.'),
            deleted_here: z
              .boolean()
              .optional()
              .describe(
                'True for a file that was deleted here, and is on the remote as it was: a pull brings it back.',
              ),
          }),
        ),
        complete: z.boolean().describe(`False for a node with more than ${LIMITS.filesMax} uploaded files.`),
      })
      .nullable()
      .describe('With node_id.'),
  }),
  errors: [
    'LOCAL_MODE_NO_REMOTE',
    'NODE_NOT_FOUND',
    'NO_MIRROR',
    'NO_REMOTE',
    'FILE_NOT_FOUND',
    'NATIVE_FORMAT',
    'CONFLICT',
    'REMOTE_REFUSED',
    'REMOTE_UNAVAILABLE',
    'STORAGE_FULL',
  ],
  timeoutMs: TRANSFER_MS,
  rest: { method: 'POST', path: '/files/pull', tag: FILES_TAG },
  mcp: { tool: 'svc_pull', title: 'Pull file' },
});

/** Formats in which a document of a cloud service can be had as a file. */
export const EXPORT_FORMATS = ['pdf', 'markdown', 'docx'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const snapshotDocument = command({
  name: 'snapshot_document',
  owner: 'device',
  atCentre: true,
  tier: 'write',
  reach: { node_id: 'write' },
  doc: 'Export a document of a cloud service, such as Google Docs, as a file of a node. The document lies in the folder of a node that you see, on a remote of the organization. An existing file is never overwritten. Central workspaces only.',
  input: z.strictObject({
    node_id: Id.describe('The node that gets the file.'),
    doc_url: z
      .string()
      .max(LIMITS.urlLength)
      .regex(/\/d\/[A-Za-z0-9_-]+(?:[/?#]|$)/, 'must be the address of a document: it contains /d/ID/')
      .describe('Address of the document; it contains /d/ID/.'),
    format: z.enum(EXPORT_FORMATS).default('pdf').describe('A spreadsheet, presentation or drawing can only be a pdf.'),
    filename: FileName.optional().describe('With its extension. Default: snapshot-TIME, with that of the format.'),
    section: Section.default('wip'),
    subpath: Subpath.nullable().optional(),
  }),
  output: z.strictObject({
    file_id: Id,
    filename: z.string(),
    remote_path: z.string(),
    local_path: LocalPath.nullable(),
  }),
  errors: [
    'LOCAL_MODE_NO_REMOTE',
    'NODE_NOT_FOUND',
    'FILE_NOT_FOUND',
    'NO_REMOTE',
    'DESTINATION_EXISTS',
    'REMOTE_REFUSED',
    'REMOTE_UNAVAILABLE',
    'STORAGE_FULL',
  ],
  timeoutMs: 120_000,
  rest: { method: 'POST', path: '/nodes/{node_id}/files/snapshot', tag: FILES_TAG },
  mcp: { tool: 'svc_snapshot', title: 'Snapshot a cloud document', additive: true },
});

export const syncNode = command({
  name: 'sync_node',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Synchronize the folder of a node with its remote storage. Central workspaces only.',
  input: z.strictObject({ node_id: Id }),
  output: Answer,
  errors: ['LOCAL_MODE_NO_REMOTE'],
  rest: { method: 'POST', path: '/nodes/{node_id}/sync', tag },
});

export const resolveFile = command({
  name: 'resolve_file',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write', file_id: 'write' },
  doc: 'Resolve a conflict: a file that differs here and on its remote storage. Central workspaces only.',
  input: z.strictObject({
    node_id: Id,
    file_id: Id,
    action: z.enum(['keep_local', 'take_remote', 'restore']),
  }),
  output: Answer,
  errors: ['LOCAL_MODE_NO_REMOTE'],
  rest: { method: 'POST', path: '/nodes/{node_id}/files/{file_id}/resolve', tag },
});

/** What a local workspace refuses with LOCAL_MODE_NO_REMOTE, all of it before anything else is looked at. */
export const REMOTE_OPERATIONS: readonly Operation[] = [
  setupRemote,
  testRemote,
  removeRemote,
  setRoutingPolicy,
  storeFile,
  storeFiles,
  pullFile,
  pullFiles,
  snapshotDocument,
  syncNode,
  resolveFile,
];
