export { type Asides, asideName, bringBackTo, nameOrRename } from './aside.js';
export {
  ContentDigest,
  chunksOf,
  deviceOf,
  mimeTypeOf,
  only,
  openForReading,
  type ReadContent,
  readContent,
  seenContent,
  seenOrRead,
  seenUnderNewName,
  verifiedBytes,
} from './content.js';
export { decodeText } from './decode-text.js';
export { diskCode, diskError, fileNotFound, isAbsent, isFull, occupied, onDisk } from './disk-errors.js';
export { HeldFolder, isFile, MAKE_FLAGS, READ_FLAGS, statOrNull, WRITE_FLAGS } from './held-folder.js';
export { EXCERPT_BYTES, excerptOf, inlineContent, tokensOfInline } from './inline-content.js';
export { type KeptContent, keepAs } from './keep.js';
export { folderGone, locate, type MirrorPath, occupantOf, twinIn } from './mirror-path.js';
export {
  moveFile,
  putBack,
  putFrom,
  removeEmptyFolders,
  removeFile,
  removeTemporary,
} from './move.js';
export { PathFinder } from './path-finder.js';
export type { SeenContent } from './seen-content.js';
export { type NamedFile, type NewFile, NewFiles, readSmall, type SmallContent } from './small-files.js';
export { editOf, inodeOf, stampOf, timesOf } from './stamp.js';
export { isTemporaryName, temporaryName } from './temporary.js';
export {
  type CommitOptions,
  isSame,
  placeFile,
  type Replaced,
  StagedFile,
  type StageOptions,
} from './write.js';
