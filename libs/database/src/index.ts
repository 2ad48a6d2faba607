export {
  type AccessChangeOptions,
  type AccessChangeResult,
  changeAccess,
  emitAccessChanged,
  lockAccess,
  refreshAccess,
  shareAccessLock,
} from './access-change.js';
export * from './backup/index.js';
export { changedFields } from './changed-fields.js';
export {
  type AuditRecord,
  appliedBefore,
  appliedOnce,
  type CommandContext,
  type PreparedWork,
  type RowSource,
  runCommand,
  runPreparedCommand,
  type StatementRunner,
  Transaction,
  UnconfirmedChange,
} from './command.js';
export { Database, type DatabaseOptions } from './database.js';
export { DatabaseModule } from './database.module.js';
export { translateDatabaseError } from './database-error.js';
export * from './embedded/index.js';
export { Prisma, PrismaClient } from './generated/client.js';
export { lockSeenNodes } from './lock-seen-nodes.js';
export * from './migrate/index.js';
export { namePattern } from './name-pattern.js';
export { type OutboxMessage, publishedFrom } from './outbox/outbox-message.js';
export { type OutboxLogger, OutboxPublisher, type OutboxPublisherOptions } from './outbox/outbox-publisher.js';
export { type Cursor, cursorOf, FIRST_ID, LAST_ID, pageJson } from './page.js';
export { databaseOptions, publishOutbox, watchDatabase } from './process-database.js';
export { type DatabaseService, serveFromDatabase } from './serve-from-database.js';
export { DatabaseScopes } from './session-scopes.js';
export { type Statement, statement } from './statement.js';
export { systemContext } from './system-context.js';
export { levelOf, SEEN_SETS, seen, seenBy, VISIBLE, writable } from './visibility.js';
