export {
  type AccessChangeOptions,
  type AccessChangeResult,
  changeAccess,
  holdAccess,
  lockAccess,
  nameable,
  refreshAccess,
} from './access-change.js';
export { type BackupOptions, type BackupProgress, type BackupSummary, backupDatabase } from './backup/backup.js';
export { BackupError, type BackupErrorCode } from './backup/backup-error.js';
export {
  type CheckedBackup,
  checkBackup,
  type RestoreOptions,
  type RestoreSummary,
  restoreDatabase,
} from './backup/restore.js';
export { changedFields } from './changed-fields.js';
export {
  type AuditRecord,
  type CommandContext,
  commandStatement,
  runCommand,
  runCommandStatement,
  runSqlCommand,
  SqlTransaction,
  Transaction,
  UnconfirmedChange,
} from './command.js';
export { Database, type DatabaseOptions } from './database.js';
export { DatabaseModule } from './database.module.js';
export { translateDatabaseError } from './database-error.js';
export { embeddedBinariesProblem } from './embedded/binaries.js';
export {
  type EmbeddedDatabase,
  type EmbeddedDatabaseOptions,
  type EmbeddedProgress,
  startEmbeddedDatabase,
} from './embedded/embedded-database.js';
export { EmbeddedDatabaseError, type EmbeddedErrorCode } from './embedded/embedded-error.js';
export { type EmbeddedLook, lookAtEmbeddedDatabase } from './embedded/look.js';
export { findOwner, holdsLock, type Owner, type Ownership, takeOwnership } from './embedded/ownership.js';
export type { ServerEnd } from './embedded/server-process.js';
export { databaseUser } from './embedded/server-user.js';
export { Prisma, PrismaClient } from './generated/client.js';
export { MigrationError, type MigrationErrorCode } from './migrate/migration-error.js';
export { type Migration, migrationsFolder, readMigrations } from './migrate/migration-files.js';
export { type MigrateOptions, type MigrateResult, migrate, type PendingChange } from './migrate/migrator.js';
export { namePattern } from './name-pattern.js';
export type { OutboxMessage } from './outbox/outbox-message.js';
export { type OutboxLogger, OutboxPublisher, type OutboxPublisherOptions } from './outbox/outbox-publisher.js';
export { type Cursor, cursorOf, FIRST_ID, LAST_ID, pageJson } from './page.js';
export { type Statement, statement } from './statement.js';
