export { migrateWhenReachable } from './migrate-when-reachable.js';
export { MigrationError, type MigrationErrorCode } from './migration-error.js';
export { type Migration, migrationsFolder, readMigrations } from './migration-files.js';
export { type MigrateOptions, type MigrateResult, migrate, type PendingChange } from './migrator.js';
