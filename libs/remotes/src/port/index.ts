export type {
  ChangeFeed,
  ChangePage,
  ExportFormat,
  NativeDocuments,
  PresignedRequest,
  PresignedUrls,
  PresignOptions,
  ResumableUploads,
  TextSearch,
  Trash,
} from './abilities.js';
export { EXPORT_FORMATS } from './abilities.js';
export { abortable } from './abortable.js';
export { ContentHashes } from './content-hashes.js';
export { RemoteFailure, type RemoteFailureFacts, type RemoteFailureReason, serviceErrorOf } from './failure.js';
export { folderOf, folderPath, foldersAbove, joinPath, remotePath } from './paths.js';
export type {
  CallOptions,
  Expecting,
  ListOptions,
  ReadOptions,
  Remote,
  RemoteCapabilities,
  RemoteContent,
  RemoteDocument,
  RemoteEntry,
  RemoteFile,
  RemotePlace,
  TransferOptions,
  WriteOptions,
} from './remote.js';
export { markTwins } from './twins.js';
