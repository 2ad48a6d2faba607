import { z } from 'zod';
import { Confirmed, ExpectedVersion, Id, page, Timestamp, Version } from '../common.js';
import { NodeRef } from '../graph/nodes.js';
import { NodeType } from '../graph/vocabulary.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { FileName, FilePath, FileStatus, Section, Sha256, Subpath, TrackedFile } from './file.js';

const tag = 'Files';
/** Of what a central workspace does on the remote of a node. */
const REMOTE = ['NO_REMOTE', 'REMOTE_REFUSED', 'REMOTE_UNAVAILABLE'] as const;
const FileId = Id.describe('Id of the file.');

export const listFiles = query({
  name: 'list_files',
  owner: 'device',
  atCentre: true,
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'List tracked files, newest first: of one node, of the home node and its neighbours, or of everything you may see.',
  input: z.strictObject({
    node_id: Id.optional(),
    status: FileStatus.optional(),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.filesMax)
      .default(LIMITS.filesDefault)
      .describe('Maximum number of items in one page.'),
    cursor: z.string().max(LIMITS.cursorLength).optional().describe('next_cursor of the previous page.'),
  }),
  output: page(TrackedFile).extend({
    stale: z
      .literal(true)
      .optional()
      .describe('On a workstation that cannot reach the central workspace: the files as it last saw or changed them.'),
  }),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/files', tag },
  mcp: { tool: 'svc_list_files', title: 'List files' },
});

export const readFile = query({
  name: 'read_file',
  owner: 'device',
  atCentre: true,
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'Read a file of a node. Returns text as it is, and other content as base64 after a line that says so. Content above max_tokens is returned as a path on disk with the beginning of the text; full returns all of it up to 1 MB, as_path only the path. Only read from that path: writing there changes the file of the node itself. A caller who may not see paths of this device always gets content up to 1 MB, and only the beginning of a larger file.',
  input: z.strictObject({
    node_id: Id,
    path: FilePath,
    as_path: z.boolean().default(false).describe('Return a path on disk whatever the size. Only read from it.'),
    max_tokens: z
      .int()
      .min(LIMITS.tokensMin)
      .max(LIMITS.tokensMax)
      .default(LIMITS.fileTokensDefault)
      .describe('Larger content is returned as a path.'),
    full: z.boolean().default(false).describe('Return up to 1 MB of content, regardless of max_tokens.'),
  }),
  output: z.strictObject({
    bytes: z.int(),
    mime: z.string(),
    sha256: Sha256,
    path: z
      .string()
      .nullable()
      .describe('On disk; null when the content is returned, and for a caller who may not see paths of this device.'),
    content: z.string().nullable(),
    excerpt: z.string().optional().describe('The beginning of content that is too large to return.'),
  }),
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_MIRROR', 'NATIVE_FORMAT', ...REMOTE],
  mcp: { tool: 'svc_read_file', title: 'Read file', whole: true },
});

const TextContent = z.string().max(LIMITS.inlineFileBytes, 'must have at most 1,048,576 characters');

export const createFile = command({
  name: 'create_file',
  owner: 'device',
  atCentre: true,
  tier: 'write',
  reach: { node_id: 'write' },
  doc: 'Create a file in the folder of a node. An existing file is never overwritten: a taken name is refused.',
  input: z.strictObject({
    node_id: Id,
    filename: FileName,
    section: Section.default('wip'),
    subpath: Subpath.nullable().default(null),
    content: TextContent.default(''),
    encoding: z.enum(['utf8', 'base64']).default('utf8').describe('Encoding of content.'),
  }),
  output: TrackedFile,
  errors: ['NODE_NOT_FOUND', 'NO_MIRROR', 'DESTINATION_EXISTS', ...REMOTE],
  mcp: { tool: 'svc_create_file', title: 'Create file', additive: true },
});

export const writeFile = command({
  name: 'write_file',
  owner: 'device',
  atCentre: true,
  tier: 'write',
  reach: { node_id: 'write' },
  doc: 'Replace the text of a file. Send the sha256 that you read; if the file has changed since, nothing is written.',
  input: z.strictObject({
    node_id: Id,
    path: FilePath,
    content: TextContent,
    expected_sha256: Sha256.describe('Content that the change is based on.'),
  }),
  output: TrackedFile,
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_MIRROR', 'CONFLICT', 'NOT_EDITABLE', 'NATIVE_FORMAT', ...REMOTE],
  mcp: { tool: 'svc_write_file', title: 'Replace the text of a file' },
});

/** What a step that failed half-way leaves to be done. */
const repair = {
  repair_needed: z.boolean().describe('True when a step failed; it is recorded and will be retried.'),
  hint: z.string().nullable().describe('What failed and what to do; null on success.'),
};

export const moveFile = command({
  name: 'move_file',
  owner: 'device',
  atCentre: true,
  tier: 'write',
  reach: { file_id: 'write', node_id: 'write', new_node_id: 'write' },
  idempotent: true,
  doc: 'Move or rename a file within its node or to another one. The first call returns a preview; confirmed: true applies it.',
  input: z.strictObject({
    file_id: FileId,
    node_id: Id.optional().describe('The node of the file; a file of another node gives FILE_NOT_FOUND.'),
    new_node_id: Id.optional(),
    new_section: Section.optional(),
    new_subpath: Subpath.nullable().optional().describe('Null puts the file directly into the section.'),
    new_filename: FileName.optional(),
    expected_version: ExpectedVersion,
    confirmed: Confirmed,
  }),
  output: z.strictObject({
    applied: z.boolean(),
    from: z.strictObject({ node_id: Id, path: z.string() }),
    to: z.strictObject({ node_id: Id, path: z.string() }),
    already_at_target: z.boolean(),
    file: TrackedFile.nullable().describe('Null in a preview.'),
    ...repair,
  }),
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_MIRROR', 'DESTINATION_EXISTS', 'CONFLICT', ...REMOTE],
  timeoutMs: 60_000,
  rest: { method: 'POST', path: '/nodes/{node_id}/files/{file_id}/move', tag },
  mcp: { tool: 'svc_move_file', title: 'Move or rename file' },
});

export const renameFolder = command({
  name: 'rename_folder',
  owner: 'device',
  atCentre: true,
  tier: 'write',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Rename a folder within a node, file by file. Returns a preview unless dry_run is false. When remaining is above 0, call again with the same arguments.',
  input: z.strictObject({
    node_id: Id,
    old_prefix: PathOfFolder('Folder to rename, with its section, such as wip/drafts.'),
    new_prefix: PathOfFolder('Its new name, with its section, such as wip/letters.'),
    dry_run: z.boolean().default(true),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.renameFolderMax)
      .default(LIMITS.renameFolderDefault)
      .describe('Maximum number of files that one call renames.'),
  }),
  output: z.strictObject({
    applied: z.boolean(),
    renamed: z
      .array(
        z.strictObject({
          file_id: Id,
          from: z.string(),
          to: z.string(),
          already_at_target: z.boolean(),
          problem: z.string().nullable().describe('Why this file is not moved; null when it is.'),
        }),
      )
      .describe('A dry run returns the first 1,000.'),
    remaining: z.int().describe('Files still under the old prefix.'),
    ...repair,
  }),
  errors: ['NODE_NOT_FOUND', 'NO_MIRROR', 'FILE_NOT_FOUND', 'DESTINATION_EXISTS'],
  timeoutMs: 60_000,
  rest: { method: 'POST', path: '/nodes/{node_id}/files/rename-folder', tag },
  mcp: { tool: 'svc_rename_folder', title: 'Rename folder' },
});

export const deleteFile = command({
  name: 'delete_file',
  owner: 'device',
  atCentre: true,
  tier: 'write',
  reach: { file_id: 'write', node_id: 'write' },
  idempotent: true,
  doc: 'Delete a file: its record and its copy on this device, which can be restored from the trash for 30 days. unregister_only removes only the record. The first call returns a preview; confirmed: true applies it.',
  input: z.strictObject({
    file_id: FileId,
    node_id: Id.optional().describe('The node of the file; a file of another node gives FILE_NOT_FOUND.'),
    mode: z.enum(['complete', 'unregister_only']).default('complete'),
    expected_version: ExpectedVersion,
    confirmed: Confirmed,
  }),
  output: z.strictObject({
    applied: z.boolean(),
    file: TrackedFile.describe('The file as it is, or was.'),
    removes: z.array(z.enum(['record', 'local_copy', 'remote_object'])),
    trash_id: z.string().nullable().describe('Id in the trash, to restore the copy; null when no copy was removed.'),
    ...repair,
  }),
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_MIRROR', 'CONFLICT', ...REMOTE],
  timeoutMs: 60_000,
  rest: { method: 'DELETE', path: '/nodes/{node_id}/files/{file_id}', tag },
  mcp: { tool: 'svc_delete_file', title: 'Delete file' },
});

export const adoptFiles = command({
  name: 'adopt_files',
  owner: 'device',
  atCentre: true,
  tier: 'write',
  reach: { node_id: 'write' },
  idempotent: true,
  doc: 'Track files that lie in the folder of a node, or on its remote, and are not tracked yet. Tracked files are not changed.',
  input: z.strictObject({
    node_id: Id,
    paths: z.array(FilePath).min(1).max(LIMITS.adoptMax),
    status: FileStatus.default('wip').describe('Section of paths that do not name one.'),
  }),
  output: z.strictObject({
    files: z.array(TrackedFile).describe('The files that are now tracked.'),
    skipped: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
  }),
  errors: ['NODE_NOT_FOUND', 'NO_MIRROR', 'NO_REMOTE', 'REMOTE_REFUSED', 'REMOTE_UNAVAILABLE'],
  timeoutMs: 120_000,
  rest: { method: 'POST', path: '/nodes/{node_id}/files/adopt', tag },
  mcp: { tool: 'svc_adopt_files', title: 'Track files', additive: true },
});

export const FileHit = z.strictObject({
  file_id: Id,
  node_id: Id,
  node_name: z.string(),
  node_type: NodeType,
  filename: z.string(),
  path: z.string().describe('Within the node.'),
  mime_type: z.string(),
  modified_at: Timestamp.nullable(),
  snippet: z.string().nullable().describe('Matched words are between « and »; null when only the name matches.'),
});
export type FileHit = z.infer<typeof FileHit>;

export const searchFiles = query({
  name: 'search_files',
  owner: 'device',
  atCentre: true,
  tier: 'read',
  reach: { node_id: 'free' },
  doc: 'Search the names and texts of tracked files by whole words; "quotes" search for a phrase. Ignores case and diacritics. Covers everything you may see.',
  input: z.strictObject({
    query: z
      .string()
      .max(500, 'must have at most 500 characters')
      .refine((value) => value.isWellFormed(), 'must be valid Unicode text'),
    node_id: Id.optional(),
    limit: z.int().min(1).max(LIMITS.fileHitsMax).default(LIMITS.fileHitsDefault),
  }),
  output: z.strictObject({
    hits: z.array(FileHit),
    complete: z.boolean().describe('False when there are more hits than limit.'),
    indexing: z.int().describe('Files in mirrors on this device whose text is not indexed yet.'),
  }),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/files/search', tag },
  mcp: { tool: 'svc_search_files', title: 'Search files' },
});

/** Content that was replaced or deleted and can be brought back. */
export const TrashEntry = z.strictObject({
  id: z.string(),
  node: NodeRef,
  path: z.string().describe('Former path within the node.'),
  reason: z.enum(['deleted', 'replaced']),
  bytes: z.int(),
  sha256: Sha256,
  file_id: Id.nullable(),
  trashed_at: Timestamp,
  expires_at: Timestamp,
});
export type TrashEntry = z.infer<typeof TrashEntry>;

export const listTrash = query({
  name: 'list_trash',
  owner: 'device',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'List deleted and replaced files of this device that can be restored, newest first.',
  input: z.strictObject({
    node_id: Id.optional(),
    limit: z.int().min(1).max(LIMITS.listMax).default(LIMITS.listDefault),
    cursor: z.string().max(LIMITS.cursorLength).optional(),
  }),
  output: page(TrashEntry),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/trash', tag },
  mcp: { tool: 'svc_list_trash', title: 'List trash' },
});

export const restoreTrash = command({
  name: 'restore_trash',
  owner: 'device',
  tier: 'write',
  reach: { trash_id: 'write' },
  doc: 'Restore a file from the trash to its former path or to another one. A taken path is refused.',
  input: z.strictObject({ trash_id: z.string().max(100), path: FilePath.optional() }),
  output: TrackedFile,
  errors: ['TRASH_NOT_FOUND', 'NO_MIRROR', 'DESTINATION_EXISTS'],
  rest: { method: 'POST', path: '/trash/{trash_id}/restore', tag },
  mcp: { tool: 'svc_restore_trash', title: 'Restore from trash' },
});

/** What PUT of a file's bytes answers; its bytes never pass through an operation. */
export const WrittenFile = z.strictObject({ file: TrackedFile, version: Version });

function PathOfFolder(description: string) {
  return FilePath.describe(description);
}
