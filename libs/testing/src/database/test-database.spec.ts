import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createEmptyDatabase, createTestDatabase, sharedPostgresUrl } from '../index.js';

let folder: string;
let migrations = 0;

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function migrate(url: string): Promise<void> {
  migrations++;
  await query(url, 'create table thing (id int primary key)');
}

function create(variant: string): ReturnType<typeof createTestDatabase> {
  return createTestDatabase({ migrate, migrationsFolder: folder, variant });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  mkdirSync(join(folder, '001_first'));
  writeFileSync(join(folder, '001_first', 'migration.sql'), `-- ${folder}`);
  migrations = 0;
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('databases cloned from a migrated template', () => {
  it('are migrated once however many are asked for at once', async () => {
    const databases = await Promise.all(Array.from({ length: 6 }, () => create('')));
    expect(migrations).toBe(1);
    expect(new Set(databases.map((database) => database.url)).size).toBe(6);
    await Promise.all(databases.map((database) => database.drop()));
  });

  it('do not see each other’s rows', async () => {
    await using first = await create('');
    await using second = await create('');
    await query(first.url, 'insert into thing values (1)');
    expect(await query(second.url, 'select * from thing')).toEqual([]);
  });

  it('get a new template when a migration changes or the variant differs', async () => {
    await using _first = await create('');
    await using _variant = await create('large');
    writeFileSync(join(folder, '001_first', 'migration.sql'), '-- changed');
    await using _changed = await create('');
    expect(migrations).toBe(3);
  });

  it('are gone after drop, even with a connection open', async () => {
    const database = await create('');
    const client = new pg.Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    await database.drop();
    await database.drop();
    await client.end();
    expect(
      await query(await sharedPostgresUrl(), `select 1 from pg_database where datname = '${database.name}'`),
    ).toEqual([]);
  });

  it('try again after a migration that failed', async () => {
    const failing = createTestDatabase({
      migrationsFolder: folder,
      migrate: () => Promise.reject(new Error('bad SQL')),
    });
    await expect(failing).rejects.toThrow('bad SQL');
    await using _second = await create('');
    expect(migrations).toBe(1);
  });
});

describe('an empty database', () => {
  it('has no table', async () => {
    await using database = await createEmptyDatabase();
    expect(await query(database.url, `select 1 from pg_tables where schemaname = 'public'`)).toEqual([]);
  });
});
