import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Caller,
  createFile,
  createMirror,
  deleteFile,
  fileStatus,
  getSyncHealth,
  getSyncStatus,
  LIMITS,
  listFiles,
  listMirrors,
  moveFile,
  moveMirror,
  type Operation,
  readFile,
  removeMirror,
  restoreTrash,
  type Scope,
  ServiceError,
  searchFiles,
  writeFile as writeText,
} from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { eventually } from '../watcher/watcher.fixture.js';

const KEY = 'veiled-works';

let device: DeviceFixture;
let elsewhere: string;
beforeEach(async () => {
  device = await startDevice();
  elsewhere = await realpath(await mkdtemp(join(tmpdir(), 'svc-told-')));
});
afterEach(async () => {
  await device.close();
  await rm(elsewhere, { recursive: true, force: true });
});

/** A node that everybody may write on, in an organization that nobody below manage sees. */
const apart = (name = 'Apart'): string =>
  device.records.node({ name, organization_sync_key: KEY, organizationSeenBy: new Set() });

/** Everything that these operations answer about one node and its files, refusals too. */
async function allAnswers(nodeId: string, caller: Caller): Promise<string> {
  const answers: unknown[] = [];
  const ask = async (operation: Operation, input: object): Promise<Record<string, unknown>> => {
    const answer = await device.call(operation, input as never, caller).catch((error: unknown) => {
      if (error instanceof ServiceError) return error.toBody('r');
      throw error;
    });
    answers.push(answer);
    return answer as Record<string, unknown>;
  };
  const node_id = nodeId;
  await ask(createMirror, { node_id });
  const { id: file_id, sha256: expected_sha256 } = await ask(createFile, { node_id, filename: 'a.md', content: 'one' });
  await ask(createFile, { node_id, filename: 'a.md' });
  await ask(writeText, { node_id, path: 'wip/a.md', content: 'two', expected_sha256 });
  await ask(writeText, { node_id, path: 'wip/a.md', content: 'three', expected_sha256 });
  await ask(moveFile, { node_id, file_id, new_filename: 'b.md', confirmed: true });
  for (const input of [{}, { node_id }]) {
    await ask(listFiles, input);
    await ask(fileStatus, input);
  }
  for (const as_path of [false, true]) await ask(readFile, { node_id, path: 'wip/b.md', as_path });
  await ask(readFile, { node_id, path: 'wip/large.bin' });
  await ask(searchFiles, { query: 'large' });
  const { trash_id } = await ask(deleteFile, { node_id, file_id, confirmed: true });
  await ask(restoreTrash, { trash_id });
  for (const operation of [getSyncStatus, getSyncHealth, listMirrors])
    await ask(operation, operation === getSyncStatus ? { node_id } : {});
  for (const input of [{ limit: 1 }]) await ask(listMirrors, input);
  await ask(createMirror, { node_id, custom_path: join(elsewhere, 'other') });
  await ask(moveMirror, { node_id, path: join(elsewhere, 'occupied') });
  await ask(moveMirror, { node_id, path: join(elsewhere, 'moved') });
  await ask(removeMirror, { node_id });
  return JSON.stringify(answers, decodedCursor);
}

/** A cursor tells what it is made of. */
function decodedCursor(key: string, value: unknown): unknown {
  return key === 'next_cursor' && typeof value === 'string' ? Buffer.from(value, 'base64url').toString() : value;
}

async function laid(folder: string): Promise<void> {
  await mkdir(join(folder, 'wip'), { recursive: true });
  await writeFile(join(folder, 'wip/large.bin'), Buffer.alloc(LIMITS.inlineFileBytes + 1, 'x'));
  await mkdir(join(elsewhere, 'occupied'));
}

describe('where things lie on a device', () => {
  it.each(['read', 'write'] as const)(
    'is told to its person and to who manages, and to nobody else with the scope %s [access.hidden.paths]',
    async (scope: Scope) => {
      const { nodeId, path } = await device.mirror('Open');
      device.records.node({ name: 'Other' });
      await device.mirror('Another');
      await laid(path);
      const told = async (caller: Caller) => [
        (await device.call(getSyncStatus, { node_id: nodeId }, caller)).mirror?.local_path,
        ...(await device.call(listMirrors, {}, caller)).items.map(({ local_path }) => local_path),
      ];
      const other = join(device.root, 'acme/projects/another');
      expect(await told(device.person(scope))).toEqual([path, other, path]);
      expect(await told(device.caller('manage'))).toEqual([path, other, path]);
      expect(await told(device.caller(scope))).toEqual([null, null, null]);
      const answers = await allAnswers(nodeId, device.caller(scope));
      for (const place of [device.root, elsewhere]) expect(answers).not.toContain(place);
    },
  );

  it('is told by none of the answers on files and folders to others, and the content still is [access.hidden.paths]', async () => {
    const { nodeId, path } = await device.mirror('Open');
    await laid(path);
    await writeFile(join(path, 'wip/small.md'), 'small');
    const agent: Caller = { ...device.caller('read'), via: 'mcp', session_key: 'one', home_node_id: nodeId };
    const { nodeId: farther, path: there } = await device.mirror('Farther');
    await writeFile(join(there, 'wip/far.md'), 'far');
    for (const [node_id, file, content] of [
      [nodeId, 'wip/small.md', 'small'],
      [farther, 'wip/far.md', 'far'],
    ] as const)
      expect(await device.call(readFile, { node_id, path: file, as_path: true }, agent)).toMatchObject({
        path: null,
        content,
      });
    expect(await device.call(readFile, { node_id: nodeId, path: 'wip/large.bin' }, agent)).toMatchObject({
      bytes: LIMITS.inlineFileBytes + 1,
      path: null,
      content: null,
    });
    // Nothing is laid out for whoever is not told where.
    expect(await readdir(join(device.root, '.svc'))).not.toContain('projections');
  });

  it('is listed in pages whose cursor spells no path [access.hidden.paths]', async () => {
    for (const name of ['Alpha', 'Beta', 'Gamma']) await device.mirror(name);
    const reader = device.caller('read');
    const names: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await device.call(listMirrors, { limit: 1, ...(cursor ? { cursor } : {}) }, reader);
      names.push(...page.items.map(({ node }) => node.name));
      cursor = page.next_cursor;
      if (cursor !== null) expect(Buffer.from(cursor, 'base64url').toString()).not.toContain('acme');
    }
    expect(names).toEqual(['Alpha', 'Beta', 'Gamma']);
  });
});

describe('a node of an organization that its reader does not see', () => {
  it('has its folder in shared, made by who does not see the organization [mirrors.layout.shared]', async () => {
    const person = device.person('write');
    const path = join(device.root, 'shared/projects/apart');
    const nodeId = apart();
    expect(await device.call(createMirror, { node_id: nodeId }, person)).toMatchObject({ local_path: path });
    expect((await readdir(path)).toSorted()).toEqual(expect.arrayContaining(['outputs', 'resources', 'wip']));
    const made = await device.call(createMirror, { node_id: apart('Made') });
    expect(made.local_path).toBe(join(device.root, KEY, 'projects/made'));
  });

  it('lets an organization with the key shared have its own folder', async () => {
    await device.call(createMirror, { node_id: apart() }, device.person('write'));
    const organization = device.records.node({ name: 'Shared', type: 'organization' });
    expect(await device.call(createMirror, { node_id: organization })).toMatchObject({ created: true });
  });

  it('tells a remote path from the node on, and the whole one to who sees the organization [access.hidden.paths]', async () => {
    const nodeId = apart();
    await device.call(createMirror, { node_id: nodeId }, device.person('write'));
    await device.call(createFile, { node_id: nodeId, filename: 'a.md' });
    const pathOf = async (caller: Caller) =>
      (await device.call(listFiles, { node_id: nodeId }, caller)).items[0]?.remote_path;
    for (const caller of [device.caller('read'), device.person('write')])
      expect(await pathOf(caller)).toBe('projects/apart/wip/a.md');
    expect(await pathOf(device.caller('manage'))).toBe(`${KEY}/projects/apart/wip/a.md`);
  });

  it('spells the key of the organization nowhere, wherever its folder lies [access.hidden.paths]', async () => {
    const places = [undefined, join(elsewhere, KEY, 'in'), join(elsewhere, KEY.toUpperCase())];
    for (const [index, custom_path] of places.entries()) {
      const nodeId = apart(`Apart ${index}`);
      const custom = custom_path === undefined ? {} : { custom_path };
      const { local_path } = await device.call(createMirror, { node_id: nodeId, ...custom });
      if (local_path === null) throw new Error('who manages is told the folder');
      expect(local_path.toLowerCase()).toContain(KEY);
      const told = async (caller: Caller) =>
        (await device.call(getSyncStatus, { node_id: nodeId }, caller)).mirror?.local_path;
      expect([await told(device.person('write')), await told(device.caller('manage'))]).toEqual([null, local_path]);
      await device.call(createFile, { node_id: nodeId, filename: 'large.bin' });
      const answers = await allAnswers(nodeId, device.person('write'));
      expect(answers.toLowerCase()).not.toContain(KEY);
    }
  });

  it('is told to the person of a device who has lost sight of it where the folder was made without it [access.hidden.paths]', async () => {
    const person = device.person('write');
    const [before, after] = [apart('Before'), apart('After')];
    await device.call(createMirror, { node_id: before });
    await device.call(createMirror, { node_id: after }, person);
    device.identity.users.set(person.user_id, { max_scope: 'write' });
    await eventually(async () => {
      expect((await device.parts.service.place(before, null)).organization_sync_key).toBeNull();
      const { items } = await device.call(listMirrors, {}, person);
      const told = new Map(items.map(({ node, local_path }) => [node.id, local_path]));
      expect(told.get(after)).toBe(join(device.root, 'shared/projects/after'));
      expect(told.get(before)).toBeNull();
    });
  });

  it('is told where it lies when the path does not spell the key', async () => {
    const [nodeId, path] = [apart(), join(elsewhere, 'plain')];
    await device.call(createMirror, { node_id: nodeId, custom_path: path });
    const { items } = await device.call(listMirrors, {}, device.person('read'));
    expect(items).toMatchObject([{ local_path: path }]);
  });
});

describe('the refusal of a folder', () => {
  it('reads the same to who does not manage, whatever is in the way [mirrors.create.refusal-reads-the-same]', async () => {
    const hidden = device.records.node({ name: 'Hidden', seenBy: new Set() });
    const [seen, nodeId] = [device.records.node({ name: 'Seen' }), device.records.node({ name: 'Wanting' })];
    await device.call(createMirror, { node_id: hidden, custom_path: join(elsewhere, 'in/hidden') });
    await device.call(createMirror, { node_id: seen, custom_path: join(elsewhere, 'in/seen') });
    await writeFile(join(elsewhere, 'file'), '');
    await mkdir(join(elsewhere, 'blocked'));
    await writeFile(join(elsewhere, 'blocked/wip'), 'no folder');
    const inTheWay = ['file', 'file/in', 'blocked', 'in/seen', 'in/seen/deep', 'in/hidden', 'in/hidden/deep', 'in'];
    for (const caller of [device.caller('write'), device.person('write')]) {
      const bodies = await Promise.all(
        inTheWay.map(async (name) => {
          const input = { node_id: nodeId, custom_path: join(elsewhere, name) };
          return (await device.refusal(createMirror, input, 'MIRROR_PATH_REFUSED', caller)).toBody('r');
        }),
      );
      for (const body of bodies) expect(body).toEqual(bodies[0]);
      expect(bodies[0]?.details).toEqual({ reason: 'unusable' });
    }
    const input = { node_id: nodeId, custom_path: join(elsewhere, 'in/hidden') };
    expect((await device.refusal(createMirror, input, 'MIRROR_PATH_REFUSED')).details).toMatchObject({
      reason: 'other_mirror',
      node_id: hidden,
    });
  });

  it('of a move reads the same where something is there, and where it would be in a folder of a node [mirrors.create.refusal-reads-the-same]', async () => {
    const hidden = device.records.node({ name: 'Hidden', seenBy: new Set() });
    const seen = device.records.node({ name: 'Seen' });
    const { nodeId, path } = await device.mirror('Moving');
    await device.call(createMirror, { node_id: hidden, custom_path: join(elsewhere, 'hidden') });
    await device.call(createMirror, { node_id: seen, custom_path: join(elsewhere, 'seen') });
    await mkdir(join(elsewhere, 'plain'));
    await writeFile(join(elsewhere, 'file'), '');
    const writer = device.caller('write');
    const refused = async (names: readonly string[], code: 'DESTINATION_EXISTS' | 'MIRROR_PATH_REFUSED') => {
      const bodies = await Promise.all(
        names.map(async (name) => {
          const input = { node_id: nodeId, path: join(elsewhere, name) };
          return (await device.refusal(moveMirror, input, code, writer)).toBody('r');
        }),
      );
      for (const body of bodies) expect(body).toEqual(bodies[0]);
    };
    await refused(['plain', 'file', 'seen', 'hidden', 'seen/wip', 'hidden/wip'], 'DESTINATION_EXISTS');
    await refused(['seen/new', 'hidden/new', 'hidden/new/deep'], 'MIRROR_PATH_REFUSED');
    expect((await readdir(path)).length).toBeGreaterThan(0);
  });

  it('to move a folder that holds one of a hidden node reads like any other', async () => {
    const organization = device.records.node({ name: 'Acme', type: 'organization' });
    const hidden = device.records.node({ name: 'Hidden', seenBy: new Set() });
    await device.call(createMirror, { node_id: organization });
    await device.call(createMirror, { node_id: hidden });
    const input = { node_id: organization, path: join(elsewhere, 'acme') };
    const error = await device.refusal(moveMirror, input, 'MIRROR_PATH_REFUSED', device.person('write'));
    expect(error.details).toEqual({ reason: 'unusable' });
    expect((await device.refusal(moveMirror, input, 'MIRROR_PATH_REFUSED')).details).toEqual({
      reason: 'holds_mirrors',
    });
  });
});
