import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import pg from 'pg';
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { type Migration, readMigrations } from '../migrate/migration-files.js';
import { migrate } from '../migrate/migrator.js';
import { productSchemas } from '../product-schemas.js';
import type { BackupProgress } from './backup.js';
import { BackupError, lossOf } from './backup-error.js';
import { findFilledTable, neutralSettings, readLevel, readTables } from './catalogue.js';
import {
  type BackupFooter,
  type BackupHeader,
  decodeFrames,
  type Frame,
  type TableEnd,
  type TableStart,
} from './frames.js';
import { checkSeal, readSealed } from './sealed-file.js';

/** Options of `restoreDatabase`. */
export interface RestoreOptions {
  /** A database without data of this product; an empty one, or one that was only migrated. */
  readonly url: string;
  /** The backup; its seal is checked first. */
  readonly file: string;
  /** Default: the migrations of this build. */
  readonly migrations?: readonly Migration[];
  /** Called after each table. */
  readonly onProgress?: (progress: BackupProgress) => void;
}

/** A backup that was restored. */
export interface RestoreSummary {
  /** When the backup was made, ISO 8601 in UTC. */
  readonly createdAt: string;
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Newest migration in the backup. */
  readonly backupLevel: string;
  /** Newest migration in the database now. */
  readonly level: string;
}

/** A backup whose seal was checked. */
export interface CheckedBackup {
  /** When, from which server and at which migrations it was made. */
  readonly header: BackupHeader;
  /** Size of the file, seal included. */
  readonly sizeBytes: number;
}

function damaged(what: string): BackupError {
  return new BackupError('DAMAGED', `The backup is damaged: ${what}.`, { advice: 'Use another backup.' });
}

/**
 * Reads the whole file, compares it with its seal and answers what it says of itself. Touches no database.
 * @throws BackupError NOT_A_BACKUP, NEWER_BACKUP, DAMAGED, FILE_UNUSABLE
 */
export async function checkBackup(file: string): Promise<CheckedBackup> {
  const sizeBytes = await checkSeal(file);
  for await (const frame of decodeFrames(readSealed(file, sizeBytes))) {
    if (frame.kind !== 'header') break;
    return { header: frame.value, sizeBytes };
  }
  throw damaged('its header is missing');
}

/** The migrations that bring an empty database to the backup's level. */
function migrationsOf(header: BackupHeader, known: readonly Migration[]): Migration[] {
  return header.migrations.map(({ name, checksum }) => {
    const migration = known.find((candidate) => candidate.name === name);
    if (migration?.checksum === checksum) return migration;
    const why = migration === undefined ? 'does not know its migration' : 'has a different text of its migration';
    throw new BackupError(
      'NEWER_BACKUP',
      `The backup was made by another version of the product: this version ${why} ${name}.`,
      {
        advice: 'Restore it with the version that made it, or a newer one.',
      },
    );
  });
}

const nothingKept = 'Nothing was restored.';

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'workspace-graph restore' });
  // A line that drops makes the running query fail, which is what is reported.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(neutralSettings);
    return await work(client);
  } catch (error) {
    throw lossOf(error, nothingKept);
  } finally {
    await client.end();
  }
}

async function requireEmpty(client: pg.Client): Promise<void> {
  const filled = await findFilledTable(client, await readTables(client));
  if (filled !== undefined)
    throw new BackupError('NOT_EMPTY', `The database already contains data (in ${filled}).`, {
      advice: 'Restore into a new database, or a new workspace folder.',
    });
}

/** A database that was only migrated, but to another level, begins anew. */
async function clearOtherLevel(url: string, wanted: readonly Migration[]): Promise<void> {
  await withClient(url, async (client) => {
    await requireEmpty(client);
    const level = await readLevel(client);
    if (level.length === 0 || level.map(({ name }) => name).join() === wanted.map(({ name }) => name).join()) return;
    await client.query('BEGIN');
    const tables = await readTables(client);
    await client.query(`LOCK TABLE ${tables.map(({ table }) => table).join(', ')} IN ACCESS EXCLUSIVE MODE`);
    await requireEmpty(client);
    await client.query(
      `DROP SCHEMA IF EXISTS ${productSchemas.map((name) => pg.escapeIdentifier(name)).join(', ')} CASCADE`,
    );
    await client.query('DROP TABLE public._prisma_migrations');
    await client.query('COMMIT');
  });
}

/** Takes frames in their order and fills the tables of one transaction. */
class Loader {
  readonly rows: Record<string, number> = {};
  private readonly client: pg.Client;
  private readonly tables: readonly TableStart[];
  private readonly onProgress: RestoreOptions['onProgress'];
  private current: { start: TableStart; stream: CopyStreamQuery } | undefined;
  private failure: Error | undefined;
  private hasFooter = false;

  constructor(client: pg.Client, tables: readonly TableStart[], onProgress: RestoreOptions['onProgress']) {
    this.client = client;
    this.tables = tables;
    this.onProgress = onProgress;
  }

  async take(frame: Frame): Promise<void> {
    switch (frame.kind) {
      case 'header':
        return;
      case 'table':
        return this.begin(frame.value);
      case 'rows':
        return this.write(frame.value);
      case 'end':
        return this.end(frame.value);
      case 'footer':
        return this.finish(frame.value);
    }
  }

  /** Nothing may be missing. */
  checkComplete(): void {
    const missing = this.tables.find(({ table }) => this.rows[table] === undefined);
    if (missing !== undefined) throw damaged(`the table ${missing.table} is missing`);
    if (!this.hasFooter) throw damaged('its end is missing');
  }

  private begin(start: TableStart): void {
    const known = this.tables.find(({ table }) => table === start.table);
    if (this.current !== undefined || known === undefined || known.columns.join() !== start.columns.join())
      throw damaged(`the table ${start.table} does not fit its version`);
    const stream = this.client.query(copyFrom(`COPY ${known.table} (${known.columns.join(', ')}) FROM STDIN`));
    // The stream does not remember it by itself, and must not be written to any more.
    stream.on('error', (error) => (this.failure ??= error));
    this.current = { start: known, stream };
  }

  private async write(bytes: Buffer): Promise<void> {
    const stream = this.current?.stream;
    if (stream === undefined) throw damaged('it has rows without a table');
    if (this.failure !== undefined) throw this.failure;
    if (!stream.write(bytes)) await once(stream, 'drain');
  }

  private async end({ rows }: TableEnd): Promise<void> {
    if (this.current === undefined) throw damaged('it has the end of a table without its beginning');
    const { start, stream } = this.current;
    this.current = undefined;
    if (this.failure !== undefined) throw this.failure;
    stream.end();
    await finished(stream);
    if (stream.rowCount !== rows) throw damaged(`${start.table} has ${stream.rowCount} rows instead of ${rows}`);
    this.rows[start.table] = rows;
    this.onProgress?.({
      table: start.table,
      rows,
      tablesDone: Object.keys(this.rows).length,
      tables: this.tables.length,
    });
  }

  private async finish({ sequences }: BackupFooter): Promise<void> {
    for (const { sequence, lastValue, isCalled } of sequences) {
      await this.client.query('SELECT setval($1::regclass, $2::bigint, $3::boolean)', [sequence, lastValue, isCalled]);
    }
    this.hasFooter = true;
  }
}

/** Triggers guard changes; this data passed them once. Foreign keys, checks and unique keys are enforced. */
async function load(client: pg.Client, options: RestoreOptions, sizeBytes: number): Promise<Record<string, number>> {
  await client.query('BEGIN');
  const tables = await readTables(client);
  for (const { table } of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  await requireEmpty(client);
  const loader = new Loader(client, tables, options.onProgress);
  for await (const frame of decodeFrames(readSealed(options.file, sizeBytes))) await loader.take(frame);
  loader.checkComplete();
  await client.query('SET CONSTRAINTS ALL IMMEDIATE');
  for (const { table } of tables) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  await client.query('COMMIT');
  for (const { table } of tables) await client.query(`ANALYZE ${table}`);
  return loader.rows;
}

function refused(cause: pg.DatabaseError): BackupError {
  const message = `The database refused the backup's data: ${cause.message}. ${nothingKept}`;
  return new BackupError('RESTORE_FAILED', message, {
    advice: 'Use another backup, or report this with the message.',
    cause,
  });
}

async function loadOrExplain(
  client: pg.Client,
  options: RestoreOptions,
  sizeBytes: number,
): Promise<Record<string, number>> {
  try {
    return await load(client, options, sizeBytes);
  } catch (error) {
    const told = lossOf(error, nothingKept);
    throw told instanceof pg.DatabaseError ? refused(told) : told;
  }
}

/**
 * Fills an empty database from a backup, all of it or nothing, and brings it to this build's level. The file is
 * checked from end to end before the database is touched.
 * @throws BackupError; MigrationError
 */
export async function restoreDatabase(options: RestoreOptions): Promise<RestoreSummary> {
  const known = options.migrations ?? readMigrations();
  const checked = await checkBackup(options.file);
  const atBackup = migrationsOf(checked.header, known);
  await prepare(options.url, atBackup);
  const rows = await withClient(options.url, (client) => loadOrExplain(client, options, checked.sizeBytes));
  const { level } = await toThisLevel(options.url, known);
  return { createdAt: checked.header.createdAt, rows, backupLevel: atBackup.at(-1)?.name ?? '', level: level ?? '' };
}

/** Makes the tables as they were when the backup was made. */
async function prepare(url: string, migrations: readonly Migration[]): Promise<void> {
  try {
    await clearOtherLevel(url, migrations);
    await migrate({ url, migrations });
  } catch (error) {
    throw lossOf(error, nothingKept);
  }
}

async function toThisLevel(url: string, migrations: readonly Migration[]): ReturnType<typeof migrate> {
  try {
    return await migrate({ url, migrations });
  } catch (error) {
    throw lossOf(error, 'The backup was restored, but not migrated to this version.');
  }
}
