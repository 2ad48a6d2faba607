import { z } from 'zod';
import { Id, Timestamp } from '../common.js';
import { command, query } from '../operation.js';
import { Sha256 } from './file.js';

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
