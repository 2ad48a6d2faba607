import { z } from 'zod';
import { Id, Timestamp } from '../common.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { FileRecord, Sha256 } from './file.js';
import { RemoteScaffold } from './mirrors.js';

/**
 * How the bytes of files come through the centre: a gateway asks the file service for a transfer on behalf of its caller,
 * and is told where one stream of bytes may be fetched or sent, once. Bytes never pass over the bus.
 */

/** One stream of bytes. Whoever holds the ticket may do this and nothing else, once, if it begins within `LIMITS.ticketMs`. */
export const Transfer = z.strictObject({
  url: z.string().describe('Of the instance that waits for it; never told outside of the centre.'),
  ticket: z.string().describe('A secret, to be sent as a bearer token.'),
});
export type Transfer = z.infer<typeof Transfer>;

const target = { node_id: Id, path: z.string() };
const ERRORS = ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_REMOTE', 'REMOTE_REFUSED', 'REMOTE_UNAVAILABLE'] as const;

export const confirmContent = query({
  name: 'confirm_content',
  owner: 'file',
  tier: 'internal',
  reach: 'internal',
  doc: 'Refuse unless the caller may read, or write, the files of a node.',
  input: z.strictObject({ node_id: Id, level: z.enum(['read', 'write']) }),
  output: z.strictObject({ level: z.enum(['read', 'write']) }),
  errors: ['NODE_NOT_FOUND'],
});

export const beginDownload = query({
  name: 'begin_download',
  owner: 'file',
  tier: 'internal',
  reach: 'internal',
  doc: 'Look at a file of a node and prepare to send its bytes.',
  input: z.strictObject(target),
  output: z.strictObject({
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.int(),
    sha256: Sha256,
    modified_at: Timestamp,
    transfer: Transfer,
  }),
  errors: [...ERRORS, 'NATIVE_FORMAT'],
  timeoutMs: 120_000,
});

export const beginUpload = command({
  name: 'begin_upload',
  owner: 'file',
  tier: 'internal',
  reach: 'internal',
  doc: 'Prepare to receive the bytes of a file that is made, or replaced.',
  input: z.strictObject({
    ...target,
    if_match: z
      .string()
      .max(64)
      .nullable()
      .describe('SHA-256 of the content to replace, * for any; null makes a new file.'),
    text: z.boolean().describe('Whether old and new content must be UTF-8 text.'),
  }),
  output: z.strictObject({ transfer: Transfer }),
  errors: [...ERRORS, 'DESTINATION_EXISTS', 'NATIVE_FORMAT', 'CONFLICT'],
});

/** What a device sends a content for: a file that it has, as the content was when it was read. */
export const Push = z.strictObject({
  file_id: Id,
  sha256: Sha256,
  size_bytes: z.int().nonnegative(),
  modified_at: Timestamp,
  builds_on: Sha256.nullable().describe('Of the content on the remote that the device last had; null for none.'),
});
export type Push = z.infer<typeof Push>;

/** A file whose content lies on its remote. */
export const PushedFile = z.strictObject({
  file: FileRecord,
  remote_path: z.string().describe('Where it lies there.'),
});
export type PushedFile = z.infer<typeof PushedFile>;

/** Where a device sends the content of a file, in the name of its person. */
export const PUSH_PATH = '/devices/content/{file_id}';

export const beginPush = command({
  name: 'begin_push',
  owner: 'file',
  tier: 'internal',
  reach: 'internal',
  doc: 'Look at the place of a file on its remote, and prepare to receive its content from a device, unless it is there already.',
  input: Push.extend({ from: z.int().nonnegative().default(0).describe('Bytes that are not sent again.') }),
  output: z.strictObject({
    node_id: Id,
    pushed: PushedFile.nullable().describe('Set when the content is there.'),
    transfer: Transfer.nullable(),
    received: z
      .int()
      .nonnegative()
      .describe('Bytes that an upload which broke off has left, and that may be gone on from.'),
  }),
  errors: [...ERRORS, 'NATIVE_FORMAT', 'CONFLICT'],
  timeoutMs: 120_000,
});

/** What lies on the remote where a file should: `sha256` is null where only reading all of it would tell. */
export const RemoteLook = z.strictObject({
  file_id: Id,
  state: z.enum(['there', 'missing', 'error']),
  sha256: Sha256.nullable(),
  message: z.string().optional().describe('What failed.'),
});
export type RemoteLook = z.infer<typeof RemoteLook>;

export const lookAtRemote = query({
  name: 'look_at_remote',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'Look what lies on the remotes where uploaded files of a node should lie. Omits files that were never uploaded, and those of nodes that the caller does not see.',
  input: z.strictObject({ file_ids: z.array(Id).min(1).max(LIMITS.looksPerCall) }),
  output: z.strictObject({ looks: z.array(RemoteLook) }),
  timeoutMs: 120_000,
});

export const scaffoldRemote = command({
  name: 'scaffold_remote',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  idempotent: true,
  doc: 'Make the folders of a node on its remote: its sections, or those for the nodes of an organization.',
  input: z.strictObject({ node_id: Id }),
  output: RemoteScaffold,
  errors: ['NODE_NOT_FOUND'],
  timeoutMs: 30_000,
});

/** Something on a remote, in the folder of a node, that no record tells of. */
export const RemoteFind = z.strictObject({
  path: z.string().describe('Within the node.'),
  size_bytes: z.int().nullable().describe('Null for a document of a cloud service, which has no bytes.'),
  modified_at: Timestamp,
});
export type RemoteFind = z.infer<typeof RemoteFind>;

export const surveyRemote = query({
  name: 'survey_remote',
  owner: 'file',
  tier: 'device',
  reach: 'internal',
  doc: 'Compare the records of one node with its folder on its remotes, as they list it.',
  input: z.strictObject({ node_id: Id }),
  output: z.strictObject({
    untracked: z.array(RemoteFind).max(LIMITS.surveyMax),
    missing: z.array(Id).describe('Uploaded files of which nothing lies there.'),
    changed: z
      .array(z.strictObject({ file_id: Id, sha256: Sha256.nullable() }))
      .describe(
        'Uploaded files at which another content lies than was seen last; null where only reading it would tell.',
      ),
    failed: z
      .array(z.strictObject({ remote_name: z.string(), message: z.string() }))
      .describe('Remotes that cannot be asked.'),
    complete: z.boolean().describe('False where the folder, or the node, holds more than is compared.'),
  }),
  errors: ['NODE_NOT_FOUND'],
  timeoutMs: 120_000,
});
