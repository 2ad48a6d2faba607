import { EXPORT_FORMATS, type ExportFormat } from '@workspace-graph/contracts';
import { z } from 'zod';
import { entryNamed, type RemoteDocument, type RemoteEntry, type RemoteFile } from '../port/index.js';

export const FOLDER_TYPE = 'application/vnd.google-apps.folder';
/** Of what has no bytes: documents of Google's own format, and shortcuts. */
const OWN_TYPES = 'application/vnd.google-apps.';
const NO_DOCUMENTS: readonly string[] = [`${OWN_TYPES}shortcut`, `${OWN_TYPES}drive-sdk`, `${OWN_TYPES}unknown`];
/** What Drive exports its documents as; it exports none of another type. */
const FORMATS: Readonly<Record<string, readonly ExportFormat[]>> = {
  [`${OWN_TYPES}document`]: EXPORT_FORMATS,
  [`${OWN_TYPES}spreadsheet`]: ['pdf'],
  [`${OWN_TYPES}presentation`]: ['pdf'],
  [`${OWN_TYPES}drawing`]: ['pdf'],
};

/** What is asked for of each file. */
export const FILE_FIELDS = [
  'id',
  'name',
  'mimeType',
  'parents',
  'trashed',
  'explicitlyTrashed',
  'trashedTime',
  'createdTime',
  'modifiedTime',
  'version',
  'size',
  'headRevisionId',
  'md5Checksum',
  'sha1Checksum',
  'sha256Checksum',
].join(',');

export const driveFile = z.object({
  id: z.string(),
  name: z.string(),
  mimeType: z.string(),
  /** One, but for what the account does not see the folder of. */
  parents: z.array(z.string()).default([]),
  trashed: z.boolean(),
  explicitlyTrashed: z.boolean().default(false),
  trashedTime: z.string().optional(),
  createdTime: z.string(),
  modifiedTime: z.string(),
  /** Counts every change, also of what is not the content. */
  version: z.string(),
  size: z.string().regex(/^\d+$/).optional(),
  headRevisionId: z.string().optional(),
  md5Checksum: z.string().optional(),
  sha1Checksum: z.string().optional(),
  sha256Checksum: z.string().optional(),
});
export type DriveFile = z.output<typeof driveFile>;

export const driveFiles = z.object({
  files: z.array(driveFile),
  nextPageToken: z.string().optional(),
  incompleteSearch: z.boolean().default(false),
});

export function isFolder({ mimeType }: DriveFile): boolean {
  return mimeType === FOLDER_TYPE;
}

/** The oldest comes first: of several with one name it is the one that the name stands for. */
export function byAge(one: DriveFile, other: DriveFile): number {
  const [mine, its] = [`${one.createdTime} ${one.id}`, `${other.createdTime} ${other.id}`];
  return mine < its ? -1 : 1;
}

/** What lies in a folder of the remote. */
export function entryIn(folder: string, found: DriveFile): RemoteEntry {
  return entryNamed(folder, found.name, (path) => entryOf(path, found));
}

export function entryOf(path: string, found: DriveFile): RemoteEntry {
  if (isFolder(found)) return { kind: 'folder', path, hasTwin: false };
  return fileOf(path, found) ?? documentOf(path, found) ?? { kind: 'other', path, hasTwin: false };
}

/** Null for what has no bytes. A revision is that of the content: a move and a new name leave it as it is. */
export function fileOf(path: string, found: DriveFile): RemoteFile | null {
  const { id, size, headRevisionId: revision, md5Checksum: md5, sha1Checksum: sha1, sha256Checksum: sha256 } = found;
  if (found.mimeType.startsWith(OWN_TYPES) || size === undefined || revision === undefined) return null;
  const hashes = { ...(md5 && { md5 }), ...(sha1 && { sha1 }), ...(sha256 && { sha256 }) };
  const modifiedAt = new Date(found.modifiedTime).toISOString();
  return { kind: 'file', path, sizeBytes: Number(size), revision, id, modifiedAt, hashes, hasTwin: false };
}

function documentOf(path: string, found: DriveFile): RemoteDocument | null {
  const { id, mimeType: mediaType, version: revision } = found;
  if (!mediaType.startsWith(OWN_TYPES) || NO_DOCUMENTS.includes(mediaType)) return null;
  const modifiedAt = new Date(found.modifiedTime).toISOString();
  const formats = FORMATS[mediaType] ?? [];
  return { kind: 'document', path, id, revision, modifiedAt, mediaType, formats, hasTwin: false };
}
