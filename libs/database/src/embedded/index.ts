export { embeddedBinariesProblem } from './binaries.js';
export {
  type EmbeddedDatabase,
  type EmbeddedDatabaseOptions,
  type EmbeddedProgress,
  startEmbeddedDatabase,
} from './embedded-database.js';
export { EmbeddedDatabaseError, type EmbeddedErrorCode } from './embedded-error.js';
export { type EmbeddedLook, lookAtEmbeddedDatabase } from './look.js';
export { findOwner, holdsLock, type Owner, type Ownership, takeOwnership } from './ownership.js';
export { keepOwner } from './places.js';
export type { ServerEnd } from './server-process.js';
export { databaseUser } from './server-user.js';
export {
  type ServerChange,
  type SupervisedDatabase,
  type SupervisedDatabaseOptions,
  superviseEmbeddedDatabase,
} from './supervised-database.js';
