export { abortable } from './abortable.js';
export { ContentHashes, HASH_KINDS, type HashKind } from './content-hashes.js';
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
  RemoteEntry,
  RemoteFile,
  RemotePlace,
  TransferOptions,
  WriteOptions,
} from './remote.js';
export { markTwins } from './twins.js';
