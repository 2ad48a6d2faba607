import { z } from 'zod';
import { Id } from '../common.js';
import { type ErrorCode, ServiceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { FileStatus, LocalPath, PathText, Sha256, Subpath } from './file.js';
import { PushedFile, Transfer } from './transfers.js';

/**
 * Many files of one node in one request, for what each of them would cost by itself. What is refused of one file keeps no
 * other from being carried out.
 */

const FILES_TAG = 'Files';
/** Bytes move meanwhile, as many as there are. */
const TRANSFER_MS = 24 * 3_600_000;

/** Why something was refused of one of several files. */
export const FileRefusal = z.strictObject({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type FileRefusal = z.infer<typeof FileRefusal>;

/** What became of one of several pushes. */
export const PushOutcome = z.strictObject({
  file_id: Id,
  pushed: PushedFile.optional(),
  refused: FileRefusal.optional(),
});
export type PushOutcome = z.infer<typeof PushOutcome>;

/** A file of which a device wants what its remote has. */
export const Pull = z.strictObject({
  file_id: Id,
  has: Sha256.nullable().describe('Of the content that the device has: the same one is not sent again.'),
});
export type Pull = z.infer<typeof Pull>;

/** What is told of one of several files whose contents are sent; without bytes unless `state` is `sent`. */
export const SentContent = z.strictObject({
  file_id: Id,
  state: z.enum(['sent', 'same', 'too_large', 'refused']),
  sha256: Sha256.optional().describe('Of a content that is sent, or the same.'),
  refused: FileRefusal.optional(),
});
export type SentContent = z.infer<typeof SentContent>;

/** Where devices send the contents of files of a node with PUT, and ask for them with POST. */
export const BATCH_PATH = '/devices/contents/{node_id}';

export const beginPushes = command({
  name: 'begin_pushes',
  owner: 'file',
  tier: 'internal',
  reach: 'internal',
  doc: 'Prepare to receive the contents of several files of a node from a device.',
  input: z.strictObject({ node_id: Id }),
  output: z.strictObject({ transfer: Transfer }),
  errors: ['NODE_NOT_FOUND'],
});

export const beginPulls = query({
  name: 'begin_pulls',
  owner: 'file',
  tier: 'internal',
  reach: 'internal',
  doc: 'Prepare to send the contents of several files of a node to a device.',
  input: z.strictObject({ node_id: Id, pulls: z.array(Pull).min(1).max(LIMITS.filesPerBatch) }),
  output: z.strictObject({ transfer: Transfer }),
  errors: ['NODE_NOT_FOUND'],
});

export const storeFiles = command({
  name: 'store_files',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Do what store_file does with each of several files. Central workspaces only.',
  input: z.strictObject({
    node_id: Id,
    local_paths: z.array(PathText).min(1).max(LIMITS.filesPerBatch).describe('Absolute paths of the files.'),
    status: FileStatus.optional().describe('For files outside the folder of the node. Default: wip.'),
    subpath: Subpath.optional(),
  }),
  output: z.strictObject({
    stored: z.array(
      z.strictObject({
        given: PathText.describe('The path that was given.'),
        file_id: Id,
        remote_name: z.string(),
        remote_path: z.string(),
        local_path: LocalPath.nullable(),
        hash: Sha256,
      }),
    ),
    refused: z.array(FileRefusal.extend({ given: PathText })),
  }),
  errors: ['LOCAL_MODE_NO_REMOTE', 'NODE_NOT_FOUND', 'NO_MIRROR'],
  timeoutMs: TRANSFER_MS,
  rest: { method: 'POST', path: '/nodes/{node_id}/files/store-all', tag: FILES_TAG },
});

export const pullFiles = command({
  name: 'pull_files',
  owner: 'device',
  tier: 'write',
  reach: { node_id: 'write', file_ids: 'write' },
  idempotent: true,
  doc: 'Do what pull_file does with each of several files of a node. Central workspaces only.',
  input: z.strictObject({
    node_id: Id,
    file_ids: z.array(Id).min(1).max(LIMITS.filesPerBatch),
    force: z.boolean().default(false),
  }),
  output: z.strictObject({
    pulled: z.array(
      z.strictObject({
        file_id: Id,
        local_path: LocalPath.nullable(),
        hash: Sha256,
        changed: z.boolean().describe('False when the content was there already.'),
      }),
    ),
    refused: z.array(FileRefusal.extend({ file_id: Id })),
  }),
  errors: ['LOCAL_MODE_NO_REMOTE', 'NODE_NOT_FOUND', 'NO_MIRROR'],
  timeoutMs: TRANSFER_MS,
  rest: { method: 'POST', path: '/nodes/{node_id}/files/pull-all', tag: FILES_TAG },
});

/** What is told of a refusal. @throws whatever is none */
export function refusalOf(error: unknown): FileRefusal {
  if (!(error instanceof ServiceError)) throw error;
  const { code, message, details } = error;
  return { code, message, ...(details ? { details: { ...details } } : {}) };
}

/** The error of a refusal, for who asked for one file alone. */
export function errorOf({ code, message, details }: FileRefusal): ServiceError {
  return new ServiceError(code as ErrorCode, message, details);
}
