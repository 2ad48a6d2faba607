import { execFileSync } from 'node:child_process';
import { appendFile, chmod, link, mkdir, rename, rm, stat, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { deleteFile, moveFile, ServiceError } from '@workspace-graph/contracts';
import { stampOf } from '@workspace-graph/disk';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { expectAgreement, filesKnown, idAt, scannerOf } from './scanner.fixture.js';

let device: DeviceFixture;
let nodeId: string;
let root: string;
let mirrors = 0;
beforeAll(async () => {
  device = await startDevice();
});
afterAll(() => device.close());
beforeEach(async () => {
  mirrors += 1;
  ({ nodeId, path: root } = await device.mirror(`Node ${mirrors}`));
});
afterEach(() => {
  device.records.failures.clear();
  device.records.lostReplies.clear();
});

const at = (path: string): string => join(root, path);
const put = async (path: string, content = path): Promise<void> => {
  await mkdir(join(at(path), '..'), { recursive: true });
  await writeFile(at(path), content);
};
/** Scans all of the mirror, and again what was too young to be told from a change. */
const scan = () => scannerOf(device).reconcile(nodeId, 'all');
/** Scans, and says whether anybody who asked meanwhile heard of it. */
const isTold = async (): Promise<boolean> => {
  let [heard, isOver] = [false, false];
  const work = scan().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    heard ||= scannerOf(device).progressOf(nodeId).running;
    await yieldToEventLoop();
  }
  await work;
  return heard;
};
/** Whether the next scan would read the file again. */
const stampIsOld = async (): Promise<boolean> =>
  device.parts.store.fileAt(nodeId, 'wip/a.md')?.stamp !== stampOf(await stat(at('wip/a.md'), { bigint: true }));
const failures = () => scannerOf(device).failures.of(nodeId);
const failedPaths = () => failures().map(({ path }) => path);
const ids = (...paths: string[]) => paths.map((path) => idAt(device, nodeId, path));
const agrees = () => expectAgreement(device, nodeId, root);

describe('a scan of a folder', () => {
  it('registers the files of the three sections and nothing else [files.sections] [files.hash.sha256]', async () => {
    await put('wip/a.md');
    await put('outputs/deep/er/b.md');
    await put('resources/c.bin', '');
    await put('elsewhere/d.md');
    await put('e.md');
    await put('wip/.hidden/f.md');
    await put('wip/g.tmp');
    const outcome = await scan();
    expect(outcome).toMatchObject({ state: 'ready', isIncomplete: false });
    expect(Object.keys(filesKnown(device, nodeId).registry)).toEqual([
      'outputs/deep/er/b.md',
      'resources/c.bin',
      'wip/a.md',
    ]);
    expect(device.records.recordAt(nodeId, 'wip/a.md')).toMatchObject({ mime_type: 'text/markdown', size_bytes: 8 });
    await agrees();
    expect(failures()).toEqual([]);
  });

  it('finds an edit of the same size whose time was set back [watcher.edit-hidden-by-time]', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000);
    await put('wip/a.md', 'one');
    await utimes(at('wip/a.md'), hourAgo, hourAgo);
    for (let looks = 0; looks === 0 || (await stampIsOld()); looks += 1) await scan();
    await agrees();
    await writeFile(at('wip/a.md'), 'two');
    await utimes(at('wip/a.md'), hourAgo, hourAgo);
    await scan();
    await agrees();
    expect(device.records.recordAt(nodeId, 'wip/a.md')?.version).toBe(2);
  });

  it('reads a file again when only its permissions or its names changed, or its stamp is of an older version, and changes nothing', async () => {
    await put('wip/a.md');
    await scan();
    const [before] = [...device.parts.store.filesOf(nodeId)];
    if (!before) throw new Error('it was found');
    const told: string[] = [];
    const changes: (() => Promise<unknown>)[] = [
      () => chmod(at('wip/a.md'), 0o640),
      () => link(at('wip/a.md'), join(device.root, `second name ${nodeId}`)),
      () => unlink(join(device.root, `second name ${nodeId}`)),
      async () => {
        const { size, mtimeNs } = await stat(at('wip/a.md'), { bigint: true });
        device.parts.store.changeFiles({ put: [{ ...before, stamp: `${size}:${mtimeNs}` }] });
      },
    ];
    for (const change of changes) {
      await change();
      for (let looks = 0; looks === 0 || (await stampIsOld()); looks += 1) await scan();
      told.push(...device.parts.store.scans.doubts(nodeId));
    }
    expect(told).toEqual([]);
    expect(device.records.recordAt(nodeId, 'wip/a.md')?.version).toBe(1);
    await agrees();
  });

  it('finds edits, new files and deleted ones, and nothing when nothing changed [watcher.rehashes-edit]', async () => {
    for (const name of ['a', 'b', 'c']) await put(`wip/${name}.md`);
    await scan();
    const before = ids('wip/a.md', 'wip/b.md');
    await put('wip/b.md', 'another text');
    await unlink(at('wip/c.md'));
    await put('wip/d.md');
    await scan();
    await agrees();
    expect(ids('wip/a.md', 'wip/b.md')).toEqual(before);
    await utimes(at('wip/a.md'), 1, 1);
    for (const path of ['wip/b.md', 'wip/d.md']) await utimes(at(path), 2, 2);
    await scan();
    const { calls } = device.records;
    await scan();
    expect(device.records.calls).toBe(calls);
  });

  it('holds back what a section held that is away for a moment, and what lies behind a link', async () => {
    for (const path of ['wip/a.md', 'wip/deep/b.md', 'outputs/deep/c.md', 'outputs/d.md']) await put(path);
    await scan();
    const before = ids('wip/a.md', 'wip/deep/b.md', 'outputs/deep/c.md', 'outputs/d.md');
    await rename(at('wip'), at('hold'));
    await rename(at('outputs/deep'), at('kept'));
    await symlink(at('kept'), at('outputs/deep'));
    const { recheckAt } = await scan();
    expect((recheckAt ?? 0) - performance.now()).toBeGreaterThan(2_000);
    expect(failedPaths().toSorted()).toEqual(['outputs/deep', 'wip']);
    expect(ids('wip/a.md', 'wip/deep/b.md', 'outputs/deep/c.md', 'outputs/d.md')).toEqual(before);
    await scannerOf(device).reconcile(nodeId, ['wip/deep/b.md']);
    await rename(at('hold'), at('wip'));
    await unlink(at('outputs/deep'));
    await rename(at('kept'), at('outputs/deep'));
    await scan();
    expect(failures()).toEqual([]);
    expect(ids('wip/a.md', 'wip/deep/b.md', 'outputs/deep/c.md', 'outputs/d.md')).toEqual(before);
    await agrees();
  });

  it('follows files out of a section that is away', async () => {
    for (const path of ['wip/a.md', 'wip/deep/b.md']) await put(path);
    await scan();
    const before = ids('wip/a.md', 'wip/deep/b.md');
    await rm(at('outputs'), { recursive: true });
    await rename(at('wip'), at('outputs'));
    await scan();
    expect(ids('outputs/a.md', 'outputs/deep/b.md')).toEqual(before);
    await agrees();
  });

  it('is told while it takes something in, and not while it only checks', async () => {
    await put('wip/a.md');
    expect(await isTold()).toBe(true);
    await utimes(at('wip/a.md'), 1, 1);
    for (let looks = 0; looks === 0 || (await stampIsOld()); looks += 1) await scan();
    expect(await isTold()).toBe(false);
    await put('wip/b.md');
    expect(await isTold()).toBe(true);
  });

  it('keeps a pushed file that is deleted, and takes it back with its content [watcher.delete-pushed-and-unpushed]', async () => {
    await put('wip/pushed.md');
    await put('wip/own.md');
    await scan();
    const [pushed] = ids('wip/pushed.md');
    const record = device.records.recordAt(nodeId, 'wip/pushed.md');
    const state = device.parts.store.fileAt(nodeId, 'wip/pushed.md');
    if (!record || !state) throw new Error('it was registered');
    device.records.records.set(record.id, { ...record, last_pushed_at: record.created_at });
    device.parts.store.changeFiles({ put: [{ ...state, wasPushed: true }] });
    await unlink(at('wip/pushed.md'));
    await unlink(at('wip/own.md'));
    await scan();
    await scan();
    expect(device.parts.store.countFiles(nodeId)).toEqual({ present: 0, deleted: 1 });
    expect(device.records.recordsOf(nodeId).map(({ id }) => id)).toEqual([pushed]);
    expect(device.records.tombstones.filter((each) => each.node_id === nodeId)).toEqual([]);
    await put('wip/pushed.md');
    await scan();
    expect(device.parts.store.countFiles(nodeId)).toEqual({ present: 1, deleted: 0 });
    expect(ids('wip/pushed.md')).toEqual([pushed]);
  });

  it('keeps the ids of moved files, of swapped names and of chains of names [watcher.move-same-record]', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await put(`wip/${name}.md`);
    await put('wip/folder/g.md');
    await scan();
    const before = ids('wip/a.md', 'wip/b.md', 'wip/c.md', 'wip/d.md', 'wip/e.md', 'wip/f.md', 'wip/folder/g.md');
    await rename(at('wip/a.md'), at('wip/x'));
    await rename(at('wip/b.md'), at('wip/a.md'));
    await rename(at('wip/x'), at('wip/b.md'));
    await rename(at('wip/e.md'), at('outputs/e.md'));
    await rename(at('wip/d.md'), at('wip/e.md'));
    await rename(at('wip/c.md'), at('wip/d.md'));
    await rename(at('wip/f.md'), at('wip/F.md'));
    await rename(at('wip/folder'), at('resources/other'));
    await scan();
    await agrees();
    expect(
      ids('wip/b.md', 'wip/a.md', 'wip/d.md', 'wip/e.md', 'outputs/e.md', 'wip/F.md', 'resources/other/g.md'),
    ).toEqual(before);
    expect(failures()).toEqual([]);
  });

  it('sees that an editor that saves by rename edits the file', async () => {
    await put('wip/a.md', 'old');
    await put('wip/b.md', 'old too');
    await scan();
    const before = ids('wip/a.md', 'wip/b.md');
    await put('wip/a.md.new', 'new');
    await rename(at('wip/a.md.new'), at('wip/a.md'));
    await rename(at('wip/b.md'), at('wip/b.md~'));
    await put('wip/b.md', 'new too');
    await scan();
    await agrees();
    expect(ids('wip/a.md', 'wip/b.md')).toEqual(before);
  });

  it('takes a tracked file that is moved onto another one for an edit of that one', async () => {
    await put('wip/a.md', 'a');
    await put('wip/b.md', 'b');
    await scan();
    const [a] = ids('wip/a.md');
    await rename(at('wip/b.md'), at('wip/a.md'));
    await scan();
    await agrees();
    expect(ids('wip/a.md', 'wip/b.md')).toEqual([a, undefined]);
  });

  it('tracks hard links as files of their own, and tells which of them was renamed', async () => {
    await put('wip/a.md');
    await link(at('wip/a.md'), at('wip/b.md'));
    await scan();
    const [a, b] = ids('wip/a.md', 'wip/b.md');
    expect(a).not.toBe(b);
    await rename(at('wip/b.md'), at('wip/c.md'));
    await scan();
    await agrees();
    expect(ids('wip/a.md', 'wip/c.md')).toEqual([a, b]);
  });

  it('registers what comes from another volume anew [watcher.move-across-volumes]', async () => {
    await put('wip/a.md', 'a');
    await scan();
    const [a] = ids('wip/a.md');
    const state = device.parts.store.fileAt(nodeId, 'wip/a.md');
    if (!state) throw new Error('it was registered');
    await rename(at('wip/a.md'), at('wip/b.md'));
    device.parts.store.changeFiles({ put: [{ ...state, stamp: null, inode: null }] });
    await scan();
    await agrees();
    expect(ids('wip/b.md')).not.toEqual([a]);
  });

  it('keeps names in NFC whatever form they have on disk [files.path.nfc]', async () => {
    await put('wip/re\u0301sume\u0301/cafe\u0301.md', 'x');
    await scan();
    expect(Object.keys(filesKnown(device, nodeId).registry)).toEqual(['wip/résumé/café.md']);
    const before = ids('wip/résumé/café.md');
    await appendFile(at('wip/re\u0301sume\u0301/cafe\u0301.md'), 'y');
    await scannerOf(device).reconcile(nodeId, ['wip/résumé/café.md']);
    await agrees();
    expect(ids('wip/résumé/café.md')).toEqual(before);
  });

  it('reports names that are one name, and tracks the first or the known one [files.path.case-collision-reported]', async () => {
    await put('wip/b.md');
    await put('wip/cafe\u0301.md', 'nfd');
    await put('wip/caf\u00e9.md', 'nfc');
    await scan();
    await put('wip/B.md', 'twin');
    await scan();
    await scan();
    expect(Object.keys(filesKnown(device, nodeId).registry)).toEqual(['wip/b.md', 'wip/café.md']);
    expect(failedPaths().toSorted()).toEqual(['wip/B.md', 'wip/café.md']);
    await unlink(at('wip/B.md'));
    await unlink(at('wip/cafe\u0301.md'));
    await scan();
    expect(failures()).toEqual([]);
    await agrees();
  });

  it('reports names that no path may have, and takes them once they are renamed [watcher.failures.cleared]', async () => {
    await put('wip/line\nbreak.md');
    await put('wip/back\\slash.md');
    await put('wip/good.md');
    execFileSync('touch', [Buffer.concat([Buffer.from(`${root}/wip/`), Buffer.from([0xff, 0xfe])]).toString('latin1')]);
    await scan();
    expect(failedPaths()).toEqual(expect.arrayContaining(['wip/line\nbreak.md', 'wip/back\\slash.md']));
    await rename(at('wip/line\nbreak.md'), at('wip/line.md'));
    await rm(at('wip/back\\slash.md'));
    await scan();
    expect(failedPaths().filter((path) => path.includes('line') || path.includes('back'))).toEqual([]);
    expect(ids('wip/line.md')).not.toEqual([undefined]);
  });

  it('follows no symbolic link and opens neither pipes nor sockets [files.path.symlinks-not-followed]', async () => {
    await put('elsewhere/secret.md');
    await symlink(at('elsewhere'), at('wip/link'));
    await symlink(at('elsewhere/secret.md'), at('wip/file.md'));
    execFileSync('mkfifo', [at('wip/pipe')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at('wip/s'), resolve));
    await scan();
    expect(filesKnown(device, nodeId).registry).toEqual({});
    expect(failedPaths().toSorted()).toEqual(['wip/file.md', 'wip/link', 'wip/pipe', 'wip/s']);
    await scannerOf(device).reconcile(nodeId, ['wip/link/secret.md', 'wip/pipe', 'wip/s']);
    expect(filesKnown(device, nodeId).registry).toEqual({});
    await new Promise((resolve) => server.close(resolve));
  });

  it('counts nothing behind a link as deleted, and takes nothing in from there', async () => {
    await put('wip/d/a.md');
    await scan();
    const before = ids('wip/d/a.md');
    await rename(at('wip/d'), at('moved'));
    await symlink(at('moved'), at('wip/d'));
    await put('moved/b.md');
    const outcome = await scan();
    expect([ids('wip/d/a.md', 'wip/d/b.md'), outcome.again.size]).toEqual([[...before, undefined], 0]);
    expect(failedPaths()).toEqual(['wip/d']);
    await unlink(at('wip/d'));
    await scan();
    expect(filesKnown(device, nodeId).registry).toEqual({});
  });

  it('ignores what .svcignore tells, follows its changes and keeps what is tracked [files.ignore.svcignore]', async () => {
    await put('wip/.svcignore', '*.log\nbuild/\n');
    await put('wip/a.log');
    await put('wip/build/b.md');
    await put('wip/c.md');
    await scan();
    expect(Object.keys(filesKnown(device, nodeId).registry)).toEqual(['wip/c.md']);
    await put('wip/.svcignore', '*.md\n');
    await scan();
    expect(Object.keys(filesKnown(device, nodeId).registry)).toEqual(['wip/a.log', 'wip/c.md']);
    await put('wip/c.md', 'edited');
    await scan();
    expect(device.records.recordAt(nodeId, 'wip/c.md')).toMatchObject({ size_bytes: 6 });
    await unlink(at('wip/c.md'));
    await scan();
    expect(Object.keys(filesKnown(device, nodeId).registry)).toEqual(['wip/a.log']);
  });

  it('takes nothing for deleted before the first scan has ended, and in a folder that is away', async () => {
    await put('wip/a.md');
    await put('wip/b.md');
    await scan();
    const mirror = device.parts.store.mirror(nodeId);
    if (!mirror) throw new Error('it is registered');
    device.parts.store.putMirror({ ...mirror, scannedAt: null });
    await rename(at('wip/b.md'), at('b.md'));
    await scan();
    expect(device.parts.store.countFiles(nodeId)).toEqual({ present: 2, deleted: 0 });
    await rename(root, `${root}-away`);
    expect(await scan()).toMatchObject({ state: 'missing' });
    expect(failures()).toMatchObject([{ path: '' }]);
    await mkdir(at('wip'), { recursive: true });
    expect(await scan()).toMatchObject({ state: 'missing' });
    expect(device.parts.store.countFiles(nodeId)).toEqual({ present: 2, deleted: 0 });
    await rm(root, { recursive: true });
    await rename(`${root}-away`, root);
    await rename(at('b.md'), at('wip/b.md'));
    expect(await scan()).toMatchObject({ state: 'ready' });
    expect(failures()).toEqual([]);
    await agrees();
  });

  it('finds files whose registration nobody answered, and those that left the disk meanwhile', async () => {
    await put('wip/a.md');
    await put('wip/b.md');
    device.records.failures.set('apply_file_changes', new ServiceError('SERVICE_UNAVAILABLE', 'The records are away.'));
    expect(await scan()).toMatchObject({ isIncomplete: true });
    expect(failures()).toMatchObject([{ message: 'The records are away.' }, { message: 'The records are away.' }]);
    device.records.failures.clear();
    device.records.lostReplies.add('apply_file_changes');
    expect(await scan()).toMatchObject({ isIncomplete: true });
    device.records.lostReplies.clear();
    expect(device.records.recordsOf(nodeId)).toHaveLength(2);
    await unlink(at('wip/b.md'));
    await scan();
    await agrees();
    expect(failures()).toEqual([]);
  });
});

describe('a file whose place was left out of scans', () => {
  it('is looked at as long as it is tracked: the process may have ended before its record went', async () => {
    await put('wip/a.md');
    await scan();
    device.parts.store.putUntracked(nodeId, 'wip/a.md');
    await put('wip/a.md', 'another text');
    await scan();
    await agrees();
  });

  it('is looked at when it was moved there', async () => {
    await put('wip/a.md');
    await put('wip/b.md');
    await scan();
    const [a, b] = ids('wip/a.md', 'wip/b.md');
    await device.call(deleteFile, { file_id: a ?? '', mode: 'unregister_only', confirmed: true });
    await unlink(at('wip/a.md'));
    await device.call(moveFile, { file_id: b ?? '', new_filename: 'a.md', confirmed: true });
    await put('wip/a.md', 'another text');
    await scan();
    await agrees();
    expect(ids('wip/a.md')).toEqual([b]);
  });
});
