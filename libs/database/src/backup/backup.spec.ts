import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '@workspace-graph/testing';
import { startEmbeddedDatabase } from '../embedded/embedded-database.js';
import { type Migration, readMigrations } from '../migrate/migration-files.js';
import { migrate } from '../migrate/migrator.js';
import { fill, fingerprint, withClient } from './backup.fixture.js';
import { type BackupProgress, backupDatabase } from './backup.js';
import { readTables } from './catalogue.js';
import { encodeFrame, type Frame } from './frames.js';
import { checkBackup, restoreDatabase } from './restore.js';
import { writeSealed } from './sealed-file.js';

import.meta.jest.setTimeout(60_000);

const known = readMigrations();
const newest = known.at(-1)?.name;
let folder: string;
let source: TestDatabase;
let target: TestDatabase;
let file: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'));
  file = join(folder, 'full.wgbackup');
  source = await createTestDatabase({ migrate: async (url) => void (await migrate({ url })) });
  await fill(source.url);
  await backupDatabase({ url: source.url, file });
});

afterAll(async () => {
  await source.drop();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  target = await createEmptyDatabase();
});

afterEach(() => target.drop());

async function tablesOf(url: string): Promise<number> {
  return withClient(
    url,
    async (client) =>
      (await client.query(`SELECT FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`))
        .rowCount ?? -1,
  );
}

/** A file in good order, whatever it says. */
async function craft(frames: Frame[]): Promise<string> {
  const crafted = join(folder, `crafted-${Math.random()}`);
  await writeSealed(
    crafted,
    (async function* () {
      for (const frame of frames) yield encodeFrame(frame);
    })(),
  );
  return crafted;
}

const header: Frame = {
  kind: 'header',
  value: { createdAt: '', server: '', migrations: known.map(({ name, checksum }) => ({ name, checksum })) },
};

describe('a backup and its restore', () => {
  it('make an identical database, table by table, with working triggers and sequences [graph.backup.restore]', async () => {
    const summary = await restoreDatabase({ url: target.url, file });
    const before = await fingerprint(source.url);
    expect(Object.keys(before)).toHaveLength(39);
    expect(Object.values(before).filter((digest) => digest.startsWith('0:'))).toEqual([]);
    expect(await fingerprint(target.url)).toEqual(before);
    expect(summary).toMatchObject({
      backupLevel: newest,
      level: newest,
      rows: { 'graph.node': 1201, 'identity.token': 1 },
    });
    await withClient(target.url, async (client) => {
      await expect(client.query('DELETE FROM audit.entry')).rejects.toThrow('append-only');
      await client.query(`INSERT INTO graph.access_set (gates, gates_md5) VALUES (ARRAY[gen_random_uuid()], 'x')`);
      const disabled = await client.query(`SELECT FROM pg_trigger WHERE tgenabled = 'D'`);
      expect(disabled.rowCount).toBe(0);
    });
  });

  it('work for an owner without any other right, and on another version of PostgreSQL', async () => {
    const place = mkdtempSync('/tmp/restore-');
    try {
      await using embedded = await startEmbeddedDatabase({ folder: join(place, 'db') });
      await restoreDatabase({ url: embedded.url, file });
      expect(await fingerprint(embedded.url)).toEqual(await fingerprint(source.url));
      const again = join(folder, 'again.wgbackup');
      await backupDatabase({ url: embedded.url, file: again });
      await restoreDatabase({ url: target.url, file: again });
      expect(await fingerprint(target.url)).toEqual(await fingerprint(source.url));
    } finally {
      rmSync(place, { recursive: true });
    }
  });

  it('give the audit trail numbers of the new server’s transactions', async () => {
    await restoreDatabase({ url: target.url, file });
    const rows = await withClient(
      target.url,
      async (client) =>
        (await client.query('SELECT xid < pg_snapshot_xmax(pg_current_snapshot()) AS past FROM audit.entry')).rows,
    );
    expect(rows).toEqual([{ past: true }]);
  });

  it('hold one moment, though others go on writing', async () => {
    const busy = await createTestDatabase({ migrate: async (url) => void (await migrate({ url })) });
    try {
      await fill(busy.url);
      const moving = join(folder, 'moving.wgbackup');
      let first = true;
      await withClient(busy.url, async (writer) => {
        const writes: Promise<unknown>[] = [];
        const onProgress = (): void => {
          if (!first) return;
          first = false;
          writes.push(
            writer.query(
              `INSERT INTO identity."user" (id, name, max_scope) VALUES (gen_random_uuid(), 'late', 'read')`,
            ),
          );
          writes.push(
            writer.query(
              `INSERT INTO graph.actor (id, type, name, user_id) SELECT gen_random_uuid(), 'person', 'late', id FROM identity."user" WHERE name = 'late'`,
            ),
          );
        };
        await backupDatabase({ url: busy.url, file: moving, onProgress });
        await Promise.all(writes);
      });
      await restoreDatabase({ url: target.url, file: moving });
      const late = await withClient(
        target.url,
        async (client) =>
          (
            await client.query(
              `SELECT FROM identity."user" WHERE name = 'late' UNION ALL SELECT FROM graph.actor WHERE name = 'late'`,
            )
          ).rowCount,
      );
      expect(late).toBe(0);
    } finally {
      await busy.drop();
    }
  });

  it('bring an older backup to this level, and begin anew in a database that was only migrated', async () => {
    const sql = 'ALTER TABLE graph.node ADD COLUMN colour text';
    const later: Migration[] = [
      ...known,
      { name: '9999_later', sql, checksum: createHash('sha256').update(sql).digest('hex') },
    ];
    await migrate({ url: target.url, migrations: later });
    const summary = await restoreDatabase({ url: target.url, file, migrations: later });
    expect(summary).toMatchObject({ backupLevel: newest, level: '9999_later' });
    const rows = await withClient(
      target.url,
      async (client) => (await client.query('SELECT count(*)::int AS n FROM graph.node WHERE colour IS NULL')).rows,
    );
    expect(rows).toEqual([{ n: 1201 }]);
  });

  it('are taken before the first migration of a database that holds data [graph.backup.before-migration]', async () => {
    const sql = 'UPDATE graph.node SET goal = DEFAULT';
    const checksum = createHash('sha256').update(sql).digest('hex');
    const before = join(folder, 'before.wgbackup');
    await restoreDatabase({ url: target.url, file });
    await migrate({
      url: target.url,
      migrations: [...known, { name: '9999_later', sql, checksum }],
      beforeChange: async () => void (await backupDatabase({ url: target.url, file: before })),
    });
    const empty = await createEmptyDatabase();
    try {
      await restoreDatabase({ url: empty.url, file: before });
      expect(await fingerprint(empty.url)).toEqual(await fingerprint(source.url));
      expect(await fingerprint(target.url)).not.toEqual(await fingerprint(source.url));
    } finally {
      await empty.drop();
    }
  });

  it('tell how far they are', async () => {
    const seen: BackupProgress[] = [];
    await restoreDatabase({ url: target.url, file, onProgress: (progress) => seen.push(progress) });
    expect(seen).toHaveLength(39);
    expect(seen.at(-1)).toMatchObject({ tablesDone: 39, tables: 39 });
  });
});

describe('the file', () => {
  it('is for its user only, and says what it is', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file).subarray(0, 25).toString()).toBe('workspace-graph-backup/1\n');
    expect((await checkBackup(file)).header.migrations.map(({ name }) => name)).toEqual(known.map(({ name }) => name));
  });

  it('never replaces another, and leaves nothing when it fails', async () => {
    await expect(backupDatabase({ url: source.url, file })).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    await expect(backupDatabase({ url: source.url, file: join(file, 'below') })).rejects.toMatchObject({
      code: 'FILE_UNUSABLE',
    });
    await expect(backupDatabase({ url: target.url, file: join(folder, 'nothing') })).rejects.toMatchObject({
      code: 'NOT_MIGRATED',
    });
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial') || name === 'nothing')).toEqual([]);
  });
});

describe('a file that is refused before anything is written', () => {
  async function refuses(bad: string, code: string): Promise<void> {
    await expect(restoreDatabase({ url: target.url, file: bad })).rejects.toMatchObject({ code });
    expect(await tablesOf(target.url)).toBe(0);
  }

  it('was cut short anywhere', async () => {
    const { size } = statSync(file);
    for (const length of [0, 10, 25, 60, 200, size >> 1, size - 80, size - 1]) {
      const cut = join(folder, `cut-${length}`);
      copyFileSync(file, cut);
      truncateSync(cut, length);
      await refuses(cut, length < 25 ? 'NOT_A_BACKUP' : 'DAMAGED');
    }
  });

  it('has one changed byte anywhere', async () => {
    const bytes = readFileSync(file);
    for (const at of [30, bytes.length >> 2, bytes.length - 100, bytes.length - 10]) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      const bad = join(folder, `changed-${at}`);
      writeFileSync(bad, changed);
      await refuses(bad, 'DAMAGED');
    }
  });

  it('is something else, or is not there', async () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'hello '.repeat(100));
    await refuses(other, 'NOT_A_BACKUP');
    await refuses(join(folder, 'absent'), 'FILE_UNUSABLE');
    await refuses(folder, 'FILE_UNUSABLE');
  });

  it('has a newer format, or a migration that this version does not know', async () => {
    const newer = join(folder, 'newer');
    writeFileSync(newer, readFileSync(file, 'latin1').replace('backup/1', 'backup/2'), 'latin1');
    await refuses(newer, 'NEWER_BACKUP');
    await refuses(
      await craft([
        { kind: 'header', value: { createdAt: '', server: '', migrations: [{ name: '9999_unknown', checksum: 'x' }] } },
      ]),
      'NEWER_BACKUP',
    );
  });
});

describe('a database that is refused or left empty', () => {
  it('holds data', async () => {
    const before = await fingerprint(source.url);
    await expect(restoreDatabase({ url: source.url, file })).rejects.toMatchObject({ code: 'NOT_EMPTY' });
    expect(await fingerprint(source.url)).toEqual(before);
  });

  it('is empty again when the content breaks a rule, and takes a good backup then', async () => {
    const tables = await withClient(source.url, readTables);
    const user = tables.find(({ table }) => table === 'identity."user"') ?? { table: '', columns: [] };
    const values: Record<string, string> = {
      id: '00000000-0000-7000-8000-000000000001',
      name: 'U',
      version: '1',
      created_at: '2026-01-01',
      updated_at: '2026-01-01',
    };
    const row = (scope: string): Frame => ({
      kind: 'rows',
      value: Buffer.from(
        `${user.columns.map((name) => ({ ...values, max_scope: scope })[name] ?? '\\N').join('\t')}\n`,
      ),
    });
    const broken: [Frame[], string][] = [
      [
        [header, { kind: 'table', value: user }, row('everything'), { kind: 'end', value: { rows: 1 } }],
        'RESTORE_FAILED',
      ],
      [[header, { kind: 'table', value: user }, row('read'), { kind: 'end', value: { rows: 2 } }], 'DAMAGED'],
      [[header, { kind: 'table', value: user }, row('read'), { kind: 'end', value: { rows: 1 } }], 'DAMAGED'],
      [[header, { kind: 'table', value: { table: 'pg_catalog.pg_authid', columns: ['rolname'] } }], 'DAMAGED'],
      [[header, row('read')], 'DAMAGED'],
      [[header, { kind: 'footer', value: { sequences: [] } }], 'DAMAGED'],
    ];
    for (const [frames, code] of broken) {
      await expect(restoreDatabase({ url: target.url, file: await craft(frames) })).rejects.toMatchObject({ code });
      const users = await withClient(
        target.url,
        async (client) => (await client.query('SELECT FROM identity."user"')).rowCount,
      );
      expect(users).toBe(0);
    }
    await restoreDatabase({ url: target.url, file });
    expect(await fingerprint(target.url)).toEqual(await fingerprint(source.url));
  });
});
