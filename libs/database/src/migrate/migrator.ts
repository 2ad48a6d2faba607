import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { productSchemas } from '../product-schemas.js';
import { MigrationError } from './migration-error.js';
import { type Migration, readMigrations } from './migration-files.js';

/** What is about to happen to a database that holds data already. */
export interface PendingChange {
  /** Names of the migrations that the database already has, in order. */
  readonly applied: readonly string[];
  /** Names of the migrations that will be applied, in order. */
  readonly pending: readonly string[];
}

/** Options of `migrate`. */
export interface MigrateOptions {
  /** PostgreSQL URL of the owner of the database. */
  readonly url: string;
  /** Default: the migrations of this build. */
  readonly migrations?: readonly Migration[];
  /** Stops after the migration of this name; for bringing an empty database to the level of a backup. */
  readonly upTo?: string;
  /** Called once, under the lock, before the first migration of a database that has some already. A rejection stops everything. */
  readonly beforeChange?: (change: PendingChange) => Promise<void>;
  /** Called when another process migrates the same database right now. */
  readonly onWait?: () => void;
  /** Called before each migration. */
  readonly onMigration?: (name: string) => void;
}

export interface MigrateResult {
  /** Names applied by this call, in order. */
  readonly applied: string[];
  /** Name of the newest migration in the database. */
  readonly level: string | undefined;
}

interface AppliedRow {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

/** One number for this product; Prisma's own tool uses another and runs only by hand. */
const migrationLock = 7_301_001;
const oldestServer = 150_000;

const historyTable = `
  CREATE TABLE IF NOT EXISTS public._prisma_migrations (
    id varchar(36) PRIMARY KEY NOT NULL,
    checksum varchar(64) NOT NULL,
    finished_at timestamptz,
    migration_name varchar(255) NOT NULL,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`;

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; shown: string; encoding: string; icu: boolean }>(`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown,
      current_setting('server_encoding') AS encoding, to_regcollation('"und-x-icu"') IS NOT NULL AS icu`);
  const server = rows[0];
  const refuse = (what: string): never => {
    throw new MigrationError('UNSUPPORTED_SERVER', what);
  };
  if (server === undefined || server.version < oldestServer)
    refuse(`PostgreSQL 15 or newer is needed; this server is ${server?.shown}.`);
  if (server?.encoding !== 'UTF8')
    refuse(`The database's encoding is ${server?.encoding}; create it with ENCODING 'UTF8'.`);
  if (!server?.icu) refuse('This PostgreSQL was built without ICU, which search needs; use the official packages.');
}

async function readApplied(client: pg.Client): Promise<AppliedRow[]> {
  const exists = await client.query<{ there: boolean }>(
    `SELECT to_regclass('public._prisma_migrations') IS NOT NULL AS there`,
  );
  if (!exists.rows[0]?.there) return [];
  const { rows } = await client.query<AppliedRow>(`
    SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
    FROM public._prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`);
  return rows;
}

async function refuseForeignTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname = ANY ($1) ORDER BY 1 LIMIT 1`,
    [productSchemas],
  );
  if (rows[0] === undefined) return;
  throw new MigrationError(
    'FOREIGN_TABLES',
    `The database contains the table ${rows[0].name}, which this program did not create. Use a separate database.`,
  );
}

function checkHistory(applied: readonly AppliedRow[], known: readonly Migration[]): void {
  for (const row of applied) {
    const migration = known.find((candidate) => candidate.name === row.name);
    if (!row.finished) {
      throw new MigrationError(
        'UNFINISHED_MIGRATION',
        `Migration ${row.name} was started by another tool and not finished. Restore the backup, or resolve it with that tool.`,
      );
    }
    if (migration === undefined) {
      throw new MigrationError(
        'NEWER_DATABASE',
        `The database was written by a newer version: it has the migration ${row.name}, which this version does not know. Install the newer version, or restore a backup of this one.`,
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new MigrationError(
        'CHANGED_MIGRATION',
        `Migration ${row.name} was applied with a different text than this version has. Use the version that created the database, or restore a backup into a new database.`,
      );
    }
  }
}

function lineOf(sql: string, position: string | undefined): number | undefined {
  return position === undefined ? undefined : sql.slice(0, Number(position)).split('\n').length;
}

function migrationFailed(migration: Migration, failure: pg.DatabaseError): MigrationError {
  const line = lineOf(migration.sql, failure.position);
  const where = line === undefined ? '' : ` at line ${line}`;
  const message = `Migration ${migration.name} failed${where}: ${failure.message}. It was rolled back.`;
  return new MigrationError('MIGRATION_FAILED', message, { cause: failure });
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO public._prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query('COMMIT');
  } catch (error) {
    throw migrationFailed(migration, error as pg.DatabaseError);
  }
}

async function lock(client: pg.Client, onWait?: () => void): Promise<void> {
  const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [migrationLock]);
  if (rows[0]?.mine) return;
  onWait?.();
  await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
}

function backupFailed(cause: Error): MigrationError {
  const message = `The database was not changed, because the backup before its migration failed: ${cause.message}`;
  return new MigrationError('BACKUP_FAILED', message, { cause });
}

async function prepare(options: MigrateOptions, change: PendingChange): Promise<void> {
  if (change.applied.length === 0 || change.pending.length === 0) return;
  try {
    await options.beforeChange?.(change);
  } catch (error) {
    throw backupFailed(error as Error);
  }
}

async function migrateLocked(client: pg.Client, options: MigrateOptions): Promise<MigrateResult> {
  const known = options.migrations ?? readMigrations();
  const applied = await readApplied(client);
  if (applied.length === 0) await refuseForeignTables(client);
  checkHistory(applied, known);
  const done = new Set(applied.map((row) => row.name));
  const pending = known.filter(({ name }) => !done.has(name) && (options.upTo === undefined || name <= options.upTo));
  await prepare(options, { applied: [...done], pending: pending.map(({ name }) => name) });
  if (pending.length > 0) await client.query(historyTable);
  for (const migration of pending) {
    options.onMigration?.(migration.name);
    await apply(client, migration);
  }
  const names = pending.map(({ name }) => name);
  return { applied: names, level: [...done, ...names].sort().at(-1) };
}

/**
 * Brings a database to this build's level: each pending `migration.sql` in a transaction of its own, recorded as the
 * official tool does. Any number of processes may start at once: one migrates, the others wait.
 * @throws MigrationError saying what to do; errors of the connection as they are
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const client = new pg.Client({ connectionString: options.url, application_name: 'workspace-graph migration' });
  await client.connect();
  // A line that drops between two queries makes the next one fail, which is what is reported.
  client.on('error', () => undefined);
  try {
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0');
    await checkServer(client);
    await lock(client, options.onWait);
    return await migrateLocked(client, options);
  } finally {
    await client.end();
  }
}
