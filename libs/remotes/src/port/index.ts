export type {
  ChangeFeed,
  ChangePage,
  NativeDocuments,
  NewContent,
  ResumableUploads,
  SmallContents,
  TextSearch,
  Trash,
  UploadedRange,
  WholeContent,
} from './abilities.js';
export { type Unless, unlessAborted } from './abortable.js';
export { changed, mayPut, Turns } from './checks.js';
export { ContentHashes } from './content-hashes.js';
export type { RemoteDocument, RemoteEntry, RemoteFile, RemotePlace } from './entries.js';
export { RemoteFailure, type RemoteFailureFacts, type RemoteFailureReason, serviceErrorOf } from './failure.js';
export { ABANDONED_DRAFT_MS, ABANDONED_UPLOAD_MS, cleared, NotedStream } from './faults.js';
export { growingFile, type KeptUpload, keptUpload, uploadNamed } from './kept-upload.js';
export { listTree } from './list-tree.js';
export type { CallOptions, Expecting, ListOptions, ReadOptions, TransferOptions, WriteOptions } from './options.js';
export { partsOf, passingParts } from './parts.js';
export { entryNamed, folderOf, folderPath, foldersAbove, joinPath, nameOf, remotePath } from './paths.js';
export type { Remote, RemoteCapabilities, RemoteContent } from './remote.js';
export { SharedLooks } from './shared-looks.js';
export { markTwins, nameBeside } from './twins.js';
