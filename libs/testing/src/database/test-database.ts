import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { sharedPostgresUrl } from '../shared-servers.js';

export interface TestDatabaseOptions {
  /** Brings an empty database to the newest schema. Called at most once per server and state of the migrations. */
  migrate: (url: string) => Promise<void>;
  /** Folder of the migrations; its content and the text of `migrate` are the template's key. Default: the repository's `prisma/migrations`. */
  migrationsFolder?: string;
  /** Distinguishes templates with equal migrations but other content, such as a large fixture. Default ''. */
  variant?: string;
  /** Superuser URL of the server. Default: the test run's shared one. */
  serverUrl?: string;
}

/** A migrated database of one spec. */
export interface TestDatabase extends AsyncDisposable {
  /** PostgreSQL URL with user and password. */
  readonly url: string;
  /** Name of the database on its server. */
  readonly name: string;
  /** Removes the database; connections that are still open after a second are ended. A second call does nothing. */
  drop(): Promise<void>;
}

/** One number for the whole product's tests: makers of templates wait for each other. */
const templateLock = 7_341_902;
const defaultMigrations = join(dirname(fileURLToPath(import.meta.url)), '../../../../prisma/migrations');

function hashFolder(folder: string, seed: string): string {
  const hash = createHash('sha256').update(seed);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const file of files.map((entry) => join(entry.parentPath, entry.name)).sort()) {
    hash.update(file.slice(folder.length)).update('\0').update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 24);
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function exists(client: pg.Client, name: string): Promise<boolean> {
  return (await client.query('select 1 from pg_database where datname = $1', [name])).rowCount === 1;
}

/** Migrated under a draft name and renamed at the end: a template that carries its name is complete. */
async function makeTemplate(
  client: pg.Client,
  serverUrl: string,
  name: string,
  migrate: TestDatabaseOptions['migrate'],
): Promise<void> {
  const draft = `${name}_draft`;
  await client.query(`drop database if exists "${draft}" with (force)`);
  await client.query(`create database "${draft}"`);
  await migrate(databaseUrl(serverUrl, draft));
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [draft]);
  await client.query(`alter database "${draft}" rename to "${name}"`);
}

async function ensureTemplate(serverUrl: string, options: TestDatabaseOptions): Promise<string> {
  const folder = options.migrationsFolder ?? defaultMigrations;
  const name = `template_${hashFolder(folder, `${options.variant ?? ''}\0${options.migrate}`)}`;
  await withClient(serverUrl, async (client) => {
    if (await exists(client, name)) return;
    await client.query('select pg_advisory_lock($1)', [templateLock]);
    // The session's end frees the lock, also when the migration fails.
    if (!(await exists(client, name))) await makeTemplate(client, serverUrl, name, options.migrate);
  });
  return name;
}

async function connectionsTo(client: pg.Client, name: string): Promise<number> {
  return (await client.query('select 1 from pg_stat_activity where datname = $1', [name])).rowCount ?? 0;
}

/** A pool that has just ended may still say goodbye: ending its connections by force would make it report an error. */
async function dropWhenUnused(serverUrl: string, name: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const deadlineMs = Date.now() + 1000;
    while (Date.now() < deadlineMs && (await connectionsTo(client, name)) > 0) await sleep(5);
    await client.query(`drop database if exists "${name}" with (force)`);
  });
}

async function createDatabase(serverUrl: string, source: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(9).toString('hex')}`;
  await withClient(serverUrl, (client) => client.query(`create database "${name}" ${source}`));
  const drop = (): Promise<void> => dropWhenUnused(serverUrl, name);
  return { url: databaseUrl(serverUrl, name), name, drop, [Symbol.asyncDispose]: drop };
}

/**
 * A private database with the newest schema: a copy of a template that the first caller of the run migrates.
 * @throws whatever `migrate` throws; then the next caller tries again
 */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const serverUrl = options.serverUrl ?? (await sharedPostgresUrl());
  const template = await ensureTemplate(serverUrl, options);
  return createDatabase(serverUrl, `template "${template}" strategy = file_copy`);
}

/** A private database without any table. */
export async function createEmptyDatabase(options: Pick<TestDatabaseOptions, 'serverUrl'> = {}): Promise<TestDatabase> {
  return createDatabase(options.serverUrl ?? (await sharedPostgresUrl()), '');
}
