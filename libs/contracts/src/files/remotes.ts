import { z } from 'zod';
import { Id, plainText } from '../common.js';
import { NodeType } from '../graph/vocabulary.js';
import { LIMITS } from '../limits.js';
import { command, type Operation, query } from '../operation.js';
import { FileName, FileStatus, PathText, Subpath } from './file.js';

/**
 * Operations on the organization's remote storage. Those about the remotes themselves belong to the file service, those
 * that touch a folder to the device that has it. A local workspace has no remote and refuses each but the list.
 */

const tag = 'Remotes';
const RemoteName = plainText(100).min(1, 'must not be empty');
const RemoteType = z.enum(['drive', 'filehost', 'objstore', 'fs', 'webdav', 'sftp']);
/** The shape of these answers is part of the remotes themselves. */
const Answer = z.record(z.string(), z.unknown());

export const listRemotes = query({
  name: 'list_remotes',
  owner: 'file',
  tier: 'read',
  reach: {},
  doc: 'List the remote storages and whether this device has credentials for them. A local workspace has none.',
  input: z.strictObject({}),
  output: z.strictObject({
    remotes: z.array(z.strictObject({ name: z.string(), type: RemoteType, authenticated: z.boolean() })),
  }),
  rest: { method: 'GET', path: '/remotes', tag },
  mcp: { tool: 'svc_list_remotes', title: 'List remotes' },
});

export const setupRemote = command({
  name: 'setup_remote',
  owner: 'file',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Set up a remote storage, or replace its configuration. Central workspaces only.',
  input: z.strictObject({
    name: RemoteName,
    type: RemoteType,
    config: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    service_account_json: z.string().max(100_000).optional(),
  }),
  output: Answer,
  errors: ['LOCAL_MODE_NO_REMOTE'],
  mcp: { tool: 'svc_setup_remote', title: 'Set up a remote' },
});

export const setRoutingPolicy = command({
  name: 'set_routing_policy',
  owner: 'file',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Replace all rules that decide which remote storage holds the files of which nodes. Central workspaces only.',
  input: z.strictObject({
    rules: z
      .array(
        z.strictObject({
          priority: z.int(),
          node_type: NodeType.nullable(),
          org_slug: z.string().max(100).nullable(),
          remote_name: RemoteName,
        }),
      )
      .max(1_000),
  }),
  output: Answer,
  errors: ['LOCAL_MODE_NO_REMOTE'],
  mcp: { tool: 'svc_set_routing_policy', title: 'Replace routing rules' },
});

export const storeFile = command({
  name: 'store_file',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write' },
  doc: 'Copy a file of this device into the folder of a node and upload it. Central workspaces only.',
  input: z.strictObject({
    node_id: Id,
    local_path: PathText,
    status: FileStatus.optional(),
    subpath: Subpath.optional(),
  }),
  output: Answer,
  errors: ['LOCAL_MODE_NO_REMOTE'],
  mcp: { tool: 'svc_store', title: 'Store file' },
});

export const pullFile = command({
  name: 'pull_file',
  owner: 'device',
  tier: 'write',
  reach: { file_id: 'write', node_id: 'write' },
  doc: 'Download a file from its remote storage, or preview that for a node. Central workspaces only.',
  input: z.strictObject({ file_id: Id.optional(), node_id: Id.optional(), force: z.boolean().default(false) }),
  output: Answer,
  errors: ['LOCAL_MODE_NO_REMOTE'],
  mcp: { tool: 'svc_pull', title: 'Pull file' },
});

export const snapshotDocument = command({
  name: 'snapshot_document',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write' },
  doc: 'Export a cloud document as a file of a node. Central workspaces only.',
  input: z.strictObject({
    node_id: Id,
    doc_url: z.string().max(LIMITS.urlLength),
    format: z.enum(['pdf', 'markdown', 'docx']).default('pdf'),
    filename: FileName.optional(),
    subpath: Subpath.nullable().optional(),
  }),
  output: Answer,
  errors: ['LOCAL_MODE_NO_REMOTE'],
  mcp: { tool: 'svc_snapshot', title: 'Snapshot a cloud document' },
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
  setRoutingPolicy,
  storeFile,
  pullFile,
  snapshotDocument,
  syncNode,
  resolveFile,
];
