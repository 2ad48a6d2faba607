import { createHash } from 'node:crypto';
import { createEmptyDatabase, type TestDatabase } from '@workspace-graph/testing';
import pg from 'pg';
import type { Migration } from './migration-files.js';
import { readMigrations } from './migration-files.js';
import { migrate, type PendingChange } from './migrator.js';

let database: TestDatabase;

function migration(name: string, sql: string): Migration {
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

const first = migration('0001_first', 'CREATE TABLE thing (id int);\nINSERT INTO thing VALUES (1);');
const second = migration('0002_second', 'ALTER TABLE thing ADD COLUMN name text');

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function names(): Promise<Record<string, unknown>[]> {
  return query('SELECT migration_name AS name FROM _prisma_migrations ORDER BY 1');
}

beforeEach(async () => {
  database = await createEmptyDatabase();
});

afterEach(() => database.drop());

describe('a database that is brought to the newest level', () => {
  it('gets every migration of the repository, in order, as the official tool records them', async () => {
    const result = await migrate({ url: database.url });
    const known = readMigrations();
    expect(result.applied).toEqual(known.map(({ name }) => name));
    expect(result.level).toBe(known.at(-1)?.name);
    expect(
      await query(
        'SELECT checksum, finished_at IS NOT NULL AS finished, applied_steps_count AS steps FROM _prisma_migrations ORDER BY migration_name',
      ),
    ).toEqual(known.map(({ checksum }) => ({ checksum, finished: true, steps: 1 })));
  });

  it('is left alone when it is there already', async () => {
    await migrate({ url: database.url, migrations: [first] });
    expect(await migrate({ url: database.url, migrations: [first] })).toEqual({ applied: [], level: '0001_first' });
  });

  it('applies each migration once though three start at the same moment [graph.migration.applied-once]', async () => {
    const results = await Promise.all([1, 2, 3].map(() => migrate({ url: database.url, migrations: [first, second] })));
    expect(results.flatMap((result) => result.applied)).toEqual(['0001_first', '0002_second']);
    expect(await query('SELECT id, name FROM thing')).toEqual([{ id: 1, name: null }]);
  });

  it('stops at the level asked for and goes on later', async () => {
    expect((await migrate({ url: database.url, migrations: [first, second], upTo: '0001_first' })).level).toBe(
      '0001_first',
    );
    expect((await migrate({ url: database.url, migrations: [first, second] })).applied).toEqual(['0002_second']);
  });

  it('tells that it waits for another process', async () => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(7301001)');
    let released: Promise<unknown> = Promise.resolve();
    const onWait = (): void => {
      released = holder.end();
    };
    const result = await migrate({ url: database.url, migrations: [first], onWait });
    await released;
    expect(result.applied).toEqual(['0001_first']);
  });
});

describe('the step before a change', () => {
  it('is taken only where there is something to save', async () => {
    const seen: PendingChange[] = [];
    const beforeChange = async (change: PendingChange): Promise<void> => void seen.push(change);
    await migrate({ url: database.url, migrations: [first], beforeChange });
    await migrate({ url: database.url, migrations: [first], beforeChange });
    expect(seen).toEqual([]);
    await migrate({ url: database.url, migrations: [first, second], beforeChange });
    expect(seen).toEqual([{ applied: ['0001_first'], pending: ['0002_second'] }]);
  });

  it('stops the migration when it fails', async () => {
    await migrate({ url: database.url, migrations: [first] });
    const failing = migrate({
      url: database.url,
      migrations: [first, second],
      beforeChange: () => Promise.reject(new Error('disk full')),
    });
    await expect(failing).rejects.toMatchObject({
      code: 'BACKUP_FAILED',
      message: expect.stringContaining('disk full'),
    });
    expect(await names()).toEqual([{ name: '0001_first' }]);
  });
});

describe('a database that is refused', () => {
  it('was written by a newer version', async () => {
    await migrate({ url: database.url, migrations: [first, second] });
    await expect(migrate({ url: database.url, migrations: [first] })).rejects.toMatchObject({
      code: 'NEWER_DATABASE',
      message: expect.stringContaining('0002_second'),
    });
  });

  it('has a migration with another text', async () => {
    await migrate({ url: database.url, migrations: [first] });
    const changed = migration(first.name, `${first.sql} -- changed`);
    await expect(migrate({ url: database.url, migrations: [changed] })).rejects.toMatchObject({
      code: 'CHANGED_MIGRATION',
    });
  });

  it('has a migration that another tool left unfinished', async () => {
    await migrate({ url: database.url, migrations: [first] });
    await query(`UPDATE _prisma_migrations SET finished_at = NULL`);
    await expect(migrate({ url: database.url, migrations: [first, second] })).rejects.toMatchObject({
      code: 'UNFINISHED_MIGRATION',
    });
  });

  it('holds tables of somebody else in the product’s schemas', async () => {
    await query('CREATE SCHEMA graph; CREATE TABLE graph.other (id int)');
    await expect(migrate({ url: database.url })).rejects.toMatchObject({
      code: 'FOREIGN_TABLES',
      message: expect.stringContaining('graph.other'),
    });
  });
});

describe('a migration that fails', () => {
  it('leaves nothing of itself, keeps those before it and names the line', async () => {
    const broken = migration('0002_broken', 'CREATE TABLE half (id int);\nINSERT INTO nowhere VALUES (1);');
    await expect(migrate({ url: database.url, migrations: [first, broken] })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringMatching(/0002_broken failed at line 2: .*nowhere/),
    });
    expect(await names()).toEqual([{ name: '0001_first' }]);
    expect(await query(`SELECT to_regclass('half')::text AS half`)).toEqual([{ half: null }]);
    expect((await migrate({ url: database.url, migrations: [first, second] })).applied).toEqual(['0002_second']);
  });
});
