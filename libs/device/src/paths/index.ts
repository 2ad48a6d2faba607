export {
  ContentDigest,
  chunksOf,
  deviceOf,
  inodeOf,
  mimeTypeOf,
  openForReading,
  type ReadContent,
  readContent,
  seenOrRead,
  stampOf,
} from './content.js';
export { diskError } from './disk-errors.js';
export { locate, type MirrorPath, occupantOf } from './mirror-path.js';
export { keepAs, moveFile, putBack, putFrom, removeEmptyFolders, removeFile } from './move.js';
export { isTemporaryName, temporaryName } from './temporary.js';
export {
  type CommitOptions,
  isSame,
  StagedFile,
  type StageOptions,
  writeAtomically,
} from './write.js';
