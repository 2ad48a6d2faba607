import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile as readDisk, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Caller, listFiles, readFile } from '@workspace-graph/contracts';
import { locate, readContent } from '@workspace-graph/disk';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { Projections } from './projections.js';
import { insideFolder, putFile, removeTree } from './read-only-tree.js';

const HALF_HOUR_MS = 30 * 60_000;

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 10)))
    if (Date.now() > end) throw new Error('it did not come to be');
}

describe('the projection of a session', () => {
  let device: DeviceFixture;
  let home: string;
  let other: { nodeId: string; path: string };
  let agent: (session?: string) => Caller;

  beforeEach(async () => {
    device = await startDevice();
    home = (await device.mirror('Home')).nodeId;
    other = await device.mirror('Other');
    const user = device.person('read');
    agent = (session = 'one') => ({ ...user, via: 'mcp', session_key: session, home_node_id: home });
  });
  afterEach(() => device.close());

  const root = () => join(device.root, '.svc', 'projections');
  const folders = async () => (await readdir(root()).catch(() => [])) as string[];
  const track = async (name: string, content = name): Promise<void> => {
    await mkdir(join(other.path, name, '..'), { recursive: true });
    await writeFile(join(other.path, name), content);
    const seen = await readContent(await locate(other.path, name));
    const known = device.parts.store.fileAt(other.nodeId, name);
    await device.parts.locks.run([other.nodeId], () =>
      device.parts.files.apply(
        other.nodeId,
        [known ? { kind: 'update', file: known, seen } : { kind: 'register', path: name, seen }],
        { action: 'test', asker: null, strict: true },
      ),
    );
  };
  const pathOf = async (name: string, as = agent()): Promise<string> =>
    (await device.call(readFile, { node_id: other.nodeId, path: name, as_path: true }, as)).path ?? '';
  const isThere = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );
  const tell = (type: 'access.changed') =>
    device.parts.bus.publish({ type, id: randomUUID(), payload: { node_ids: [other.nodeId] } });

  it('is another one for each session, and for each user [files.read-tool.as-path]', async () => {
    await track('wip/a.md');
    const stranger = { ...device.caller('manage'), via: 'mcp' as const, session_key: 'one', home_node_id: home };
    const paths = [
      await pathOf('wip/a.md'),
      await pathOf('wip/a.md', agent('two')),
      await pathOf('wip/a.md', stranger),
    ];

    // Without a handshake the agents of one credential have one key, and a scope each.
    const wanted = new Map([[other.nodeId, ['wip/a.md']]]);
    for (const session_id of [randomUUID(), randomUUID()]) {
      device.records.sessions.set(session_id, new Set([other.nodeId]));
      const asker = { callId: randomUUID(), requestId: 'r', caller: { ...agent(), session_id } };
      paths.push((await device.module.get(Projections).project(asker, wanted))(other.nodeId, 'wip/a.md') ?? '');
    }

    expect(new Set(paths).size).toBe(5);
    expect(await pathOf('wip/a.md')).toBe(paths[0]);
  });

  it('holds the whole node soon after its first file was asked for, read-only folders of links', async () => {
    for (const name of ['wip/a.md', 'wip/deep/b.md', 'outputs/c.md']) await track(name);
    const path = await pathOf('wip/a.md');
    const folder = join(path, '../..');
    await until(() => isThere(join(folder, 'outputs/c.md')));
    await until(() => isThere(join(folder, 'wip/deep/b.md')));

    // A folder is closed once all that belongs in it lies there.
    await until(async () => ((await stat(join(folder, 'wip'))).mode & 0o222) === 0);
    expect((await stat(path)).ino).toBe((await stat(join(other.path, 'wip/a.md'))).ino);
  });

  it('shows the new content after a file was replaced, and nothing of one that is gone', async () => {
    await track('wip/a.md', 'old');
    await track('wip/b.md');
    const [first, second] = [await pathOf('wip/a.md'), await pathOf('wip/b.md')];
    await writeFile(join(other.path, 'wip/new'), 'new');
    await rename(join(other.path, 'wip/new'), join(other.path, 'wip/a.md'));
    await rm(join(other.path, 'wip/b.md'));
    const gone = device.parts.store.fileAt(other.nodeId, 'wip/b.md');
    if (!gone) throw new Error('the file was tracked');
    await device.parts.files.apply(other.nodeId, [{ kind: 'remove', file: gone, tombstone: false }], {
      action: 'test',
      asker: null,
      strict: true,
    });

    expect(await pathOf('wip/a.md')).toBe(first);
    expect(await readDisk(first, 'utf8')).toBe('new');
    expect(await isThere(second)).toBe(false);
  });

  it('loses a node within a second of the right to see it, and at the next use at the latest', async () => {
    await track('wip/a.md');
    const path = await pathOf('wip/a.md');
    const node = device.records.nodes.get(other.nodeId);
    if (!node) throw new Error('the node was added');
    device.records.nodes.set(other.nodeId, { ...node, seenBy: new Set() });
    const startedMs = Date.now();
    await tell('access.changed');
    await until(async () => !(await isThere(path)));
    expect(Date.now() - startedMs).toBeLessThan(1_000);

    device.records.nodes.set(other.nodeId, node);
    await pathOf('wip/a.md');
    device.records.nodes.set(other.nodeId, { ...node, seenBy: new Set() });
    await device.refusal(readFile, { node_id: other.nodeId, path: 'wip/a.md' }, 'NODE_NOT_FOUND', agent());
    const mine = await device.mirror('Third');
    await device.call(listFiles, { node_id: mine.nodeId }, agent());
    await writeFile(join(mine.path, 'wip/x.md'), 'x');
    await device.call(readFile, { node_id: mine.nodeId, path: 'wip/x.md', as_path: true }, agent());
    expect(await isThere(path)).toBe(false);
  });

  it('is empty when nobody can tell what its caller may see', async () => {
    await track('wip/a.md');
    const path = await pathOf('wip/a.md');
    device.records.failures.set('find_places', new Error('down'));
    await tell('access.changed');
    await until(async () => !(await isThere(path)));
    device.records.failures.clear();

    expect(await isThere(await pathOf('wip/a.md'))).toBe(true);
  });

  it('goes with its session, its credential, half an hour without use, and the next start', async () => {
    await track('wip/a.md');
    const projections = device.module.get(Projections);
    await pathOf('wip/a.md');
    await projections.endSession('other');
    expect(await folders()).toHaveLength(1);
    await projections.endSession('one');
    expect(await folders()).toEqual([]);

    await pathOf('wip/a.md');
    await projections.clearIdle(performance.now() + HALF_HOUR_MS - 5_000);
    expect(await folders()).toHaveLength(1);
    await projections.clearIdle(performance.now() + HALF_HOUR_MS);
    expect(await folders()).toEqual([]);

    await pathOf('wip/a.md');
    const payload = { user_id: agent().user_id, credential_id: null };
    await device.parts.bus.publish({ type: 'credential.ended', id: randomUUID(), payload });
    await until(async () => (await folders()).length === 0);

    await pathOf('wip/a.md');
    device = await device.restart();
    expect(await folders()).toEqual([]);
  });

  it('never leads to a symbolic link, also where somebody put one into it [files.path.symlinks-not-followed]', async () => {
    await track('wip/a.md');
    const path = await pathOf('wip/a.md');
    await writeFile(join(device.root, 'secret'), 'secret');
    const folder = join(path, '..');
    await removeTree(folder);
    await insideFolder(join(folder, '..'), [], (open) => symlink(device.root, join(open, 'wip')));
    await rm(join(other.path, 'wip/a.md'));
    await symlink(join(device.root, 'secret'), join(other.path, 'wip/a.md'));

    await device.call(readFile, { node_id: other.nodeId, path: 'wip/a.md', as_path: true }, agent()).then(
      () => expect('answered').toBe('refused'),
      (error: unknown) => expect(error).toMatchObject({ code: expect.stringMatching(/NOT_FOUND|VALIDATION/) }),
    );
    await rm(join(other.path, 'wip/a.md'));
    await track('wip/a.md', 'again');
    expect(await readDisk(await pathOf('wip/a.md'), 'utf8')).toBe('again');
    expect(await isThere(join(device.root, 'a.md'))).toBe(false);
  });

  it.each(['EXDEV', 'EMLINK', 'EPERM'])('is a read-only copy where the disk answers %s to a link', async (code) => {
    await track('wip/a.md', 'old');
    const source = await locate(other.path, 'wip/a.md');
    const target = join(device.root, 'copy');
    const noLink = () => Promise.reject(Object.assign(new Error(code), { code }));
    const mark = await putFile(source, target, { link: noLink });

    expect(await readDisk(target, 'utf8')).toBe('old');
    const { ino, mode } = await stat(target);
    expect(mode & 0o222).toBe(0);
    await putFile(source, target, { link: noLink, mark });
    expect((await stat(target)).ino).toBe(ino);
    await writeFile(join(other.path, 'wip/a.md'), 'newer');
    await putFile(source, target, { link: noLink, mark });
    expect(await readDisk(target, 'utf8')).toBe('newer');
  });

  it('shows the file that was checked, whatever takes its name meanwhile', async () => {
    await track('wip/a.md', 'checked');
    await writeFile(join(device.root, 'foreign'), 'foreign');
    const target = join(device.root, 'shown');
    await putFile(await locate(other.path, 'wip/a.md'), target, {
      link: (_existing, at) => link(join(device.root, 'foreign'), at),
    });

    expect(await readDisk(target, 'utf8')).toBe('checked');
  });
});
