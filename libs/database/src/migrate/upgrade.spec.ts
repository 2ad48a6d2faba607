import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmptyDatabase, type TestDatabase } from '@workspace-graph/testing';
import pg from 'pg';
import { backupDatabase } from '../backup/backup.js';
import { restoreDatabase } from '../backup/restore.js';
import { readMigrations } from './migration-files.js';
import { migrate } from './migrator.js';

const ORGANIZATION = '00000000-0000-7000-8000-000000000010';
const PROJECT = '00000000-0000-7000-8000-000000000011';
const [FOUNDATION, LATER] = [readMigrations().slice(0, 1), readMigrations().slice(1)];
const LATER_NAMES = LATER.map(({ name }) => name);

let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await createEmptyDatabase();
  await migrate({ url: database.url, migrations: FOUNDATION });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`
    BEGIN;
    INSERT INTO graph.node (id, type, name, lifecycle, sync_key) VALUES ('${ORGANIZATION}', 'organization', 'Acme', 'active', 'acme');
    INSERT INTO graph.node (id, type, name, lifecycle, health, organization_id, sync_key)
      VALUES ('${PROJECT}', 'project', 'Report', 'planned', 'on_track', '${ORGANIZATION}', 'report');
    INSERT INTO graph.edge (id, source_id, target_id, relation) VALUES (gen_random_uuid(), '${PROJECT}', '${ORGANIZATION}', 'belongs_to');
    INSERT INTO audit.entry (id, via, action, target_kind, target_id, request_id)
      VALUES (gen_random_uuid(), 'rest', 'create_node', 'node', '${PROJECT}', 'r');
    COMMIT`);
});

afterEach(async () => {
  await client.end();
  await database.drop();
});

const register = (path: string, on: pg.Client = client, key = path.toLowerCase()): Promise<unknown> =>
  on.query(
    `INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type)
     VALUES (gen_random_uuid(), '${PROJECT}', $1, $3, $2, 3, 'text/plain')`,
    [path, createHash('sha256').update(path).digest('hex'), key],
  );

describe('a database of the foundation with data', () => {
  it('takes files after the upgrade, and loses nothing by it', async () => {
    const before = (await client.query('SELECT * FROM graph.node ORDER BY id')).rows;
    expect((await migrate({ url: database.url })).applied).toEqual(LATER_NAMES);
    expect((await client.query('SELECT * FROM graph.node ORDER BY id')).rows).toEqual(before);
    expect((await client.query('SELECT action FROM audit.entry')).rows).toEqual([{ action: 'create_node' }]);
    await register('wip/a.md');
    expect((await client.query('SELECT path, section, version FROM file.record')).rows).toEqual([
      { path: 'wip/a.md', section: 'wip', version: 1 },
    ]);
  });

  it('knows which calls were carried out and repeats no reply of before [access.hidden.no-kept-reply]', async () => {
    await client.query(
      `INSERT INTO outbox.applied_call (call_id, operation, request_sha256, reply) VALUES ('c', 'log', '\\x01', '{"a": 1}')`,
    );
    await migrate({ url: database.url });
    expect((await client.query('SELECT call_id, reply, rests_on FROM outbox.applied_call')).rows).toEqual([
      { call_id: 'c', reply: null, rests_on: [] },
    ]);
  });

  it('is a backup that restores and migrates to the current schema [graph.backup.released-versions]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
    await using target = await createEmptyDatabase();
    const file = join(folder, 'old.backup');
    await backupDatabase({ url: database.url, file });
    const summary = await restoreDatabase({ url: target.url, file });
    await rm(folder, { recursive: true });
    expect(summary).toMatchObject({ backupLevel: '0001_foundation', level: LATER_NAMES.at(-1) });
    const restored = new pg.Client({ connectionString: target.url });
    await restored.connect();
    await register('outputs/b.md', restored);
    expect((await restored.query('SELECT name FROM graph.node ORDER BY id')).rows).toEqual([
      { name: 'Acme' },
      { name: 'Report' },
    ]);
    await restored.end();
  });
});

describe('the tokens of the foundation', () => {
  it('are told apart after the upgrade: the processes’ own, and those of their persons', async () => {
    const id = (n: number): string => `00000000-0000-7000-8000-00000000010${n}`;
    await client.query(`
      INSERT INTO identity."user" (id, name, max_scope) VALUES ('${id(0)}', 'Ada', 'manage');
      INSERT INTO identity.bootstrap (user_id) VALUES ('${id(0)}');
      INSERT INTO identity.token (id, kind, label, scope, user_id, secret_sha256, expires_at)
        SELECT id::uuid, kind, label, scope, '${id(0)}', sha256(id::bytea), now() + interval '1 day' FROM (VALUES
          ('${id(1)}', 'device', 'sidecar', 'manage'), ('${id(2)}', 'personal', 'first', 'manage'),
          ('${id(3)}', 'device', 'sidecar', 'manage'), ('${id(4)}', 'personal', 'mine', 'read')) AS t (id, kind, label, scope);
      INSERT INTO audit.entry (id, via, action, target_kind, target_id, request_id)
        SELECT gen_random_uuid(), 'system', 'bootstrap', 'token', id::uuid, 'r' FROM unnest(ARRAY['${id(1)}', '${id(2)}']) id`);
    await migrate({ url: database.url });
    expect((await client.query('SELECT origin, made_by FROM identity.token ORDER BY id')).rows).toEqual(
      ['workspace', 'bootstrap', 'person', 'person'].map((origin) => ({ origin, made_by: null })),
    );
  });
});

describe('what was to be done to files', () => {
  it('is the work of the one device that there was, that of the owner of the workspace [files.intents.own-device]', async () => {
    await migrate({ url: database.url, migrations: readMigrations().filter(({ name }) => name < '0008') });
    await register('wip/a.md');
    await client.query(`
      INSERT INTO identity."user" (id, name, max_scope) VALUES ('${PROJECT}', 'Ada', 'manage');
      INSERT INTO identity.token (id, kind, label, scope, user_id, secret_sha256, expires_at, origin)
        SELECT gen_random_uuid(), 'device', 'sidecar', 'manage', '${PROJECT}', sha256(n::text::bytea), now(), 'workspace' FROM generate_series(1, 2) n;
      INSERT INTO file.pending_op (id, file_id, node_id, kind, from_path)
        SELECT gen_random_uuid(), id, node_id, 'delete', path FROM file.record`);
    await migrate({ url: database.url });
    const { rows } = await client.query(
      'SELECT d.user_id FROM file.pending_op p JOIN identity.device d ON d.id = p.device_id',
    );
    expect(rows).toEqual([{ user_id: PROJECT }]);
    expect((await client.query('SELECT 1 FROM identity.device')).rowCount).toBe(1);
  });
});

describe('the audit trail of before', () => {
  const id = (n: number): string => `00000000-0000-7000-8000-${String(900 + n).padStart(12, '0')}`;
  const [OTHER, GONE, ADA] = [id(1), id(2), id(3)];
  let told = 0;
  /** A line of some version that said no more than this; answers its place. */
  const tell = async (
    action: string,
    kind: string,
    target: string | null,
    { before = null, after = null }: { readonly before?: unknown; readonly after?: unknown } = {},
  ): Promise<string> => {
    told += 1;
    await client.query(
      `INSERT INTO audit.entry (id, at, via, action, target_kind, target_id, before, after, request_id)
       VALUES ($1, timestamptz '2026-01-01' + $2 * interval '1 s', 'rest', $3, $4, $5, $6, $7, 'r')`,
      [id(1_000 + told), told, action, kind, target, JSON.stringify(before), JSON.stringify(after)],
    );
    return id(1_000 + told);
  };
  const concerns = async (entry: string): Promise<string[]> =>
    (
      await client.query<{ row: string }>(
        `SELECT c.node_id || ' ' || c.about AS row FROM audit.concern c JOIN audit.entry e ON e.id = c.entry_id AND e.at = c.at
         WHERE c.entry_id = $1 ORDER BY c.node_id`,
        [entry],
      )
    ).rows.map(({ row }) => row);

  beforeEach(async () => {
    await migrate({ url: database.url, migrations: readMigrations().filter(({ name }) => name < '0013') });
    await client.query(`
      BEGIN;
      INSERT INTO identity."user" (id, name, max_scope) VALUES ('${ADA}', 'Ada', 'manage');
      INSERT INTO graph.node (id, type, name, lifecycle, organization_id, sync_key)
        VALUES ('${OTHER}', 'area', 'Other', 'active', '${ORGANIZATION}', 'other');
      INSERT INTO graph.edge (id, source_id, target_id, relation) VALUES (gen_random_uuid(), '${OTHER}', '${ORGANIZATION}', 'belongs_to');
      COMMIT`);
  });

  it('is part of the histories of the nodes that its lines name', async () => {
    const lines: [expected: string[], entry: string][] = [];
    const add = async (expected: string[], ...line: Parameters<typeof tell>) =>
      void lines.push([expected, await tell(...line)]);
    const part = id(50);
    await add([`${PROJECT} node`], 'update_node', 'node', PROJECT, { before: { name: 'A' }, after: { name: 'B' } });
    await add([`${PROJECT} access`], 'set_access', 'node', PROJECT);
    await add([`${ORGANIZATION} edge`, `${PROJECT} node`], 'create_node', 'node', PROJECT, {
      after: { parent_ids: [ORGANIZATION] },
    });
    await add([`${ORGANIZATION} edge`, `${PROJECT} node`, `${GONE} edge`], 'move_node', 'node', PROJECT, {
      before: { organization_id: ORGANIZATION },
      after: { organization_id: GONE },
    });
    await add([`${PROJECT} edge`, `${OTHER} edge`], 'disconnect', 'edge', part, {
      before: { source_id: PROJECT, target_id: OTHER, relation: 'related_to' },
    });
    await add([`${PROJECT} responsibility`], 'update_responsibility', 'responsibility', part, {
      before: { node_id: PROJECT, title: 'A' },
      after: { node_id: PROJECT, title: 'B' },
    });
    await add([`${PROJECT} link`], 'remove_tool', 'tool', part, { before: { node_id: PROJECT, name: 'A' } });
    await add([`${PROJECT} file`, `${OTHER} file`], 'move_file', 'file', part, {
      before: { node_id: PROJECT },
      after: { node_id: OTHER },
    });
    await add([`${PROJECT} session`, `${OTHER} session`], 'expand_scope', 'session', part, {
      after: { node_ids: [PROJECT, OTHER] },
    });
    await add([], 'update_user', 'user', ADA, { after: { node_id: PROJECT } });
    await add([], 'run_import', 'workspace', null);
    await migrate({ url: database.url });
    for (const [expected, entry] of lines) expect(await concerns(entry)).toEqual(expected);
  });

  it('is part of them too where a line leaves the node out, as it was then, whether its target is there or gone', async () => {
    const [event, file, session, request, loose, goneEvent] = [60, 61, 62, 63, 64, 65].map(id);
    await client.query(`
      INSERT INTO graph.event (id, node_id, kind, content, occurred_at) VALUES ('${event}', '${PROJECT}', 'note', 'x', now());
      INSERT INTO file.record (id, node_id, path, path_key, mime_type) VALUES ('${loose}', '${PROJECT}', 'wip/a', 'wip/a', 'text/plain');
      INSERT INTO session.session (id, node_id, owner_id, origin, name) VALUES ('${session}', '${OTHER}', '${ADA}', 'task', 'S');
      INSERT INTO graph.access_request (id, node_id, user_id, access) VALUES ('${request}', '${OTHER}', '${ADA}', 'read')`);
    const edited = await tell('edit_event', 'event', event ?? null, { after: { content: 'y' } });
    await tell('log', 'event', goneEvent ?? null, { after: { node_id: GONE, content: 'x' } });
    const goneEdited = await tell('edit_event', 'event', goneEvent ?? null, { after: { content: 'y' } });
    const early = await tell('write_file', 'file', file ?? null, { after: { sha256: '1' } });
    await tell('move_file', 'file', file ?? null, { before: { node_id: PROJECT }, after: { node_id: OTHER } });
    const late = await tell('write_file', 'file', file ?? null, { after: { sha256: '2' } });
    const looseWritten = await tell('write_file', 'file', loose ?? null, { after: { sha256: '3' } });
    const reviewed = await tell('review_scope', 'session', session ?? null, { after: { node_id: PROJECT } });
    const closed = await tell('close_session', 'session', session ?? null, { after: { state: 'closed' } });
    const decided = await tell('refuse_access_request', 'access_request', request ?? null, {
      after: { state: 'refused' },
    });
    await migrate({ url: database.url });
    expect(await concerns(edited)).toEqual([`${PROJECT} event`]);
    expect(await concerns(goneEdited)).toEqual([`${GONE} event`]);
    expect(await concerns(early)).toEqual([`${PROJECT} file`]);
    expect(await concerns(late)).toEqual([`${OTHER} file`]);
    expect(await concerns(looseWritten)).toEqual([`${PROJECT} file`]);
    expect(await concerns(reviewed)).toEqual([`${PROJECT} session`, `${OTHER} session`]);
    expect(await concerns(closed)).toEqual([`${OTHER} session`]);
    expect(await concerns(decided)).toEqual([`${OTHER} access`]);
  });

  it('is taken over with lines that hold anything in place of an id', async () => {
    const odd: unknown[] = [null, 7, 'x', [], {}, '', `${PROJECT} `, `{${PROJECT}}`, { node_id: {}, parent_ids: 'x' }];
    const entries: string[] = [];
    for (const value of odd)
      for (const kind of ['node', 'edge', 'event', 'file', 'session', 'responsibility', 'access_request'])
        for (const action of ['create_node', 'move_node', 'purge_node', 'expand_scope'])
          entries.push(
            await tell(action, kind, id(70), {
              before: value,
              after: { node_id: value, source_id: value, parent_ids: [value], node_ids: value, organization_id: value },
            }),
          );
    await migrate({ url: database.url });
    const { rows } = await client.query('SELECT DISTINCT node_id FROM audit.concern WHERE entry_id = ANY ($1)', [
      entries,
    ]);
    expect(rows).toEqual([{ node_id: id(70) }]);
  });
});

describe('paths that were compared by compatibility', () => {
  const keyOf = async (path: string) =>
    (await client.query('SELECT path_key FROM file.record WHERE path = $1', [path])).rows[0]?.path_key;
  beforeEach(async () => {
    await migrate({ url: database.url, migrations: readMigrations().filter(({ name }) => name < '0005') });
  });

  it('are compared by normal form and case after the upgrade', async () => {
    const files = [
      { path: 'wip/H₂O.md', old: 'wip/h2o.md', key: 'wip/h₂o.md' },
      { path: 'wip/ﬁle.md', old: 'wip/file.md', key: 'wip/ﬁle.md' },
      { path: 'wip/Žák.md', old: 'wip/žák.md', key: 'wip/žák.md' },
      { path: 'wip/A.md', old: 'wip/a.md', key: 'wip/a.md' },
    ];
    for (const { path, old } of files) await register(path, client, old);
    await migrate({ url: database.url });
    for (const { path, key } of files) expect(await keyOf(path)).toBe(key);
    await register('wip/H2O.md');
    await expect(register('wip/h₂o.md')).rejects.toMatchObject({ code: '23505' });
  });

  it('keep their records where two are one name by now', async () => {
    await register('wip/straße.md', client, 'wip/strasse.md');
    await register('wip/STRAẞE.md', client, 'wip/straße.md');
    await migrate({ url: database.url });
    const keys = [await keyOf('wip/straße.md'), await keyOf('wip/STRAẞE.md')].toSorted();
    expect(keys).toEqual(['wip/strasse.md', expect.stringContaining('wip/strasse.md\u0001')]);
  });
});

describe('the records of files', () => {
  beforeEach(async () => void (await migrate({ url: database.url })));

  it('refuse a path without a section or with a segment that leads elsewhere, whoever writes it', async () => {
    const paths = [
      '',
      'notes.md',
      'wip',
      'wip/',
      'wip//a',
      'wip/./a',
      'wip/../a',
      'wip/a/..',
      '/wip/a',
      'wip/a\\b',
      'wip/a\nb',
    ];
    for (const path of paths) await expect(register(path)).rejects.toMatchObject({ code: '23514' });
  });

  it('take the longest path of the largest characters, and no second one of the same form', async () => {
    const path = `wip/${Array.from({ length: 1_020 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000))).join('')}`;
    await register(path);
    await expect(register(path)).rejects.toMatchObject({ code: '23505', constraint: 'record_path_key' });
  });

  it('leave a tombstone each when their node is purged, by whatever way [graph.node.purge-writes-file-tombstones]', async () => {
    await register('wip/a.md');
    await register('outputs/deep/b.md');
    await client.query(`DELETE FROM graph.node WHERE id = '${PROJECT}'`);
    expect((await client.query('SELECT 1 FROM file.record')).rows).toEqual([]);
    const left = await client.query(
      `SELECT node_id, path, remote_path, reason, length(sha256) AS digits FROM file.tombstone ORDER BY path`,
    );
    const common = { node_id: PROJECT, reason: 'purged', digits: 64 };
    expect(left.rows).toEqual([
      { ...common, path: 'outputs/deep/b.md', remote_path: 'acme/projects/report/outputs/deep/b.md' },
      { ...common, path: 'wip/a.md', remote_path: 'acme/projects/report/wip/a.md' },
    ]);
  });
});

it('folders that nodes had left on remotes are known after the upgrade', async () => {
  const before = readMigrations().filter(({ name }) => name < '0021');
  await migrate({ url: database.url, migrations: before });
  const [gone, moved] = ['00000000-0000-7000-8000-000000000020', PROJECT];
  await client.query(`
    INSERT INTO file.remote_root (marker) VALUES ('${gone}');
    INSERT INTO file.remote (id, name, type, config, root_marker, grade) VALUES ('${gone}', 'team', 'fs', '{}', '${gone}', '{}');
    INSERT INTO audit.entry (id, via, action, target_kind, target_id, request_id, before) VALUES
      (gen_random_uuid(), 'rest', 'move_node', 'node', '${moved}', 'r', '{"organization_id": "${gone}"}'),
      (gen_random_uuid(), 'rest', 'purge_node', 'node', '${gone}', 'r', '{"organization_id": null, "type": "organization", "sync_key": "old"}')`);
  await migrate({ url: database.url });
  const { rows } = await client.query(
    'SELECT organization_id, node_type, sync_key, node_id FROM file.left_folder ORDER BY sync_key',
  );
  expect(rows).toEqual([
    {
      organization_id: '00000000-0000-0000-0000-000000000000',
      node_type: 'organization',
      sync_key: 'old',
      node_id: gone,
    },
    { organization_id: gone, node_type: 'project', sync_key: 'report', node_id: moved },
  ]);
});
