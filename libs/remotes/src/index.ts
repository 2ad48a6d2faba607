export { FsRemote } from './fs/fs.remote.js';
export { MemoryRemote } from './memory/memory.remote.js';
export type { SftpConfig } from './sftp/sftp-connection.js';
export { SftpRemote } from './sftp/sftp.remote.js';
export {
  type CallOptions,
  ContentHashes,
  type Expecting,
  HASH_KINDS,
  type HashKind,
  type ListOptions,
  type ReadOptions,
  type Remote,
  type RemoteCapabilities,
  type RemoteContent,
  type RemoteEntry,
  RemoteFailure,
  type RemoteFailureFacts,
  type RemoteFailureReason,
  type RemoteFile,
  type RemotePlace,
  serviceErrorOf,
  type TransferOptions,
  type WriteOptions,
} from './port/index.js';
