import { z } from 'zod';
import { Confirmed, ExpectedVersion, Id, page, Timestamp, Version } from '../common.js';
import { NodeRef } from '../graph/nodes.js';
import { NodeType } from '../graph/vocabulary.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { FileName, FilePath, FileStatus, Section, Sha256, Subpath, TrackedFile } from './file.js';

const tag = 'Files';
const FileId = Id.describe('Id of the file.');

export const listFiles = query({
  name: 'list_files',
  owner: 'device',
  tier: 'read',
  doc: 'List tracked files, the newest first: of one node, of the home node and its neighbours, or of everything you may see.',
  input: z.strictObject({
    node_id: Id.optional(),
    scope: z
      .enum(['session', 'global'])
      .optional()
      .describe('session: the home node and its neighbours, the default of a connection with a home node.'),
    status: FileStatus.optional(),
    limit: z.int().min(1).max(LIMITS.filesMax).default(LIMITS.filesDefault).describe('Most items of one page.'),
    cursor: z.string().max(LIMITS.cursorLength).optional().describe('next_cursor of the page before.'),
  }),
  output: page(TrackedFile),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/files', tag, unused: ['scope'] },
  mcp: { tool: 'svc_list_files', title: 'List files' },
});

export const readFile = query({
  name: 'read_file',
  owner: 'device',
  tier: 'read',
  doc: 'Read a file of a node. Text is answered as it is, other content as base64 behind a line that says so. Above max_tokens the answer is a path on disk with the beginning of the text instead; full answers all of it up to 1 MB, as_path the path alone. A path is for reading alone, since what is written there goes into the file of the node itself. A caller who is told no paths of this device gets content up to 1 MB whatever is asked, and of a larger file its beginning alone.',
  input: z.strictObject({
    node_id: Id,
    path: FilePath,
    as_path: z
      .boolean()
      .default(false)
      .describe('Answer a path on disk whatever the size, to read from and not to write to.'),
    max_tokens: z
      .int()
      .min(LIMITS.tokensMin)
      .max(LIMITS.tokensMax)
      .default(LIMITS.fileTokensDefault)
      .describe('Larger content is answered as a path.'),
    full: z.boolean().default(false).describe('Answer the content up to 1 MB whatever it costs.'),
  }),
  output: z.strictObject({
    bytes: z.int(),
    mime: z.string(),
    sha256: Sha256,
    path: z
      .string()
      .nullable()
      .describe('On disk; null when the content is answered, and to a caller who is told no paths of this device.'),
    content: z.string().nullable(),
    excerpt: z.string().optional().describe('The beginning, where the content was too large to be answered.'),
  }),
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_MIRROR', 'NATIVE_FORMAT'],
  mcp: { tool: 'svc_read_file', title: 'Read file', whole: true },
});

const TextContent = z.string().max(LIMITS.inlineFileBytes, 'must have at most 1,048,576 characters');

export const createFile = command({
  name: 'create_file',
  owner: 'device',
  tier: 'write',
  doc: 'Create a file in the folder of a node. A name that is taken is refused and nothing is overwritten.',
  input: z.strictObject({
    node_id: Id,
    filename: FileName,
    section: Section.default('wip'),
    subpath: Subpath.nullable().default(null),
    content: TextContent.default(''),
    encoding: z.enum(['utf8', 'base64']).default('utf8').describe('How content is to be understood.'),
  }),
  output: TrackedFile,
  errors: ['NODE_NOT_FOUND', 'NO_MIRROR', 'DESTINATION_EXISTS'],
  mcp: { tool: 'svc_create_file', title: 'Create file', additive: true },
});

export const writeFile = command({
  name: 'write_file',
  owner: 'device',
  tier: 'write',
  doc: 'Replace the text of a file. Send the sha256 that you read; when the file holds something else by now, nothing is written.',
  input: z.strictObject({
    node_id: Id,
    path: FilePath,
    content: TextContent,
    expected_sha256: Sha256.describe('Content that the change builds on.'),
  }),
  output: TrackedFile,
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_MIRROR', 'CONFLICT', 'NOT_EDITABLE', 'NATIVE_FORMAT'],
  mcp: { tool: 'svc_write_file', title: 'Replace the text of a file' },
});

/** What a step that failed half-way leaves to be done. */
const repair = {
  repair_needed: z.boolean().describe('True: a step failed; it is noted and will be tried again.'),
  hint: z.string().nullable().describe('What failed and what to do; null when all went well.'),
};

export const moveFile = command({
  name: 'move_file',
  owner: 'device',
  tier: 'write',
  idempotent: true,
  doc: 'Move or rename a file within its node or to another one. The first call answers what would happen; confirmed: true does it.',
  input: z.strictObject({
    file_id: FileId,
    node_id: Id.optional().describe('The node of the file; a file of another node is not found.'),
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
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_MIRROR', 'DESTINATION_EXISTS', 'CONFLICT'],
  timeoutMs: 60_000,
  rest: { method: 'POST', path: '/nodes/{node_id}/files/{file_id}/move', tag },
  mcp: { tool: 'svc_move_file', title: 'Move or rename file' },
});

export const renameFolder = command({
  name: 'rename_folder',
  owner: 'device',
  tier: 'write',
  idempotent: true,
  doc: 'Rename a folder within a node, file by file. Without dry_run: false it answers what would happen. When remaining is above 0, call again with the same arguments.',
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
      .describe('Most files of one call that applies.'),
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
          problem: z.string().nullable().describe('Why this file stays where it is; null when it moves.'),
        }),
      )
      .describe('Of a dry run the first 1,000.'),
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
  tier: 'write',
  idempotent: true,
  doc: 'Delete a file: its record and its copy here, which can be restored from the trash for 30 days; or with unregister_only the record alone. The first call answers what would happen; confirmed: true does it.',
  input: z.strictObject({
    file_id: FileId,
    node_id: Id.optional().describe('The node of the file; a file of another node is not found.'),
    mode: z.enum(['complete', 'unregister_only']).default('complete'),
    expected_version: ExpectedVersion,
    confirmed: Confirmed,
  }),
  output: z.strictObject({
    applied: z.boolean(),
    file: TrackedFile.describe('The file as it is, or was.'),
    removes: z.array(z.enum(['record', 'local_copy', 'remote_object'])),
    trash_id: z.string().nullable().describe('Restores the copy; null when none was removed.'),
    ...repair,
  }),
  errors: ['NODE_NOT_FOUND', 'FILE_NOT_FOUND', 'NO_MIRROR', 'CONFLICT'],
  timeoutMs: 60_000,
  rest: { method: 'DELETE', path: '/nodes/{node_id}/files/{file_id}', tag },
  mcp: { tool: 'svc_delete_file', title: 'Delete file' },
});

export const adoptFiles = command({
  name: 'adopt_files',
  owner: 'device',
  tier: 'write',
  idempotent: true,
  doc: 'Track files that lie in the folder of a node and are not tracked yet. Tracked ones are left as they are.',
  input: z.strictObject({
    node_id: Id,
    paths: z.array(FilePath).min(1).max(LIMITS.adoptMax),
    status: FileStatus.default('wip').describe('Section of paths that name none.'),
  }),
  output: z.strictObject({
    files: z.array(TrackedFile).describe('The files that are tracked from now on.'),
    skipped: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
  }),
  errors: ['NODE_NOT_FOUND', 'NO_MIRROR'],
  timeoutMs: 60_000,
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
  snippet: z.string().nullable().describe('Matched words stand between « and »; null when only the name matches.'),
});
export type FileHit = z.infer<typeof FileHit>;

export const searchFiles = query({
  name: 'search_files',
  owner: 'device',
  tier: 'read',
  doc: 'Search the names and texts of tracked files by whole words; "quotes" make a phrase. Case and diacritics are folded. Covers everything you may see.',
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
    complete: z.boolean().describe('False when there are more hits than were asked for.'),
    indexing: z.int().describe('Files of mirrors on this device whose text is still to be read.'),
  }),
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/files/search', tag },
  mcp: { tool: 'svc_search_files', title: 'Search files' },
});

/** Content that was replaced or deleted and can be brought back. */
export const TrashEntry = z.strictObject({
  id: z.string(),
  node: NodeRef,
  path: z.string().describe('Where it lay, within the node.'),
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
  doc: 'List what was deleted or replaced on this device and can be restored, the newest first.',
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
  doc: 'Bring something back from the trash to where it lay, or under another path. A path that is taken is refused.',
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
