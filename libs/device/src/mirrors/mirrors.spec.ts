import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import { createMirror, listMirrors, removeMirror, ServiceError } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { Mirrors } from './mirrors.js';

const NOBODY = 65_534;

let device: DeviceFixture;
let elsewhere: string;
beforeEach(async () => {
  device = await startDevice();
  elsewhere = await realpath(await mkdtemp(join(tmpdir(), 'svc-mirrors-')));
});
afterEach(async () => {
  await device.close();
  await rm(elsewhere, { recursive: true, force: true });
});

const create = async (nodeId: string, customPath?: string) => {
  const custom = customPath === undefined ? {} : { custom_path: customPath };
  const { local_path, ...made } = await device.call(createMirror, { node_id: nodeId, ...custom });
  if (local_path === null) throw new Error('who manages is told the folder');
  return { ...made, local_path };
};
const refused = async (nodeId: string, customPath: string) =>
  (await device.refusal(createMirror, { node_id: nodeId, custom_path: customPath }, 'MIRROR_PATH_REFUSED')).details;
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('the folder of a node', () => {
  it('is root, organization, plural of the type and key, with three sections [mirrors.layout.node] [mirrors.create.tool]', async () => {
    for (const [type, folder] of [
      ['project', 'projects'],
      ['process', 'processes'],
      ['area', 'areas'],
      ['principle', 'principles'],
    ] as const) {
      const nodeId = device.records.node({ name: `Alpha-${type}`, type });
      const path = join(device.root, 'acme', folder, `alpha-${type}`);
      expect(await create(nodeId)).toMatchObject({
        node_id: nodeId,
        local_path: path,
        created: true,
        subdirs: ['wip', 'outputs', 'resources'],
        remote_scaffold: { remote_name: null, folders: [], problem: null },
        scope_config: [
          { client: 'claude-code', path: '.mcp.json', state: 'written' },
          { client: 'codex', path: '.codex/config.toml', state: 'written' },
          { client: 'mistral-vibe', path: '.vibe/agents/workspace-graph.toml', state: 'written' },
          { client: 'scope', path: 'SVC_SCOPE.md', state: 'written' },
        ],
      });
      expect((await readdir(path)).toSorted()).toEqual(
        ['.codex', '.mcp.json', '.vibe', 'SVC_SCOPE.md', 'outputs', 'resources', 'wip'].toSorted(),
      );
    }
  });

  it('of an organization has no sections, and gains a folder of a type with the first folder in it [mirrors.layout.organization] [mirrors.layout.organization-type-folders]', async () => {
    const organization = device.records.node({ name: 'Acme', type: 'organization' });
    const { local_path: path, subdirs } = await create(organization);
    expect([path, subdirs]).toEqual([join(device.root, 'acme'), []]);
    const folders = async () =>
      (await readdir(path, { withFileTypes: true }))
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
        .map(({ name }) => name);
    expect(await folders()).toEqual([]);
    await create(device.records.node({ name: 'Alpha', type: 'area' }));
    expect(await folders()).toEqual(['areas']);
  });

  it('stays where it is when the node is renamed [mirrors.layout.rename-keeps-folder]', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    const { local_path: path } = await create(nodeId);
    const node = device.records.nodes.get(nodeId);
    if (!node) throw new Error('it was just added');
    device.records.nodes.set(nodeId, { ...node, name: 'Beta' });
    expect(await create(nodeId)).toMatchObject({ local_path: path, created: false });
    expect((await device.call(listMirrors, {})).items).toMatchObject([{ node: { name: 'Beta' }, local_path: path }]);
  });

  it('may be another one, that exists with files or not [mirrors.create.custom-path]', async () => {
    const [one, two] = [device.records.node({ name: 'Alpha' }), device.records.node({ name: 'Beta' })];
    await mkdir(join(elsewhere, 'old', 'wip'), { recursive: true });
    await writeFile(join(elsewhere, 'old', 'wip', 'kept.md'), 'kept');
    expect(await create(one, join(elsewhere, 'old'))).toMatchObject({
      local_path: join(elsewhere, 'old'),
      created: true,
    });
    expect(await readFile(join(elsewhere, 'old', 'wip', 'kept.md'), 'utf8')).toBe('kept');
    expect(device.parts.store.mirror(one)?.scannedAt).toBeNull();
    await create(two, join(elsewhere, 'a', 'b', 'new'));
    expect((await stat(join(elsewhere, 'a', 'b', 'new', 'resources'))).isDirectory()).toBe(true);
  });

  it('is the same after a second call, which makes a section that is missing again [mirrors.create.idempotent]', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    const first = await create(nodeId);
    await rm(join(first.local_path, 'outputs'), { recursive: true });
    const before = await readFile(join(first.local_path, '.mcp.json'), 'utf8');
    const again = await create(nodeId);
    expect(again).toEqual({
      ...first,
      created: false,
      scope_config: first.scope_config.map((file) => ({ ...file, state: 'unchanged' })),
    });
    expect(await isThere(join(first.local_path, 'outputs'))).toBe(true);
    expect(await readFile(join(first.local_path, '.mcp.json'), 'utf8')).toBe(before);
    expect(await create(nodeId, first.local_path)).toMatchObject({ created: false });
    await device.refusal(createMirror, { node_id: nodeId, custom_path: join(elsewhere, 'x') }, 'CONFLICT');
    expect(await isThere(join(elsewhere, 'x'))).toBe(false);
  });

  it('that was removed is made again, and not while its disk is away', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    const { local_path: path } = await create(nodeId);
    const mirrors = device.module.get(Mirrors);
    device.parts.store.putMirror({ ...mirrors.require(nodeId), scannedAt: '2026-01-01T00:00:00.000Z' });
    await rm(join(device.root, 'acme'), { recursive: true });
    expect(await create(nodeId)).toMatchObject({ created: false, local_path: path });
    const row = mirrors.require(nodeId);
    expect([await mirrors.stateOf(row), row.scannedAt]).toEqual(['ready', null]);
    await rm(path, { recursive: true });
    device.parts.store.putMirror({ ...row, identity: '999999:1' });
    const error = await device.refusal(createMirror, { node_id: nodeId }, 'MIRROR_PATH_REFUSED');
    expect(error.details).toEqual({ reason: 'unusable' });
    expect(await isThere(path)).toBe(false);
  });

  it('is made once by calls at the same time', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    const answers = await Promise.all([create(nodeId), create(nodeId), create(nodeId)]);
    expect(answers.map(({ created }) => created).toSorted()).toEqual([false, false, true]);
    expect(device.parts.store.mirrors()).toHaveLength(1);
  });

  it('goes to one of two nodes that want the same folder at the same time', async () => {
    const nodes = ['Alpha', 'Beta', 'Gamma'].map((name) => device.records.node({ name }));
    const answers = await Promise.allSettled(
      nodes.map((nodeId, index) => create(nodeId, join(elsewhere, ['x', 'x/wip', 'X'][index] ?? ''))),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(device.parts.store.mirrors()).toHaveLength(1);
  });

  it('takes local as its only target [mirrors.create.targets]', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    expect(await device.call(createMirror, { node_id: nodeId, targets: ['local'] })).toMatchObject({ created: true });
    await device.refusal(createMirror, { node_id: nodeId, targets: ['remote'] }, 'VALIDATION_FAILED');
    await device.refusal(createMirror, { node_id: nodeId, targets: [] }, 'VALIDATION_FAILED');
  });

  it('that was half made is completed, and a graph that does not answer leaves nothing behind', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    const path = join(device.root, 'acme', 'projects', 'alpha');
    device.graph.failure = new ServiceError('SERVICE_UNAVAILABLE', 'The graph does not answer.');
    await device.refusal(createMirror, { node_id: nodeId }, 'SERVICE_UNAVAILABLE');
    expect(await isThere(path)).toBe(false);
    device.graph.failure = null;
    await mkdir(join(path, 'wip'), { recursive: true });
    expect(await create(nodeId)).toMatchObject({ created: true, local_path: path });
    expect(await isThere(join(path, 'resources'))).toBe(true);
  });

  it('is refused where it would be, hold or lie in that of another node [mirrors.create.conflicting-path-refused]', async () => {
    const [one, two] = [device.records.node({ name: 'Alpha' }), device.records.node({ name: 'Beta' })];
    await mkdir(join(elsewhere, 'in'));
    await create(one, join(elsewhere, 'in', 'alpha'));
    await symlink(join(elsewhere, 'in'), join(elsewhere, 'link'));
    const wrong = [
      join(elsewhere, 'in', 'alpha'),
      join(elsewhere, 'in', 'ALPHA'),
      join(elsewhere, 'in', 'alpha', 'wip'),
      join(elsewhere, 'in', 'alpha', 'deep', 'er'),
      join(elsewhere, 'in'),
      join(elsewhere, 'link', 'alpha'),
      join(elsewhere, 'in', '..', 'in', 'alpha'),
    ];
    for (const path of wrong)
      expect(await refused(two, path)).toEqual({
        reason: 'other_mirror',
        node_id: one,
        path: join(elsewhere, 'in', 'alpha'),
      });
    expect(await create(two, join(elsewhere, 'in', 'alphabet'))).toMatchObject({ created: true });
  });

  it('is refused for paths that belong to the system, the user or the product', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    await writeFile(join(elsewhere, 'file'), '');
    await symlink(device.root, join(elsewhere, 'root'));
    await symlink(join(elsewhere, 'nowhere'), join(elsewhere, 'dangling'));
    await mkdir(join(elsewhere, 'blocked'));
    await writeFile(join(elsewhere, 'blocked', 'wip'), 'a file');
    const reserved = { reason: 'reserved' };
    expect(await refused(nodeId, parse(elsewhere).root)).toEqual(reserved);
    expect(await refused(nodeId, homedir())).toEqual(reserved);
    expect(await refused(nodeId, dirname(homedir()))).toEqual(reserved);
    expect(await refused(nodeId, device.root)).toEqual(reserved);
    expect(await refused(nodeId, join(elsewhere, 'root'))).toEqual(reserved);
    expect(await refused(nodeId, dirname(device.root))).toEqual(reserved);
    expect(await refused(nodeId, join(device.root, '.svc'))).toEqual(reserved);
    expect(await refused(nodeId, join(device.root, '.svc', 'trash'))).toEqual(reserved);
    expect(await refused(nodeId, join(device.root, '.SVC', 'x'))).toEqual(reserved);
    expect(await refused(nodeId, join(elsewhere, 'file'))).toMatchObject({ reason: 'not_a_folder' });
    expect(await refused(nodeId, join(elsewhere, 'file', 'x'))).toMatchObject({ reason: 'not_a_folder' });
    expect(await refused(nodeId, join(elsewhere, 'dangling'))).toMatchObject({ reason: 'unusable' });
    expect(await refused(nodeId, join(elsewhere, 'blocked'))).toMatchObject({ reason: 'section_blocked' });
    expect(await refused(nodeId, join(elsewhere, 'x'.repeat(300)))).toMatchObject({ reason: 'unusable' });
    for (const path of ['relative/x', './x', '', `${elsewhere}/a\nb`, `${elsewhere}/a\0b`])
      await device.refusal(createMirror, { node_id: nodeId, custom_path: path }, 'VALIDATION_FAILED');
    expect(device.parts.store.mirrors()).toEqual([]);
    expect((await readdir(elsewhere)).toSorted()).toEqual(['blocked', 'dangling', 'file', 'root']);
  });

  it('nests in an organization only as its own default folder', async () => {
    const [organization, alpha, other] = [
      device.records.node({ name: 'Acme', type: 'organization' }),
      device.records.node({ name: 'Alpha' }),
      device.records.node({ name: 'Beta' }),
    ];
    await create(alpha);
    await create(organization);
    expect(await refused(other, join(device.root, 'acme', 'notes'))).toMatchObject({ node_id: organization });
    expect(await create(other)).toMatchObject({ created: true });
  });

  it('of a hidden node is not told to whom the path is refused', async () => {
    const reader = device.caller('write');
    const hidden = device.records.node({ name: 'Secret', seenBy: new Set() });
    const open = device.records.node({ name: 'Open' });
    await create(hidden, join(elsewhere, 'secret'));
    const error = await device.refusal(
      createMirror,
      { node_id: open, custom_path: join(elsewhere, 'secret', 'in') },
      'MIRROR_PATH_REFUSED',
      reader,
    );
    expect([error.details, error.message]).toEqual([
      { reason: 'unusable' },
      'The folder cannot be used for this node. Choose another folder.',
    ]);
    await device.refusal(createMirror, { node_id: hidden }, 'NODE_NOT_FOUND', reader);
    await device.refusal(removeMirror, { node_id: hidden }, 'NODE_NOT_FOUND', reader);
    expect(await device.call(listMirrors, {}, reader)).toEqual({ items: [], next_cursor: null });
  });

  it('is made by those who may write on the node alone', async () => {
    const nodeId = device.records.node({ name: 'Alpha', writtenBy: new Set() });
    await device.refusal(createMirror, { node_id: nodeId }, 'FORBIDDEN', device.caller('write'));
    await device.refusal(createMirror, { node_id: nodeId }, 'FORBIDDEN', device.caller('read'));
    await device.refusal(createMirror, { node_id: newId() }, 'NODE_NOT_FOUND');
  });
});

describe('the mirrors of a device', () => {
  it('are listed by the names of their nodes in pages, with their state', async () => {
    const names = ['Alpha', 'Beta', 'Gamma', 'Delta', 'Epsilon'];
    for (const name of names) await create(device.records.node({ name }));
    await rm(join(device.root, 'acme', 'projects', 'gamma'), { recursive: true });
    const first = await device.call(listMirrors, { limit: 3 });
    const second = await device.call(listMirrors, { limit: 3, cursor: first.next_cursor ?? '' });
    const all = [...first.items, ...second.items];
    expect(all.map(({ node, state }) => [node.name, state])).toEqual([
      ['Alpha', 'ready'],
      ['Beta', 'ready'],
      ['Delta', 'ready'],
      ['Epsilon', 'ready'],
      ['Gamma', 'missing'],
    ]);
    expect(second.next_cursor).toBeNull();
    for (const cursor of ['x', 'bnVsbA', Buffer.from('["nodes","x"]').toString('base64url')])
      await device.refusal(listMirrors, { cursor }, 'VALIDATION_FAILED');
  });

  it('whose node is gone are skipped and removed in the background, and their files stay [mirrors.registry.stale-tolerated]', async () => {
    const { nodeId, path } = await device.mirror('Alpha');
    await device.mirror('Beta');
    await writeFile(join(path, 'wip', 'a.md'), 'a');
    const mirrors = device.module.get(Mirrors);
    const removed = new Promise((resolve) => mirrors.onRemoved(resolve));
    device.records.nodes.delete(nodeId);
    expect((await device.call(listMirrors, {})).items).toMatchObject([{ node: { name: 'Beta' } }]);
    expect(await removed).toMatchObject({ nodeId });
    expect(device.parts.store.mirror(nodeId)).toBeNull();
    expect(await readFile(join(path, 'wip', 'a.md'), 'utf8')).toBe('a');
    const other = device.records.node({ name: 'Other' });
    expect(await create(other, path)).toMatchObject({ created: true });
  });

  it('whose node is hidden or cannot be asked for stay registered', async () => {
    const hidden = device.records.node({ name: 'Secret', seenBy: new Set() });
    await create(hidden);
    await device.call(listMirrors, {}, device.caller('read'));
    device.records.failures.set('find_places', new Error('down'));
    const mirrors = device.module.get(Mirrors);
    mirrors.doubt(hidden);
    await mirrors.beforeApplicationShutdown();
    expect(mirrors.of(hidden)).not.toBeNull();
  });

  it('are missing while their folder is another one, and back with it or with a copy of it', async () => {
    const { nodeId, path } = await device.mirror('Alpha');
    const mirrors = device.module.get(Mirrors);
    await writeFile(join(path, 'wip', 'a.md'), 'a');
    const seen = {
      sha256: 'a'.repeat(64),
      sizeBytes: 1,
      mimeType: 'text/markdown',
      modifiedAt: '2026-01-01T00:00:00.000Z',
      stamp: null,
      inode: null,
    };
    await device.parts.files.apply(nodeId, [{ kind: 'register', path: 'wip/a.md', seen }], {
      action: 'test',
      asker: null,
      strict: true,
    });
    const state = () => mirrors.stateOf(mirrors.require(nodeId));
    expect(await state()).toBe('ready');
    await rename(path, join(elsewhere, 'away'));
    expect(await state()).toBe('missing');
    await mkdir(path);
    expect(await state()).toBe('missing');
    await mkdir(join(path, 'wip'));
    expect(await state()).toBe('missing');
    await writeFile(join(path, 'wip', 'a.md'), 'a');
    expect(await state()).toBe('ready');
    expect(mirrors.require(nodeId).scannedAt).toBeNull();
  });

  it('are given up without their files, and what we wrote into them goes', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    const { local_path: path } = await create(nodeId);
    await writeFile(join(path, 'wip', 'a.md'), 'a');
    expect(await device.call(removeMirror, { node_id: nodeId })).toEqual({ node_id: nodeId, local_path: path });
    expect((await readdir(path)).toSorted()).toEqual(['outputs', 'resources', 'wip']);
    expect(await readFile(join(path, 'wip', 'a.md'), 'utf8')).toBe('a');
    expect(await readdir(join(device.root, '.svc', 'mirrors'))).toEqual([]);
    await device.refusal(removeMirror, { node_id: nodeId }, 'NO_MIRROR');
    expect(await create(nodeId)).toMatchObject({ created: true, local_path: path });
  });

  it('tell those who listen', async () => {
    const mirrors = device.module.get(Mirrors);
    const told: string[] = [];
    const ends = [
      mirrors.onAdded(({ path }) => told.push(`added ${path}`)),
      mirrors.onRemoved(({ path }) => told.push(`removed ${path}`)),
    ];
    const nodeId = device.records.node({ name: 'Alpha' });
    const { local_path: path } = await create(nodeId);
    await device.call(removeMirror, { node_id: nodeId });
    for (const end of ends) end();
    await create(nodeId);
    expect(told).toEqual([`added ${path}`, `removed ${path}`]);
  });

  it('that may not be read are told as unreadable', async () => {
    const { nodeId, path } = await device.mirror('Alpha');
    const mirrors = device.module.get(Mirrors);
    const superuser = process.geteuid?.() === 0;
    await chmod(path, 0o000);
    // The superuser reads everything.
    if (superuser) process.seteuid?.(NOBODY);
    try {
      expect(await mirrors.stateOf(mirrors.require(nodeId))).toBe('unreadable');
    } finally {
      if (superuser) process.seteuid?.(0);
      await chmod(path, 0o700);
    }
  });
});
