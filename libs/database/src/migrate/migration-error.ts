/**
 * - `NEWER_DATABASE`: the database holds a migration that this build does not know.
 * - `CHANGED_MIGRATION`: a migration was applied with another text than this build has.
 * - `UNFINISHED_MIGRATION`: another tool began a migration and did not finish it.
 * - `FOREIGN_TABLES`: the product's schemas hold tables, but no migration is recorded.
 * - `UNSUPPORTED_SERVER`: too old a PostgreSQL, not UTF8, or built without ICU.
 * - `MIGRATION_FAILED`: the SQL failed; nothing of that migration stays.
 * - `BACKUP_FAILED`: what had to happen before the first migration failed; nothing was changed.
 */
export type MigrationErrorCode =
  | 'NEWER_DATABASE'
  | 'CHANGED_MIGRATION'
  | 'UNFINISHED_MIGRATION'
  | 'FOREIGN_TABLES'
  | 'UNSUPPORTED_SERVER'
  | 'MIGRATION_FAILED'
  | 'BACKUP_FAILED';

/** The database cannot be brought to this build's level. `message` says what to do. */
export class MigrationError extends Error {
  constructor(
    readonly code: MigrationErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'MigrationError';
  }
}
