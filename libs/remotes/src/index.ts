export {
  type CredentialStore,
  CredentialsUnreadable,
  onlyRead,
  type RemoteCredentials,
} from './credentials/credential-store.js';
export { FileCredentials } from './credentials/file-credentials.js';
export { CREDENTIAL_STORES, openCredentials } from './credentials/open-credentials.js';
export { type FilehostConfig, FilehostRemote } from './filehost/filehost.remote.js';
export { FsRemote } from './fs/fs.remote.js';
export { gradeRemote, RemoteUnfit } from './grading/grade-remote.js';
export { MemoryRemote } from './memory/memory.remote.js';
export { mayHaveDocuments, openRemote, type RemotePlaces } from './open-remote.js';
export {
  type CallOptions,
  ContentHashes,
  type Expecting,
  type ListOptions,
  passingParts,
  type ReadOptions,
  type Remote,
  type RemoteCapabilities,
  type RemoteContent,
  type RemoteDocument,
  type RemoteEntry,
  RemoteFailure,
  type RemoteFailureFacts,
  type RemoteFailureReason,
  type RemoteFile,
  type RemotePlace,
  type ResumableUploads,
  serviceErrorOf,
  type TextSearch,
  type TransferOptions,
  type WriteOptions,
} from './port/index.js';
export { ROOT_MARKER, readRootMarker, writeRootMarker } from './root/root-marker.js';
export { SftpRemote } from './sftp/sftp.remote.js';
export type { SftpConfig } from './sftp/sftp-connection.js';
