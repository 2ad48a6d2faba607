export { type Asides, asideName, bringBackTo } from './aside.js';
export {
  ContentDigest,
  chunksOf,
  deviceOf,
  mimeTypeOf,
  openForReading,
  type ReadContent,
  readContent,
  seenOrRead,
  seenUnderNewName,
} from './content.js';
export { diskError } from './disk-errors.js';
export { type KeptContent, keepAs } from './keep.js';
export { locate, type MirrorPath, occupantOf } from './mirror-path.js';
export {
  moveFile,
  putBack,
  putFrom,
  removeEmptyFolders,
  removeFile,
  removeTemporary,
} from './move.js';
export { editOf, inodeOf, stampOf, timesOf } from './stamp.js';
export { isTemporaryName, temporaryName } from './temporary.js';
export {
  type CommitOptions,
  isSame,
  type Replaced,
  StagedFile,
  type StageOptions,
} from './write.js';
