import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { link, mkdir, mkdtemp, writeFile as put, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  adoptFiles,
  createFile,
  deleteFile,
  type FileIntent,
  listTrash,
  moveFile,
  renameFolder,
  ServiceError,
  type TrackedFile,
} from '@workspace-graph/contracts';
import { pathKey } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import { SmallDisk } from '@workspace-graph/testing';
import { scannerOf } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { IntentRepair } from './intent-repair.js';

let device: DeviceFixture;
let alpha: { nodeId: string; path: string };
let beta: { nodeId: string; path: string };
beforeEach(async () => {
  device = await startDevice();
  alpha = await device.mirror('Alpha');
  beta = await device.mirror('Beta');
});
afterEach(() => device.close());

/** Where this test run may mount one. */
const onSmallDisk = SmallDisk.available() ? it : it.skip;
const DOWN = new ServiceError('SERVICE_UNAVAILABLE', 'The file service is down.');
const sha = (content: string) => createHash('sha256').update(content).digest('hex');
const create = (filename: string, more: Record<string, unknown> = {}) =>
  device.call(createFile, { node_id: alpha.nodeId, filename, content: `content of ${filename}`, ...more });
const filesIn = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).toSorted();
};
const foldersIn = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return folders.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).toSorted();
};
const recordPaths = (nodeId: string) =>
  device.records
    .recordsOf(nodeId)
    .map(({ path }) => path)
    .toSorted();
/** Disk, records and registry tell the same of a node. */
async function expectAgreement({ nodeId, path }: { nodeId: string; path: string }, files: string[]): Promise<void> {
  expect(await filesIn(path)).toEqual(files);
  expect(recordPaths(nodeId)).toEqual(files);
  expect([...device.parts.store.filesOf(nodeId)].map((file) => file.path)).toEqual(files);
}

describe('moving a file', () => {
  it('answers first what would happen, and does it when it is confirmed [files.move.tool]', async () => {
    const file = await create('a.md', { subpath: 'old/deep' });
    const input = { file_id: file.id, new_section: 'outputs' as const, new_subpath: 'final', new_filename: 'b.md' };
    const to = { node_id: alpha.nodeId, path: 'outputs/final/b.md' };
    expect(await device.call(moveFile, input)).toMatchObject({
      applied: false,
      to,
      file: null,
      already_at_target: false,
    });
    await expectAgreement(alpha, ['wip/old/deep/a.md']);
    const done = await device.call(moveFile, { ...input, confirmed: true });
    expect(done).toMatchObject({
      applied: true,
      to,
      repair_needed: false,
      hint: null,
      file: { id: file.id, status: 'output' },
    });
    await expectAgreement(alpha, ['outputs/final/b.md']);
    expect(await foldersIn(alpha.path)).toEqual(['outputs', 'outputs/final', 'resources', 'wip']);
    expect(device.records.intents.size).toBe(0);
    const again = await device.call(moveFile, { ...input, confirmed: true });
    expect(again).toMatchObject({ applied: true, already_at_target: true, file: { version: done.file?.version } });
  });

  it('clears the subfolders with null and keeps them without a word [files.move.subpath-null-clears]', async () => {
    const file = await create('a.md', { subpath: 'deep' });
    const move = (more: object) => device.call(moveFile, { file_id: file.id, confirmed: true, ...more });
    expect((await move({ new_section: 'resources' })).to.path).toBe('resources/deep/a.md');
    expect((await move({ new_subpath: null })).to.path).toBe('resources/a.md');
  });

  it('keeps the file the same one, to another node too, for those who may write on both', async () => {
    const file = await create('a.md');
    const { ino } = await stat(join(alpha.path, 'wip/a.md'));
    const user = device.caller('write');
    const hidden = device.records.node({ name: 'Hidden', seenBy: new Set() });
    const move = { file_id: file.id, confirmed: true };
    await device.refusal(moveFile, { ...move, new_node_id: hidden }, 'NODE_NOT_FOUND', user);
    await device.refusal(moveFile, { ...move, new_node_id: hidden }, 'NO_MIRROR');
    await device.refusal(moveFile, { ...move, node_id: beta.nodeId }, 'FILE_NOT_FOUND');
    const done = await device.call(moveFile, { ...move, new_node_id: beta.nodeId }, user);
    expect(done.file).toMatchObject({ id: file.id, node_id: beta.nodeId, node_name: 'Beta', sha256: file.sha256 });
    expect((await stat(join(beta.path, 'wip/a.md'))).ino).toBe(ino);
    await expectAgreement(alpha, []);
    await expectAgreement(beta, ['wip/a.md']);
  });

  it('never overwrites, whatever lies at the target and under whatever case [files.move.destination-refused] [errors.destination-exists]', async () => {
    const file = await create('a.md');
    await create('tracked.md');
    await put(join(alpha.path, 'wip/untracked.md'), 'untracked');
    for (const new_filename of ['tracked.md', 'TRACKED.md', 'untracked.md', 'Untracked.MD'])
      for (const confirmed of [false, true])
        await device.refusal(moveFile, { file_id: file.id, new_filename, confirmed }, 'DESTINATION_EXISTS');
    expect(await readFile(join(alpha.path, 'wip/untracked.md'), 'utf8')).toBe('untracked');
    expect(await filesIn(alpha.path)).toEqual(['wip/a.md', 'wip/tracked.md', 'wip/untracked.md']);
    expect(device.records.intents.size).toBe(0);
  });

  it('changes the case of a name alone', async () => {
    const file = await create('readme.md');
    const done = await device.call(moveFile, { file_id: file.id, new_filename: 'README.md', confirmed: true });
    expect(done.file).toMatchObject({ id: file.id, path: 'wip/README.md' });
    await expectAgreement(alpha, ['wip/README.md']);
  });

  it('is refused when it builds on an older version, or on other content [files.record.version]', async () => {
    const file = await create('a.md');
    const move = { file_id: file.id, new_filename: 'b.md', confirmed: true };
    await device.refusal(moveFile, { ...move, expected_version: 7 }, 'CONFLICT');
    await put(join(alpha.path, 'wip/a.md'), 'edited');
    await device.refusal(moveFile, { ...move, expected_version: 1 }, 'CONFLICT');
    const done = await device.call(moveFile, move);
    expect(done.file).toMatchObject({ path: 'wip/b.md', sha256: sha('edited') });
    expect(device.parts.store.file(file.id)?.sha256).toBe(sha('edited'));
  });

  it('knows a file that was moved by hand before', async () => {
    const file = await create('a.md');
    await rename(join(alpha.path, 'wip/a.md'), join(alpha.path, 'outputs/a.md'));
    const done = await device.call(moveFile, { file_id: file.id, new_section: 'outputs', confirmed: true });
    expect(done).toMatchObject({ applied: true, already_at_target: true, file: { id: file.id } });
    await expectAgreement(alpha, ['outputs/a.md']);
  });

  it('copies, verifies and takes aside to another volume', async () => {
    const other = await mkdtemp('/dev/shm/svc-mirror-');
    try {
      await mkdir(join(other, 'wip'));
      const { dev, ino } = await stat(other, { bigint: true });
      const row = device.parts.store.mirror(beta.nodeId);
      if (!row) throw new Error('it was registered');
      device.parts.store.putMirror({ ...row, path: other, identity: `${dev}:${ino}` });
      const file = await create('a.md');
      const before = await stat(join(alpha.path, 'wip/a.md'));
      const done = await device.call(moveFile, { file_id: file.id, new_node_id: beta.nodeId, confirmed: true });
      expect(done.file).toMatchObject({ id: file.id, local_path: join(other, 'wip/a.md') });
      const after = await stat(join(other, 'wip/a.md'));
      expect([after.size, Math.round(after.mtimeMs), after.mode]).toEqual([
        before.size,
        Math.round(before.mtimeMs),
        before.mode,
      ]);
      // A program that has it open may save into it for a day.
      expect(await filesIn(alpha.path)).toEqual([]);
      expect(await readdir(join(device.root, '.svc/aside'))).toHaveLength(1);
    } finally {
      await rm(other, { recursive: true });
    }
  });

  it('is taken back when the records cannot be changed', async () => {
    const file = await create('a.md', { subpath: 'deep' });
    device.records.failures.set('apply_file_changes', DOWN);
    const move = { file_id: file.id, new_node_id: beta.nodeId, new_subpath: 'new', confirmed: true };
    await device.refusal(moveFile, move, 'SERVICE_UNAVAILABLE');
    await expectAgreement(alpha, ['wip/deep/a.md']);
    expect(await foldersIn(beta.path)).toEqual(['outputs', 'resources', 'wip']);
    device.records.failures.clear();
    expect((await device.call(moveFile, move)).file).toMatchObject({ id: file.id, path: 'wip/new/a.md' });
  });

  it('keeps its intent when it can neither be done nor taken back, and is repaired [files.move.repair-needed]', async () => {
    const file = await create('a.md');
    // The way back is taken by another file at the moment at which the records refuse.
    const fail = (name: string) => {
      if (name !== 'apply_file_changes') return undefined;
      writeFileSync(join(alpha.path, 'wip/a.md'), 'another');
      return DOWN;
    };
    Object.assign(device.records, { failures: { get: fail } });
    const done = await device.call(moveFile, { file_id: file.id, new_node_id: beta.nodeId, confirmed: true });
    expect(done).toMatchObject({ applied: false, repair_needed: true, hint: expect.stringContaining('is down') });
    const [intent] = device.records.intents.values();
    expect(intent).toMatchObject({ file_id: file.id, attempts: 1, last_error: DOWN.message });
    Object.assign(device.records, { failures: new Map() });
    await unlink(join(alpha.path, 'wip/a.md'));
    device = await device.restart();
    await device.module.get(IntentRepair).looked;
    expect(device.records.intents.size).toBe(0);
    await expectAgreement(alpha, []);
    await expectAgreement(beta, ['wip/a.md']);
    expect(device.records.records.get(file.id)?.node_id).toBe(beta.nodeId);
  });
});

describe('what was cut off', () => {
  let file: TrackedFile;
  const source = () => join(alpha.path, 'wip/a.md');
  const target = () => join(beta.path, 'wip/a.md');
  const note = (kind: FileIntent['kind']) => {
    const move = { to_node_id: beta.nodeId, to_path: 'wip/a.md' };
    const intent: FileIntent = {
      id: newId(),
      file_id: file.id,
      node_id: alpha.nodeId,
      kind,
      from_path: 'wip/a.md',
      ...(kind === 'move' ? move : { to_node_id: null, to_path: null }),
      sha256: file.sha256,
      last_error: null,
      attempts: 0,
      created_at: new Date().toISOString(),
    };
    device.records.intents.set(intent.id, intent);
  };
  const moveRecord = () => {
    const record = device.records.records.get(file.id);
    if (record) device.records.records.set(file.id, { ...record, node_id: beta.nodeId, version: record.version + 1 });
  };
  const started = async () => {
    device = await device.restart();
    await device.module.get(IntentRepair).looked;
    expect(device.records.intents.size).toBe(0);
  };
  beforeEach(async () => {
    file = await create('a.md');
  });

  const cases: readonly [name: string, cut: () => Promise<void>, moved: boolean][] = [
    ['before the first step of a move is forgotten', () => Promise.resolve(), false],
    ['between the new name of a file and the end of the old one is finished', () => link(source(), target()), true],
    ['between the disk and the records is finished', () => rename(source(), target()), true],
    [
      'between the records and the registry is finished',
      async () => {
        await rename(source(), target());
        moveRecord();
      },
      true,
    ],
    ['after records that were thought to have failed is finished on the disk', async () => moveRecord(), true],
  ];
  for (const [name, cut, moved] of cases)
    it(name, async () => {
      note('move');
      await cut();
      await started();
      await expectAgreement(alpha, moved ? [] : ['wip/a.md']);
      await expectAgreement(beta, moved ? ['wip/a.md'] : []);
      expect(device.records.records.get(file.id)?.node_id).toBe(moved ? beta.nodeId : alpha.nodeId);
    });

  it('never costs the file of somebody else at the target', async () => {
    note('move');
    await put(target(), 'content of a.md');
    await started();
    expect([await filesIn(alpha.path), await filesIn(beta.path)]).toEqual([['wip/a.md'], ['wip/a.md']]);
    expect(device.records.records.get(file.id)?.node_id).toBe(alpha.nodeId);
  });

  onSmallDisk('never costs a file on a disk that is mounted within the folder', async () => {
    const mounted = [alpha, beta].map(({ path }) => join(path, 'wip'));
    for (const folder of mounted) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
    try {
      await put(source(), 'content of a.md');
      await scannerOf(device).reconcile(alpha.nodeId, 'all');
      expect([...device.parts.store.filesOf(alpha.nodeId)]).toMatchObject([{ fileId: file.id, inode: null }]);
      note('move');
      await put(target(), 'of somebody else');
      await started();
      expect([await readFile(source(), 'utf8'), await readFile(target(), 'utf8')]).toEqual([
        'content of a.md',
        'of somebody else',
      ]);
      expect(device.records.records.get(file.id)?.node_id).toBe(alpha.nodeId);
    } finally {
      for (const folder of mounted) execFileSync('umount', [folder]);
    }
  });

  it('by a deletion is forgotten while the copy is there, and finished when it is gone', async () => {
    note('delete');
    await started();
    await expectAgreement(alpha, ['wip/a.md']);
    const { trash_id } = await device.call(deleteFile, { file_id: file.id, confirmed: true });
    expect(trash_id).not.toBeNull();
    // The record is back, as if the process had ended right before it was removed.
    const { node_name, node_type, section, subpath, filename, status, remote_path, local_path, ...record } = file;
    device.records.records.set(file.id, record);
    note('delete');
    await started();
    await expectAgreement(alpha, []);
    expect((await device.call(listTrash, {})).items.map(({ id }) => id)).toEqual([trash_id]);
  });
});

describe('renaming a folder', () => {
  const input = (old_prefix: string, new_prefix: string, more: object = {}) => ({
    node_id: alpha.nodeId,
    old_prefix,
    new_prefix,
    ...more,
  });

  it('changes nothing unless it is told to, and then every file under the prefix and no other [files.rename-folder.dry-run-default] [files.rename-folder.prefix]', async () => {
    const ids = new Map<string, string>();
    for (const [filename, subpath] of [
      ['1.md', 'a'],
      ['2.md', 'a/b'],
      ['3.md', 'ab'],
      ['a', null],
    ] as const)
      ids.set(filename, (await create(filename === 'a' ? 'a.md' : filename, { subpath })).id);
    const before = ['wip/a.md', 'wip/a/1.md', 'wip/a/b/2.md', 'wip/ab/3.md'];
    const preview = await device.call(renameFolder, input('wip/a', 'outputs/z'));
    expect(preview).toMatchObject({ applied: false, remaining: 2 });
    expect(preview.renamed.map(({ from, to }) => [from, to])).toEqual([
      ['wip/a/1.md', 'outputs/z/1.md'],
      ['wip/a/b/2.md', 'outputs/z/b/2.md'],
    ]);
    await expectAgreement(alpha, before);
    const done = await device.call(renameFolder, input('wip/a', 'outputs/z', { dry_run: false }));
    expect(done).toMatchObject({ applied: true, remaining: 0, repair_needed: false });
    await expectAgreement(alpha, ['outputs/z/1.md', 'outputs/z/b/2.md', 'wip/a.md', 'wip/ab/3.md']);
    expect(device.records.recordAt(alpha.nodeId, 'outputs/z/b/2.md')?.id).toBe(ids.get('2.md'));
    expect(await foldersIn(alpha.path)).toEqual(['outputs', 'outputs/z', 'outputs/z/b', 'resources', 'wip', 'wip/ab']);
    expect(await device.call(renameFolder, input('wip/a', 'outputs/z', { dry_run: false }))).toMatchObject({
      applied: true,
      renamed: [],
      remaining: 0,
    });
  });

  it('goes by the limit, tells what remains, and ends when it is repeated [files.rename-folder.remaining] [limits.rename-folder-20]', async () => {
    for (let index = 0; index < 25; index += 1) await create(`${index}.md`, { subpath: 'old' });
    const call = (more: object = {}) =>
      device.call(renameFolder, input('wip/old', 'wip/new', { dry_run: false, ...more }));
    expect(await call()).toMatchObject({ remaining: 5, renamed: { length: 20 } });
    expect(await call({ limit: 3 })).toMatchObject({ remaining: 2, renamed: { length: 3 } });
    expect(await call()).toMatchObject({ remaining: 0, renamed: { length: 2 } });
    expect(await foldersIn(alpha.path)).toEqual(['outputs', 'resources', 'wip', 'wip/new']);
    expect(device.records.recordsOf(alpha.nodeId)).toHaveLength(25);
  });

  it('leaves files where they are whose new place is taken, and moves those behind them', async () => {
    await create('1.md', { subpath: 'old' });
    await create('2.md', { subpath: 'old' });
    await create('1.md', { subpath: 'new', content: 'other' });
    const done = await device.call(renameFolder, input('wip/old', 'wip/new', { dry_run: false, limit: 1 }));
    expect(done.renamed).toMatchObject([
      { to: 'wip/new/1.md', problem: expect.stringContaining('wip/new/1.md') },
      { to: 'wip/new/2.md', problem: null },
    ]);
    expect(done.remaining).toBe(1);
    await expectAgreement(alpha, ['wip/new/1.md', 'wip/new/2.md', 'wip/old/1.md']);
  });

  it('finds a file at its target that was moved by hand [files.rename-folder.already-at-target]', async () => {
    const file = await create('1.md', { subpath: 'old' });
    await rename(join(alpha.path, 'wip/old'), join(alpha.path, 'wip/new'));
    const done = await device.call(renameFolder, input('wip/old', 'wip/new', { dry_run: false }));
    expect(done.renamed).toMatchObject([{ file_id: file.id, already_at_target: true, problem: null }]);
    await expectAgreement(alpha, ['wip/new/1.md']);
  });

  it('lifts a folder out of another one, changes case alone, and refuses to go into itself', async () => {
    await create('1.md', { subpath: 'a/b' });
    await device.refusal(renameFolder, input('wip/a', 'wip/a/c'), 'VALIDATION_FAILED');
    await device.refusal(renameFolder, input('wip/a', 'wip/a'), 'VALIDATION_FAILED');
    await device.refusal(renameFolder, input('wip', 'outputs'), 'VALIDATION_FAILED');
    await device.refusal(renameFolder, input('wip/none', 'wip/new'), 'FILE_NOT_FOUND');
    await device.call(renameFolder, input('wip/a/b', 'wip/a', { dry_run: false }));
    await expectAgreement(alpha, ['wip/a/1.md']);
    await device.call(renameFolder, input('wip/a', 'wip/A', { dry_run: false }));
    await expectAgreement(alpha, ['wip/A/1.md']);
    await put(join(alpha.path, 'wip/file'), '');
    await device.refusal(renameFolder, input('wip/A', 'wip/file'), 'DESTINATION_EXISTS');
  });

  it('is taken back as a whole when the records cannot be changed', async () => {
    for (const name of ['1.md', '2.md', '3.md']) await create(name, { subpath: 'old' });
    device.records.failures.set('apply_file_changes', DOWN);
    await device.refusal(renameFolder, input('wip/old', 'wip/new', { dry_run: false }), 'SERVICE_UNAVAILABLE');
    await expectAgreement(alpha, ['wip/old/1.md', 'wip/old/2.md', 'wip/old/3.md']);
    expect(await foldersIn(alpha.path)).toEqual(['outputs', 'resources', 'wip', 'wip/old']);
    expect(device.records.intents.size).toBe(0);
  });

  it('touches no key of the node [files.rename-folder.keeps-sync-key]', async () => {
    await create('1.md', { subpath: 'alpha' });
    await device.call(renameFolder, input('wip/alpha', 'wip/omega', { dry_run: false }));
    expect(device.records.nodes.get(alpha.nodeId)?.sync_key).toBe('alpha');
    expect(device.parts.store.mirror(alpha.nodeId)?.path).toBe(alpha.path);
  });
});

describe('deleting a file', () => {
  it('answers first what would go, then removes record and copy, which can be restored [files.delete.preview-first] [files.delete.everywhere] [files.delete.modes]', async () => {
    const file = await create('a.md', { subpath: 'deep' });
    const preview = await device.call(deleteFile, { file_id: file.id });
    expect(preview).toMatchObject({
      applied: false,
      removes: ['record', 'local_copy'],
      trash_id: null,
      file: { id: file.id },
    });
    await expectAgreement(alpha, ['wip/deep/a.md']);
    const done = await device.call(deleteFile, { file_id: file.id, confirmed: true });
    expect(done).toMatchObject({ applied: true, removes: ['record', 'local_copy'], repair_needed: false });
    await expectAgreement(alpha, []);
    expect(await foldersIn(alpha.path)).toEqual(['outputs', 'resources', 'wip']);
    expect(device.records.tombstones).toMatchObject([{ file_id: file.id, path: 'wip/deep/a.md' }]);
    expect((await device.call(listTrash, {})).items).toMatchObject([
      { id: done.trash_id, sha256: file.sha256, reason: 'deleted' },
    ]);
    await device.refusal(deleteFile, { file_id: file.id, confirmed: true }, 'FILE_NOT_FOUND');
  });

  it('drops the record alone, and the copy stays untracked until it is adopted', async () => {
    const file = await create('a.md');
    const asked = { file_id: file.id, mode: 'unregister_only' as const };
    expect(await device.call(deleteFile, asked)).toMatchObject({ applied: false, removes: ['record'] });
    expect(await device.call(deleteFile, { ...asked, confirmed: true })).toMatchObject({
      applied: true,
      trash_id: null,
    });
    expect([await filesIn(alpha.path), recordPaths(alpha.nodeId)]).toEqual([['wip/a.md'], []]);
    expect(device.parts.store.isUntracked(alpha.nodeId, pathKey('wip/a.md'))).toBe(true);
    expect(device.records.tombstones).toEqual([]);
    const adopted = await device.call(adoptFiles, { node_id: alpha.nodeId, paths: ['wip/a.md'] });
    expect(adopted).toMatchObject({ files: [{ path: 'wip/a.md', sha256: file.sha256 }], skipped: [] });
    expect(device.parts.store.isUntracked(alpha.nodeId, pathKey('wip/a.md'))).toBe(false);
    await expectAgreement(alpha, ['wip/a.md']);
  });

  it('is taken back when the record cannot be removed', async () => {
    const file = await create('a.md');
    device.records.failures.set('apply_file_changes', DOWN);
    for (const mode of ['complete', 'unregister_only'] as const)
      await device.refusal(deleteFile, { file_id: file.id, mode, confirmed: true }, 'SERVICE_UNAVAILABLE');
    device.records.failures.clear();
    await expectAgreement(alpha, ['wip/a.md']);
    expect((await device.call(listTrash, {})).items).toEqual([]);
    expect(device.parts.store.isUntracked(alpha.nodeId, pathKey('wip/a.md'))).toBe(false);
    expect(device.records.intents.size).toBe(0);
  });

  it('is refused to readers, for files of other nodes, on older versions and on edited content [errors.file-not-found]', async () => {
    const reader = device.caller('write');
    const file = await create('a.md');
    const node = device.records.nodes.get(alpha.nodeId);
    if (node) device.records.nodes.set(alpha.nodeId, { ...node, writtenBy: new Set() });
    const asked = { file_id: file.id, confirmed: true };
    await device.refusal(deleteFile, asked, 'FORBIDDEN', reader);
    await device.refusal(deleteFile, { ...asked, node_id: beta.nodeId }, 'FILE_NOT_FOUND');
    await device.refusal(deleteFile, { ...asked, file_id: newId() }, 'FILE_NOT_FOUND');
    await device.refusal(deleteFile, { ...asked, expected_version: 2 }, 'CONFLICT');
    await put(join(alpha.path, 'wip/a.md'), 'edited');
    await device.refusal(deleteFile, { ...asked, expected_version: 1 }, 'CONFLICT');
    expect(await filesIn(alpha.path)).toEqual(['wip/a.md']);
  });
});

describe('adopting files', () => {
  it('tracks what lies there, leaves the rest with reasons, and changes nothing the second time', async () => {
    await mkdir(join(alpha.path, 'outputs/deep'));
    await put(join(alpha.path, 'outputs/deep/a.md'), 'a');
    await put(join(alpha.path, 'wip/b.md'), 'b');
    await put(join(alpha.path, 'wip/.hidden'), 'c');
    const paths = ['deep/a.md', 'wip/b.md', 'wip/none.md', 'wip/.hidden', '../x', 'outputs/deep', 'outputs/deep/A.md'];
    const ask = () => device.call(adoptFiles, { node_id: alpha.nodeId, paths, status: 'output' as const });
    const first = await ask();
    expect(first.files.map(({ path }) => path).toSorted()).toEqual(['outputs/deep/a.md', 'wip/b.md']);
    expect(first.skipped.map(({ path }) => path)).toEqual(paths.slice(2));
    const second = await ask();
    expect(second.files).toEqual([]);
    expect(second.skipped.map(({ reason }) => reason).slice(0, 2)).toEqual([
      'is already tracked',
      'is already tracked',
    ]);
  });
});
