import { z } from 'zod';
import { Id, listOf, Timestamp } from '../common.js';
import { NodeRef } from '../graph/nodes.js';
import { LIMITS } from '../limits.js';
import { query } from '../operation.js';
import { LocalPath, PathText, Section } from './file.js';
import { MirrorState } from './mirrors.js';

const tag = 'Sync';

/** The classes of a file, as the classification names them. */
export const FILE_CLASSES = [
  'clean',
  'push',
  'pull',
  'conflict',
  'remote_missing',
  'remote_error',
  'native',
  'deleted_local',
  'new_local',
  'new_remote',
] as const;
export const FileClass = z.enum(FILE_CLASSES);
export type FileClass = z.infer<typeof FileClass>;

/** Buckets of a status answer, by class; `deleted_remote` is what a sync run removed. */
export const STATUS_BUCKETS = [
  'clean',
  'push_candidates',
  'pull_candidates',
  'conflicts',
  'remote_missing',
  'remote_error',
  'native',
  'new_local',
  'new_remote',
  'deleted_local',
  'deleted_remote',
] as const;
export type StatusBucket = (typeof STATUS_BUCKETS)[number];

export const StatusEntry = z.strictObject({
  file_id: Id.nullable().describe('Null for a file that is not tracked.'),
  node_id: Id,
  path: z.string(),
  section: Section,
  size_bytes: z.int().nullable(),
  local_path: LocalPath.nullable(),
  problem: z.string().nullable().describe('Why the state is unknown, or why the file is not tracked.'),
});
export type StatusEntry = z.infer<typeof StatusEntry>;

const buckets = Object.fromEntries(STATUS_BUCKETS.map((bucket) => [bucket, z.array(StatusEntry)])) as Record<
  StatusBucket,
  z.ZodArray<typeof StatusEntry>
>;
const counts = Object.fromEntries(STATUS_BUCKETS.map((bucket) => [bucket, z.int()])) as Record<StatusBucket, z.ZodInt>;

export const fileStatus = query({
  name: 'file_status',
  owner: 'device',
  atCentre: true,
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'Report the state of files compared with the last known state, and with node_id what lies on the remote of the node. Changes nothing. Call it before you end a session in which you changed files.',
  input: z.strictObject({
    node_id: Id.optional(),
    remote_name: z.string().max(200).optional().describe('Only files that are kept on this remote.'),
    include_discovery: z
      .boolean()
      .default(true)
      .describe('Look for files that are not tracked: in folders, and with node_id on the remote.'),
    classes: listOf(FileClass).optional(),
    path_prefix: PathText.optional().describe(
      'A file, or a folder with everything in it. Matches whole names: wip/plan does not match wip/plans.',
    ),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.statusMax)
      .default(LIMITS.statusDefault)
      .describe('Maximum number of entries in each bucket.'),
    offset: z.int().min(0).max(10_000_000).default(0).describe('Number of entries to skip in each bucket.'),
  }),
  output: z.strictObject({
    ...buckets,
    counts: z.strictObject(counts).describe('Full sizes of the buckets, regardless of the filters.'),
    truncated: z.boolean(),
  }),
  errors: ['NODE_NOT_FOUND'],
  timeoutMs: 60_000,
  rest: { method: 'GET', path: '/files/status', tag },
  mcp: { tool: 'svc_status', title: 'State of files' },
});

/** Something on disk that could not be taken in. It goes by itself once the path is in order. */
export const WatcherError = z.strictObject({
  path: z.string().describe('Within the node; empty for the folder itself.'),
  message: z.string(),
  at: Timestamp,
});
export type WatcherError = z.infer<typeof WatcherError>;

/** How far a scan is. */
export const ScanProgress = z.strictObject({
  running: z.boolean().describe('Also false while a known folder is checked and nothing new has been found.'),
  seen: z.int().describe('Files found on disk so far.'),
  to_read: z.int().describe('Files whose content has not been read yet.'),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable().describe('End of the last finished scan; null before the first.'),
});
export type ScanProgress = z.infer<typeof ScanProgress>;

export const getSyncStatus = query({
  name: 'get_sync_status',
  owner: 'device',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'Report the state of a node’s folder on this device: watcher, scan, files that could not be tracked, and counts by class.',
  input: z.strictObject({ node_id: Id }),
  output: z.strictObject({
    node_id: Id,
    mirror: z.strictObject({ local_path: LocalPath.nullable(), state: MirrorState }).nullable(),
    watching: z.boolean(),
    scan: ScanProgress,
    tracked: z.int(),
    deleted_local: z.int(),
    pending_operations: z.int().describe('Moves and deletes that are not finished.'),
    watcher_errors: z.array(WatcherError).describe('Newest first.'),
  }),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/nodes/{node_id}/sync-status', tag },
});

export const getSyncHealth = query({
  name: 'get_sync_health',
  owner: 'device',
  tier: 'read',
  reach: {},
  doc: 'Report the health of the node folders on this device: running scans and files that could not be tracked.',
  input: z.strictObject({}),
  output: z.strictObject({
    watching: z.boolean(),
    mirrors: z.int(),
    mirrors_missing: z.int(),
    files: z.int(),
    scans: z.array(z.strictObject({ node: NodeRef, ...ScanProgress.shape })).describe('Running scans.'),
    failures: z.array(z.strictObject({ node: NodeRef, ...WatcherError.shape })).describe('Newest first.'),
    failures_complete: z.boolean(),
    set_aside: z
      .array(z.strictObject({ path: z.string(), files: z.int(), at: Timestamp }))
      .describe(
        'Folders of nodes that you do not see any more, with files that are nowhere else. Told to the person of the device, and to manage.',
      ),
  }),
  rest: { method: 'GET', path: '/sync/health', tag },
  mcp: { tool: 'svc_sync_health', title: 'Health of folders' },
});
