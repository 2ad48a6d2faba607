import { z } from 'zod';
import { Id, plainText, Timestamp, Version } from '../common.js';
import { NodeType } from '../graph/vocabulary.js';
import { LIMITS } from '../limits.js';

/** The folders of a node whose files are tracked. */
export const SECTIONS = ['wip', 'outputs', 'resources'] as const;
export const Section = z.enum(SECTIONS).describe('wip: work in progress; outputs: results; resources: reference.');
export type Section = z.infer<typeof Section>;

export const FileStatus = z
  .enum(['wip', 'output'])
  .describe('wip: the file lies under wip/; output: under outputs/. A file under resources/ has none.');
export type FileStatus = z.infer<typeof FileStatus>;

/** SHA-256 of a file's content, the identity of that content. */
export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in 64 lower-case hexadecimal digits')
  .describe('SHA-256 of the content, in hexadecimal.');
export type Sha256 = z.infer<typeof Sha256>;

/** A path as somebody writes it; the rules of `parseFilePath` in the domain library decide about it. */
export const PathText = plainText(LIMITS.pathLength).min(1, 'must not be empty');
/** A name as somebody writes it, under the same rules. */
export const FileNameText = plainText(LIMITS.fileNameBytes).min(1, 'must not be empty');

export const FilePath = PathText.describe(
  'Path within the node: section, subfolders, name; such as wip/notes/plan.md.',
);
export const Subpath = PathText.describe('Subfolders within the section, such as notes/2026.');
export const FileName = FileNameText.describe('Name of the file.');

/** What the organization's store tells of a file, as its service keeps it. */
export const FileRecord = z.strictObject({
  id: Id,
  node_id: Id,
  path: FilePath,
  sha256: Sha256.nullable().describe('Null until the content has been read.'),
  size_bytes: z.int().nonnegative().nullable(),
  mime_type: z.string(),
  modified_at: Timestamp.nullable().describe('Time of the last change of the content.'),
  remote_name: z.string().nullable(),
  current_remote_hash: z.string().nullable(),
  last_pushed_at: Timestamp.nullable(),
  is_native_format: z.boolean().describe('A document of a cloud service that has no bytes.'),
  version: Version,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type FileRecord = z.infer<typeof FileRecord>;

/** Path on the device that answers. Only the person whose device it is and callers with `manage` are told any. */
export const LocalPath = z
  .string()
  .describe('On this device; null without a mirror here, and for callers other than its person and those with manage.');

/** A tracked file as every listing answers it. */
export const TrackedFile = z.strictObject({
  ...FileRecord.shape,
  node_name: z.string(),
  node_type: NodeType,
  section: Section,
  subpath: z.string().nullable().describe('Subfolders within the section; null directly in it.'),
  filename: z.string(),
  status: FileStatus.nullable(),
  remote_path: z
    .string()
    .describe(
      'Organization, type, node, section, subfolders and name, by keys that never change. Begins with the type if you do not see the organization.',
    ),
  local_path: LocalPath.nullable(),
});
export type TrackedFile = z.infer<typeof TrackedFile>;
