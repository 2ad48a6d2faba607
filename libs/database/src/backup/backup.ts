import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { BackupError, lossOf } from './backup-error.js';
import { neutralSettings, readLevel, readSequences, readTables } from './catalogue.js';
import { encodeFrame, type TableStart } from './frames.js';
import { writeSealed } from './sealed-file.js';

/** Progress of a backup or restore, reported after each table. */
export interface BackupProgress {
  /** The table that was just finished, as `schema.table`, quoted as in SQL. */
  readonly table: string;
  /** Rows of that table. */
  readonly rows: number;
  /** Tables finished so far, this one included. */
  readonly tablesDone: number;
  /** Tables in total. */
  readonly tables: number;
}

/** Options of `backupDatabase`. */
export interface BackupOptions {
  /** PostgreSQL URL of the owner of the database. */
  readonly url: string;
  /** File to make; it must not exist. */
  readonly file: string;
  /** Called after each table. */
  readonly onProgress?: (progress: BackupProgress) => void;
}

/** A backup that was written. */
export interface BackupSummary {
  /** Path of the file. */
  readonly file: string;
  /** Size of the file, seal included. */
  readonly sizeBytes: number;
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Name of the newest migration in it. */
  readonly level: string;
}

type Counted = (table: string, rows: number) => void;

async function* tableFrames(
  client: pg.Client,
  { table, columns }: TableStart,
  counted: Counted,
): AsyncGenerator<Buffer> {
  yield encodeFrame({ kind: 'table', value: { table, columns } });
  const stream = client.query(copyTo(`COPY ${table} (${columns.join(', ')}) TO STDOUT`));
  for await (const chunk of stream) yield encodeFrame({ kind: 'rows', value: chunk as Buffer });
  counted(table, stream.rowCount);
  yield encodeFrame({ kind: 'end', value: { rows: stream.rowCount } });
}

interface Plan {
  readonly tables: readonly TableStart[];
  readonly level: readonly { name: string; checksum: string }[];
  readonly server: string;
}

async function* backupFrames(client: pg.Client, plan: Plan, counted: Counted): AsyncGenerator<Buffer> {
  yield encodeFrame({
    kind: 'header',
    value: { createdAt: new Date().toISOString(), server: plan.server, migrations: plan.level },
  });
  for (const table of plan.tables) yield* tableFrames(client, table, counted);
  yield encodeFrame({ kind: 'footer', value: { sequences: await readSequences(client) } });
}

async function makePlan(client: pg.Client): Promise<Plan> {
  const level = await readLevel(client);
  if (level.length === 0)
    throw new BackupError('NOT_MIGRATED', 'The database contains no data of this product.', {
      advice: 'Check which database SVC_DATABASE_URL names.',
    });
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  return { tables: await readTables(client), level, server: rows[0]?.server_version ?? '' };
}

/**
 * Writes the whole database, secrets' hashes included, to one compressed file that only its user may read, as of one
 * moment and while others go on writing.
 * @throws BackupError
 */
export async function backupDatabase(options: BackupOptions): Promise<BackupSummary> {
  const client = new pg.Client({ connectionString: options.url, application_name: 'workspace-graph backup' });
  // A line that drops makes the running query fail, which is what is reported.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(neutralSettings);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const plan = await makePlan(client);
    const rows: Record<string, number> = {};
    const counted: Counted = (table, count) => {
      rows[table] = count;
      options.onProgress?.({ table, rows: count, tablesDone: Object.keys(rows).length, tables: plan.tables.length });
    };
    const sizeBytes = await writeSealed(options.file, backupFrames(client, plan, counted));
    return { file: options.file, sizeBytes, rows, level: plan.level.at(-1)?.name ?? '' };
  } catch (error) {
    throw lossOf(error, 'No backup was written.');
  } finally {
    await client.end();
  }
}
