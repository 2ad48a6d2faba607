import { z } from 'zod';
import { Id, page, paging, plainText, Timestamp } from '../common.js';
import { NodeRef } from '../graph/nodes.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { AGENT_CLIENTS } from './agent-config.js';
import { LocalPath } from './file.js';

const tag = 'Mirrors';
const nodeId = { node_id: Id };
const FolderText = plainText(LIMITS.pathLength).min(1, 'must not be empty');

/** One configuration file of an agent client in a mirror. */
export const ClientConfigFile = z.strictObject({
  client: z.enum([...AGENT_CLIENTS, 'scope']).describe('scope: SVC_SCOPE.md, for every agent.'),
  path: z.string().describe('Within the folder.'),
  state: z
    .enum(['written', 'unchanged', 'foreign'])
    .describe('foreign: this file or its entry was not written by the product, so it was not changed.'),
});

/** Folders that were made on the remote of a node. */
export const RemoteScaffold = z.strictObject({
  remote_name: z.string().nullable().describe('Null for a node without a remote.'),
  folders: z.array(z.string()).describe('Those that were not there, and that the storage can hold without a file.'),
  problem: z.string().nullable().describe('Why the remote could not be asked; null when it could.'),
});
export type RemoteScaffold = z.infer<typeof RemoteScaffold>;

export const createMirror = command({
  name: 'create_mirror',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'read' },
  idempotent: true,
  doc: 'Create the folder of a node on this device, with outputs, wip and resources, and track its files. An existing folder of the node is kept.',
  input: z.strictObject({
    ...nodeId,
    targets: z
      .array(z.enum(['local']))
      .min(1)
      .default(['local']),
    custom_path: FolderText.optional().describe('Absolute path of a folder to use instead of the default.'),
  }),
  output: z.strictObject({
    node_id: Id,
    local_path: LocalPath.nullable(),
    created: z.boolean().describe('False when the node already had its folder.'),
    subdirs: z.array(z.string()),
    remote_scaffold: RemoteScaffold,
    scope_config: z.array(ClientConfigFile),
  }),
  errors: ['NODE_NOT_FOUND', 'MIRROR_PATH_REFUSED', 'CONFLICT', 'STORAGE_FULL'],
  timeoutMs: 30_000,
  rest: { method: 'POST', path: '/nodes/{node_id}/mirror', tag },
  mcp: { tool: 'svc_mirror', title: 'Create the folder of a node', additive: true },
});

export const MirrorState = z
  .enum(['ready', 'scanning', 'missing', 'unreadable'])
  .describe('missing: the folder does not exist at the moment; its files do not count as deleted.');

export const Mirror = z.strictObject({
  node: NodeRef,
  local_path: LocalPath.nullable(),
  state: MirrorState,
  files: z.int().describe('Number of files that this device tracks in it.'),
  created_at: Timestamp,
});
export type Mirror = z.infer<typeof Mirror>;

export const listMirrors = query({
  name: 'list_mirrors',
  owner: 'device',
  tier: 'read',
  reach: {},
  doc: 'List the folders of nodes on this device, sorted by node name.',
  input: z.strictObject({ ...paging }),
  output: page(Mirror),
  rest: { method: 'GET', path: '/mirrors', tag },
  mcp: { tool: 'svc_list_mirrors', title: 'List folders of nodes' },
});

export const moveMirror = command({
  name: 'move_mirror',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Move the folder of a node to another path on this device; files keep their ids.',
  input: z.strictObject({ ...nodeId, path: FolderText.describe('Absolute path of the new folder; must not exist.') }),
  output: Mirror,
  errors: ['NODE_NOT_FOUND', 'NO_MIRROR', 'MIRROR_PATH_REFUSED', 'DESTINATION_EXISTS', 'CONFLICT', 'STORAGE_FULL'],
  timeoutMs: 120_000,
  rest: { method: 'POST', path: '/nodes/{node_id}/mirror/move', tag },
  mcp: { tool: 'svc_move_mirror', title: 'Move the folder of a node' },
});

export const openFolder = command({
  name: 'open_folder',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'read' },
  idempotent: true,
  doc: 'Open the folder of a node in the file manager of this device. Only for the person whose device it is (FORBIDDEN); reading the node suffices. NO_MIRROR also while the folder is missing.',
  input: z.strictObject(nodeId),
  output: z.strictObject({ node_id: Id }),
  errors: ['NODE_NOT_FOUND', 'NO_MIRROR', 'NO_FILE_MANAGER'],
  // No tool: a window is of use to whoever sits at the device, not to an agent.
  rest: { method: 'POST', path: '/nodes/{node_id}/mirror/open', tag },
});

export const removeMirror = command({
  name: 'remove_mirror',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Stop tracking the folder of a node on this device. The folder, its files and their records stay; SVC_SCOPE.md and the entries of this workspace in agent configurations are removed from it.',
  input: z.strictObject(nodeId),
  output: z.strictObject({ node_id: Id, local_path: LocalPath.nullable() }),
  errors: ['NODE_NOT_FOUND', 'NO_MIRROR'],
  rest: { method: 'DELETE', path: '/nodes/{node_id}/mirror', tag },
  mcp: { tool: 'svc_remove_mirror', title: 'Stop tracking the folder of a node' },
});
