import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { renameSync, unlinkSync } from 'node:fs';
import { appendFile, cp, mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { getSyncHealth, getSyncStatus, listMirrors, ServiceError } from '@workspace-graph/contracts';
import { expectAgreement, filesKnown, idAt, scannerOf } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { eventually, watchedMirror } from './watcher.fixture.js';

/** Files of a checkout with Git, of which every second is changed; 20,000 show what a large repository does. */
const CHECKOUT_FILES = Number(process.env['SVC_WATCH_FILES'] ?? 1_000);

let device: DeviceFixture;
let nodeId: string;
let root: string;
let mirrors = 0;
beforeAll(async () => {
  device = await startDevice({ settings: { watch: true, debounceMs: 100 } });
});
afterAll(() => device.close());
beforeEach(async () => {
  mirrors += 1;
  ({ nodeId, path: root } = await watchedMirror(device, `Node ${mirrors}`));
  await eventually(() => expect(device.parts.store.mirror(nodeId)?.scannedAt).not.toBeNull());
});
afterEach(() => device.records.failures.clear());

const at = (path: string): string => join(root, path);
const put = (path: string, content = path) => writeFile(at(path), content);
const agrees = () => expectAgreement(device, nodeId, root);
const failures = () => scannerOf(device).failures.of(nodeId);
const tracked = () => Object.keys(filesKnown(device, nodeId).registry);

describe('the watcher', () => {
  it('registers what is copied in, with its folders, and uploads nothing [watcher.registers-new-file] [watcher.never-pushes] [watcher.new-mirrors]', async () => {
    for (let folder = 0; folder < 10; folder += 1) {
      await mkdir(join(device.root, 'source', `${mirrors}`, `${folder}`, 'deep'), { recursive: true });
      for (let file = 0; file < 30; file += 1)
        await writeFile(
          join(device.root, 'source', `${mirrors}`, `${folder}`, 'deep', `${file}.md`),
          `${folder} ${file}`,
        );
    }
    execFileSync('cp', ['-r', join(device.root, 'source', `${mirrors}`), at('wip/copied')]);
    await eventually(() => expect(tracked()).toHaveLength(300));
    await agrees();
    expect(device.records.recordsOf(nodeId).every((record) => record.last_pushed_at === null)).toBe(true);
    expect(failures()).toEqual([]);
  });

  it('notices what the system leaves out of its news: a file that was replaced and removed at once', async () => {
    await put('wip/a.md');
    await eventually(() => expect(tracked()).toEqual(['wip/a.md']));
    await put('.saved', 'new content');
    renameSync(at('.saved'), at('wip/a.md'));
    unlinkSync(at('wip/a.md'));
    await put('outputs/other.md');
    await eventually(() => expect(tracked()).toEqual(['outputs/other.md']));
  });

  it('follows edits, moves and deletions, also in a folder that was moved [watcher.move-same-record] [watcher.rehashes-edit]', async () => {
    await mkdir(at('wip/d/e'), { recursive: true });
    for (let file = 0; file < 200; file += 1) await put(`wip/d/e/${file}.md`);
    await eventually(() => expect(tracked()).toHaveLength(200));
    const before = idAt(device, nodeId, 'wip/d/e/7.md');
    await rename(at('wip/d'), at('outputs/moved'));
    await eventually(() => expect(idAt(device, nodeId, 'outputs/moved/e/7.md')).toBe(before));
    await eventually(agrees);
    await appendFile(at('outputs/moved/e/7.md'), 'more');
    await unlink(at('outputs/moved/e/8.md'));
    await put('outputs/moved/e/new.md');
    await eventually(agrees);
    expect(idAt(device, nodeId, 'outputs/moved/e/7.md')).toBe(before);
    await rm(at('outputs/moved'), { recursive: true });
    await eventually(() => expect(tracked()).toEqual([]));
  });

  it('follows edits also while the clock of the machine is put back', async () => {
    const now = Date.now();
    let backHours = 0;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now - 3_600_000 * backHours++);
    try {
      await put('wip/a.md');
      await eventually(() => expect(tracked()).toEqual(['wip/a.md']));
      await appendFile(at('wip/a.md'), ' and more');
      await eventually(agrees);
    } finally {
      clock.mockRestore();
    }
    expect(backHours).toBeGreaterThan(0);
  });

  it('waits until a file holds still [watcher.settled]', async () => {
    const sizes: number[] = [];
    const end = device.parts.files.onChange(({ changed }) => {
      for (const { path, sizeBytes } of changed) if (path === 'wip/growing.bin') sizes.push(sizeBytes);
    });
    for (let part = 0; part < 12; part += 1) {
      await appendFile(at('wip/growing.bin'), 'x'.repeat(1_000));
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    await eventually(() => expect(device.records.recordAt(nodeId, 'wip/growing.bin')?.size_bytes).toBe(12_000));
    end();
    expect(sizes.length).toBeLessThan(4);
    expect(sizes.at(-1)).toBe(12_000);
  });

  it('follows a checkout of a whole tree', async () => {
    const git = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: root, stdio: 'pipe' });
    await mkdir(at('wip/tree'));
    for (let file = 0; file < CHECKOUT_FILES; file += 1) await put(`wip/tree/${file}.md`, `first ${file}`);
    git('init', '-q', '-b', 'one');
    git('add', 'wip');
    git('commit', '-qm', 'one');
    git('checkout', '-qb', 'two');
    for (let file = 0; file < CHECKOUT_FILES; file += 2) await put(`wip/tree/${file}.md`, `second ${file}`);
    git('mv', 'wip/tree', 'outputs/tree');
    git('add', '.');
    git('commit', '-qm', 'two');
    git('checkout', '-q', 'one');
    await eventually(() => expect(tracked()).toHaveLength(CHECKOUT_FILES));
    await eventually(agrees);
    git('checkout', '-q', 'two');
    await eventually(() => expect(tracked()[0]).toBe('outputs/tree/0.md'));
    await eventually(agrees);
    expect(failures()).toEqual([]);
  });

  it('takes nothing for deleted while the folder is away, and goes on when it is back', async () => {
    await put('wip/a.md');
    await eventually(() => expect(tracked()).toEqual(['wip/a.md']));
    const before = idAt(device, nodeId, 'wip/a.md');
    await rename(root, `${root}.away`);
    await eventually(() => expect(failures()).toMatchObject([{ path: '' }]));
    expect(tracked()).toEqual(['wip/a.md']);
    await rename(`${root}.away`, root);
    await eventually(() => expect(failures()).toEqual([]));
    await put('wip/b.md');
    await eventually(() => expect(tracked()).toEqual(['wip/a.md', 'wip/b.md']));
    expect(idAt(device, nodeId, 'wip/a.md')).toBe(before);
  });

  it('follows a change of .svcignore [files.ignore.svcignore]', async () => {
    await put('wip/.svcignore', '*.log');
    await put('wip/a.log');
    await put('wip/b.md');
    await eventually(() => expect(tracked()).toEqual(['wip/b.md']));
    await unlink(at('wip/.svcignore'));
    await eventually(() => expect(tracked()).toEqual(['wip/a.log', 'wip/b.md']));
  });

  it('tells failures, keeps the newest of them, and forgets them once they are mended [watcher.failures.buffered] [watcher.failures.shown] [watcher.failures.cleared] [limits.watcher-buffer-50]', async () => {
    for (let link = 0; link < 60; link += 1) await symlink('/etc/hostname', at(`wip/${link}.md`));
    device.records.failures.set('apply_file_changes', new ServiceError('SERVICE_UNAVAILABLE', 'The records are away.'));
    await put('wip/a.md');
    await eventually(() => expect(failures().map(({ message }) => message)).toContain('The records are away.'));
    await eventually(() => expect(failures()).toHaveLength(50));
    const status = await device.call(getSyncStatus, { node_id: nodeId });
    expect(status).toMatchObject({ watching: true, mirror: { local_path: root }, tracked: 0, deleted_local: 0 });
    expect(status.watcher_errors).toEqual(failures());
    expect(JSON.stringify(status.watcher_errors)).not.toContain(device.root);
    const health = await device.call(getSyncHealth, {});
    expect(health).toMatchObject({ watching: true, mirrors, failures_complete: true });
    expect(health.failures).toHaveLength(50);
    device.records.failures.clear();
    for (let link = 0; link < 60; link += 1) await unlink(at(`wip/${link}.md`));
    await eventually(() => expect(failures()).toEqual([]));
    await agrees();
  });

  it('tells nothing of nodes that the caller does not see', async () => {
    const reader = device.caller('read');
    await symlink('/etc/hostname', at('wip/link'));
    await eventually(() => expect(failures()).toHaveLength(1));
    const node = device.records.nodes.get(nodeId);
    if (!node) throw new Error('it was added');
    device.records.nodes.set(nodeId, { ...node, seenBy: new Set() });
    const health = await device.call(getSyncHealth, {}, reader);
    expect(health.failures.filter((failure) => failure.node.id === nodeId)).toEqual([]);
    expect(health.mirrors).toBe(mirrors - 1);
    await device.refusal(getSyncStatus, { node_id: nodeId }, 'NODE_NOT_FOUND', reader);
  });

  it('tells an agent of the folders that its session holds, and of nothing else', async () => {
    await symlink('/etc/hostname', at('wip/link'));
    await eventually(() => expect(failures()).toHaveLength(1));
    device.parts.store.withdrawn.put({ path: device.root, files: 1, at: new Date().toISOString() });
    const heardBy = async (...nodeIds: string[]) => {
      const session_id = randomUUID();
      device.records.sessions.set(session_id, new Set(nodeIds));
      const agent = { ...device.caller('manage'), session_id };
      const health = await device.call(getSyncHealth, {}, agent);
      const { items } = await device.call(listMirrors, {}, agent);
      const folders = items.map(({ node }) => node.id);
      return { folders, mirrors: health.mirrors, failures: health.failures.length, aside: health.set_aside.length };
    };
    expect(await heardBy(nodeId)).toEqual({ folders: [nodeId], mirrors: 1, failures: 1, aside: 0 });
    expect(await heardBy()).toEqual({ folders: [], mirrors: 0, failures: 0, aside: 0 });
    expect(await device.call(getSyncHealth, {})).toMatchObject({ mirrors, set_aside: [{ path: device.root }] });
  });
});

describe('a start of the watcher', () => {
  it('finds what changed while it was off, and forgets what has no record any more [watcher.catches-up]', async () => {
    const first = await startDevice({ settings: { watch: true, debounceMs: 100 } });
    const mirror = await watchedMirror(first, 'Beta');
    for (const name of ['a', 'b', 'c', 'd']) await writeFile(join(mirror.path, 'wip', `${name}.md`), name);
    const registered = () => expect(first.parts.store.countFiles(mirror.nodeId).present).toBe(4);
    await eventually(registered);
    const before = idAt(first, mirror.nodeId, 'wip/a.md');
    const lost = first.records.recordAt(mirror.nodeId, 'wip/d.md');
    await first.stop();
    await rename(join(mirror.path, 'wip/a.md'), join(mirror.path, 'resources/a.md'));
    await writeFile(join(mirror.path, 'wip/b.md'), 'edited');
    await unlink(join(mirror.path, 'wip/c.md'));
    await cp(join(mirror.path, 'wip/b.md'), join(mirror.path, 'wip/e.md'));
    first.records.records.delete(lost?.id ?? '');
    await using second = await first.start();
    await eventually(() => expectAgreement(second, mirror.nodeId, mirror.path));
    expect(idAt(second, mirror.nodeId, 'resources/a.md')).toBe(before);
    expect(idAt(second, mirror.nodeId, 'wip/d.md')).not.toBe(lost?.id);
  });
});
