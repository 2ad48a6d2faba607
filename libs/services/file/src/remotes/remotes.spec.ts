import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Caller,
  type InputOf,
  listRemotes,
  listRoutingRules,
  type Operation,
  type RemoteSettings,
  removeRemote,
  setRoutingPolicy,
  setupRemote,
  testRemote,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { FileCredentials, MemoryRemote, ROOT_MARKER } from '@workspace-graph/remotes';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { FileModule } from '../file.module.js';
import { removeUnusedCredentials } from './credential-sweep.js';
import { RemotesModule } from './remotes.module.js';

const HOUR_MS = 3_600_000;
const secrets = { access_key_id: 'AKIA', secret_access_key: 'not to be told' };
const bucket = (name: string) => ({ endpoint: 'https://s3.example.org', bucket: name });

let harness: ServiceHarness;
let admin: Caller;
let folder: string;
let credentials: FileCredentials;
/** What lies behind each bucket, and with which settings it was opened last. */
const storages = new Map<string, MemoryRemote>();
let opened: RemoteSettings | undefined;

/** A remote that outlives its disposal, as a storage does. */
class Storage extends MemoryRemote {
  override async [Symbol.asyncDispose](): Promise<void> {
    // Its content stays.
  }
}

function storage(name: string): MemoryRemote {
  const known = storages.get(name) ?? new Storage();
  storages.set(name, known);
  return known;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'remotes-spec-'));
  credentials = await FileCredentials.open(folder, 'a key of thirty-two characters, or more');
  const open = async (settings: RemoteSettings) => {
    opened = settings;
    return storage(settings.type === 'objstore' ? settings.config.bucket : 'other');
  };
  harness = await startServices([
    FileModule,
    RemotesModule.forRoot({ credentials, open, bytes: { host: '127.0.0.1', port: 0 } }),
  ]);
  admin = await harness.user('Ada', 'manage');
});
afterAll(async () => {
  await harness.close();
  await rm(folder, { recursive: true });
});

const setUp = (name: string, more: Partial<InputOf<typeof setupRemote>> = {}) =>
  harness.call(setupRemote, { name, type: 'objstore', config: bucket(name), credentials: secrets, ...more }, admin);
const sql = async (text: string, values: readonly unknown[] = []) =>
  (await harness.database.pool.query<Record<string, unknown>>(text, [...values])).rows;
const refusal = (operation: Operation, input: object, code: string) =>
  harness.refusal(operation, input, admin, code as 'CONFLICT');

async function record(remote: string): Promise<void> {
  const node = newId();
  await sql(
    `INSERT INTO graph.node (id, type, name, lifecycle, sync_key) VALUES ($1, 'organization', 'O', 'active', $2)`,
    [node, `o-${node}`],
  );
  await sql(
    `INSERT INTO file.record (id, node_id, path, path_key, mime_type, remote_name) VALUES ($1, $2, 'wip/a', 'wip/a', 'text/plain', $3)`,
    [newId(), node, remote],
  );
}

describe('setting up a remote', () => {
  it('tries the storage, marks its root, and keeps its credentials out of the database [remotes.setup.probed, remotes.credentials.token-store, remotes.list.fields]', async () => {
    const told = await setUp('main');
    expect(told).toMatchObject({
      applied: true,
      root: 'new',
      files: 0,
      remote: {
        name: 'main',
        type: 'objstore',
        authenticated: true,
        grade: { conditions: 'atomic', listing: 'immediate' },
      },
    });
    expect(opened).toEqual({
      type: 'objstore',
      config: { ...bucket('main'), region: 'us-east-1', root: '', path_style: true },
      credentials: secrets,
    });
    const { remotes } = await harness.call(listRemotes, {}, await harness.user('Rita', 'read'));
    expect(remotes.find(({ name }) => name === 'main')).toEqual(told.remote);
    for (const table of ['file.remote', 'file.remote_root', 'audit.entry', 'outbox.applied_call', 'outbox.event'])
      for (const row of await sql(`SELECT * FROM ${table}`))
        expect(JSON.stringify(row)).not.toContain('not to be told');
    expect(await sql(`SELECT action, target_kind FROM audit.entry WHERE action = 'setup_remote'`)).toEqual([
      { action: 'setup_remote', target_kind: 'remote' },
    ]);
    expect(await storage('main').stat(ROOT_MARKER)).toMatchObject({ kind: 'file' });
  });

  it('replaces what there is under the name, and keeps credentials that are left out [remotes.name-unique]', async () => {
    await setUp('again');
    const { config } = { config: { ...bucket('again'), region: 'eu-central-1' } };
    const told = await harness.call(setupRemote, { name: 'again', type: 'objstore', config }, admin);
    expect(told).toMatchObject({ applied: true, root: 'known' });
    expect(opened).toMatchObject({ config: { region: 'eu-central-1' }, credentials: secrets });
    const rows = await sql(`SELECT config ->> 'region' AS region, version FROM file.remote WHERE name = 'again'`);
    expect(rows).toEqual([{ region: 'eu-central-1', version: 2 }]);
    const [{ secret_id } = { secret_id: '' }] = await sql(`SELECT secret_id FROM file.remote WHERE name = 'again'`);
    const kept = (await readdir(folder)).filter((file) => file.startsWith(String(secret_id)));
    expect(kept).toHaveLength(1);
    expect((await readdir(folder)).length).toBe(
      (await sql('SELECT FROM file.remote WHERE secret_id IS NOT NULL')).length,
    );
  });

  it.each<[string, Partial<InputOf<typeof setupRemote>>, string[]]>([
    ['a field that is missing', { config: { endpoint: 'https://s3.example.org' } }, ['config.bucket']],
    ['a field that there is not', { config: { ...bucket('b'), secret: 'x' } }, ['config']],
    [
      'an address with a password',
      { config: { ...bucket('b'), endpoint: 'https://a:b@s3.example.org' } },
      ['config.endpoint'],
    ],
    ['an address of another kind', { config: { ...bucket('b'), endpoint: 'file:///etc' } }, ['config.endpoint']],
    ['no credentials', { credentials: {} }, ['credentials.access_key_id', 'credentials.secret_access_key']],
    ['a service account of another type', { service_account_json: '{}' }, ['service_account_json']],
    [
      'a drive without its id',
      { type: 'drive', config: {}, credentials: {}, service_account_json: '{}' },
      ['config.shared_drive_id', 'credentials.service_account_json'],
    ],
    [
      'a host key that is none',
      {
        type: 'sftp',
        config: { host: 'h', username: 'u', root: '/r', host_key: 'any' },
        credentials: { password: 'p' },
      },
      ['config.host_key'],
    ],
  ])('names what is wrong of %s [remotes.setup.drive-config]', async (_what, more, paths) => {
    const input = { name: 'bad', type: 'objstore', config: bucket('bad'), credentials: secrets, ...more };
    const { details, message } = await refusal(setupRemote, input, 'VALIDATION_FAILED');
    expect((details as { issues: { path: string }[] }).issues.map(({ path }) => path)).toEqual(paths);
    expect(JSON.stringify([details, message])).not.toContain('not to be told');
    expect(await sql(`SELECT FROM file.remote WHERE name = 'bad'`)).toEqual([]);
  });

  it('is refused for a root that is another remote, or that of another workspace', async () => {
    await setUp('first');
    const shared = { name: 'second', type: 'objstore', config: bucket('first'), credentials: secrets };
    expect((await refusal(setupRemote, shared, 'REMOTE_REFUSED')).details).toMatchObject({ reason: 'root_in_use' });
    storage('foreign').plant(ROOT_MARKER, Buffer.from(`{"workspace_graph_root":"${newId()}"}`));
    storage('odd').plant(ROOT_MARKER, Buffer.from('of somebody else'));
    const odd = { ...shared, config: bucket('odd') };
    expect((await refusal(setupRemote, odd, 'REMOTE_REFUSED')).details).toMatchObject({ reason: 'foreign_root' });
    const foreign = { ...shared, config: bucket('foreign') };
    expect((await refusal(setupRemote, foreign, 'REMOTE_REFUSED')).details).toMatchObject({ reason: 'foreign_root' });
    expect(await sql(`SELECT FROM file.remote WHERE name = 'second'`)).toEqual([]);
  });

  it('to another root is asked about while files are recorded on the remote', async () => {
    await setUp('moving');
    await record('moving');
    const other = { config: bucket('elsewhere') };
    expect(await setUp('moving', other)).toMatchObject({ applied: false, root: 'new', files: 1 });
    expect(await storage('elsewhere').stat(ROOT_MARKER)).toBeNull();
    expect(await setUp('moving', { ...other, confirmed: true })).toMatchObject({ applied: true, files: 1 });
    const [row] = await sql(`SELECT config ->> 'bucket' AS bucket FROM file.remote WHERE name = 'moving'`);
    expect(row).toEqual({ bucket: 'elsewhere' });
  });

  it('stores nothing of a storage that is not reached, refuses, or is unfit', async () => {
    const failing = storage('failing');
    for (const [reason, code] of [
      ['unavailable', 'REMOTE_UNAVAILABLE'],
      ['forbidden', 'REMOTE_REFUSED'],
      ['full', 'STORAGE_FULL'],
    ] as const) {
      failing.failWith(reason);
      await refusal(
        setupRemote,
        { name: 'failing', type: 'objstore', config: bucket('failing'), credentials: secrets },
        code,
      );
    }
    failing.failWith(null);
    expect(await sql(`SELECT FROM file.remote WHERE name = 'failing'`)).toEqual([]);
    expect(await setUp('failing')).toMatchObject({ applied: true, root: 'new' });
  });

  it('is for manage, as is whatever else changes remotes [access.tier.remotes-need-manage]', async () => {
    const writer = await harness.user('Wanda', 'write');
    for (const [operation, input] of [
      [setupRemote, { name: 'x', type: 'fs', config: {} }],
      [testRemote, { name: 'main' }],
      [removeRemote, { name: 'main' }],
      [setRoutingPolicy, { rules: [] }],
      [listRoutingRules, {}],
    ] as const)
      await harness.refusal(operation, input, writer, 'FORBIDDEN');
  });
});

describe('a remote that is set up', () => {
  it('is tried again when asked, and its grade renewed', async () => {
    await setUp('tried');
    await sql(`UPDATE file.remote SET grade = grade || '{"conditions": "checked"}' WHERE name = 'tried'`);
    expect(await harness.call(testRemote, { name: 'tried' }, admin)).toMatchObject({ grade: { conditions: 'atomic' } });
    const { remotes } = await harness.call(listRemotes, {}, admin);
    expect(remotes.find(({ name }) => name === 'tried')?.grade.conditions).toBe('atomic');
    await refusal(testRemote, { name: 'none' }, 'REMOTE_NOT_FOUND');
  });

  it('is not mistaken for an emptied or another storage', async () => {
    await setUp('emptied');
    storages.delete('emptied');
    expect((await refusal(testRemote, { name: 'emptied' }, 'REMOTE_REFUSED')).details).toMatchObject({
      reason: 'wrong_root',
    });
    for await (const page of storage('emptied').list('')) expect(page).toEqual([]);
  });

  it('tells when its credentials are gone', async () => {
    await setUp('keyless');
    const [{ secret_id } = { secret_id: '' }] = await sql(`SELECT secret_id FROM file.remote WHERE name = 'keyless'`);
    await credentials.remove(String(secret_id));
    const { remotes } = await harness.call(listRemotes, {}, admin);
    expect(remotes.find(({ name }) => name === 'keyless')).toMatchObject({ authenticated: false });
    expect((await refusal(testRemote, { name: 'keyless' }, 'REMOTE_REFUSED')).details).toMatchObject({
      reason: 'no_credentials',
    });
  });

  it('is forgotten with its credentials while nothing uses it, and its storage is left as it is', async () => {
    await setUp('gone');
    await setUp('used');
    await record('used');
    await harness.call(
      setRoutingPolicy,
      { rules: [{ priority: 1, node_type: null, org_slug: null, remote_name: 'gone' }] },
      admin,
    );
    for (const [name, uses] of [
      ['gone', { rules: 1, files: 0 }],
      ['used', { rules: 0, files: 1 }],
    ] as const)
      expect((await refusal(removeRemote, { name }, 'IN_USE')).details).toMatchObject({ uses });
    await harness.call(setRoutingPolicy, { rules: [] }, admin);
    const before = (await readdir(folder)).length;
    await harness.call(removeRemote, { name: 'gone' }, admin);
    expect((await readdir(folder)).length).toBe(before - 1);
    await refusal(removeRemote, { name: 'gone' }, 'REMOTE_NOT_FOUND');
    expect(await storage('gone').stat(ROOT_MARKER)).toMatchObject({ kind: 'file' });
    expect(await setUp('under another name', { config: bucket('gone') })).toMatchObject({ root: 'known' });
  });

  it('leaves no credentials behind that no remote names, those just written aside', async () => {
    const left = newId();
    await credentials.write(left, secrets);
    const { database } = harness;
    expect(await removeUnusedCredentials(database, credentials, Date.now())).toBe(0);
    expect(await removeUnusedCredentials(database, credentials, Date.now() + 2 * HOUR_MS)).toBe(1);
    expect(await credentials.read(left)).toBeNull();
  });
});

describe('the routing policy', () => {
  it('is replaced as a whole, and told in the order in which it is tried [remotes.routing.replaced-wholly]', async () => {
    await setUp('routed');
    const rule = (priority: number, node_type: 'project' | null) => ({
      priority,
      node_type,
      org_slug: null,
      remote_name: 'routed',
    });
    const rules = [rule(100, null), rule(10, 'project'), rule(100, 'project')];
    expect(await harness.call(setRoutingPolicy, { rules }, admin)).toEqual({ count: 3 });
    expect(await harness.call(listRoutingRules, {}, admin)).toEqual({ rules: [rules[1], rules[0], rules[2]] });
    expect(await harness.call(setRoutingPolicy, { rules: [rules[2] ?? rule(1, null)] }, admin)).toEqual({ count: 1 });
    expect((await harness.call(listRoutingRules, {}, admin)).rules).toEqual([rules[2]]);
  });

  it('names remotes and organizations that there are, or nothing of it is stored [remotes.routing.remote-must-exist]', async () => {
    await setUp('there');
    const rule = { priority: 1, node_type: null, org_slug: null, remote_name: 'there' };
    await harness.call(setRoutingPolicy, { rules: [rule] }, admin);
    const wrong = [rule, { ...rule, remote_name: 'none' }, { ...rule, org_slug: 'nowhere' }];
    const { details } = await refusal(setRoutingPolicy, { rules: wrong }, 'VALIDATION_FAILED');
    expect(details).toMatchObject({ issues: [{ path: 'rules.1.remote_name' }, { path: 'rules.2.org_slug' }] });
    expect((await harness.call(listRoutingRules, {}, admin)).rules).toEqual([rule]);
  });
});

describe('credentials that somebody else gives', () => {
  it('are those of the remote by its name, and none are kept [remotes.credentials.stores]', async () => {
    const given: Record<string, Readonly<Record<string, string>>> = { outside: secrets };
    const { read, write, remove, list } = credentials;
    const store = Object.assign(credentials, {
      given: async (name: string) => given[name] ?? {},
      write: () => Promise.reject(new Error('nothing is written')),
    });
    try {
      const input = { name: 'outside', type: 'objstore', config: bucket('outside') } as const;
      expect(await harness.call(setupRemote, input, admin)).toMatchObject({ applied: true });
      expect(opened).toMatchObject({ credentials: secrets });
      expect(await sql(`SELECT secret_id FROM file.remote WHERE name = 'outside'`)).toEqual([{ secret_id: null }]);
      const listed = async () =>
        (await harness.call(listRemotes, {}, admin)).remotes.find(({ name }) => name === 'outside')?.authenticated;
      expect(await listed()).toBe(true);
      await harness.call(testRemote, { name: 'outside' }, admin);
      delete given['outside'];
      expect(await listed()).toBe(false);
      const { details } = await refusal(setupRemote, { ...input, credentials: secrets }, 'REMOTE_REFUSED');
      expect(details).toMatchObject({ reason: 'no_credentials' });
    } finally {
      Object.assign(store, { given: undefined, read, write, remove, list });
    }
  });
});
