import { createHash } from 'node:crypto';
import { chmod, mkdir, writeFile as put, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, listTrash, restoreTrash, ServiceError, writeFile } from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { FileChanges } from './file-changes.js';

let device: DeviceFixture;
let nodeId: string;
let folder: string;
beforeEach(async () => {
  device = await startDevice();
  ({ nodeId, path: folder } = await device.mirror('Alpha'));
});
afterEach(() => device.close());

const sha = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const create = (filename: string, more: Record<string, unknown> = {}) =>
  device.call(createFile, { node_id: nodeId, filename, ...more });
const names = async () => (await readdir(folder, { recursive: true })).toSorted();

describe('creating a file', () => {
  it('writes, syncs and registers it at once, with the fields of its record [files.record.fields] [files.hash.sha256]', async () => {
    const file = await create('Plan.md', { subpath: 'notes/2026', content: 'žluťoučký\n' });
    expect(file).toMatchObject({
      node_id: nodeId,
      node_name: 'Alpha',
      path: 'wip/notes/2026/Plan.md',
      section: 'wip',
      subpath: 'notes/2026',
      filename: 'Plan.md',
      status: 'wip',
      sha256: sha('žluťoučký\n'),
      mime_type: 'text/markdown',
      local_path: join(folder, 'wip/notes/2026/Plan.md'),
      version: 1,
    });
    expect(await readFile(join(folder, 'wip/notes/2026/Plan.md'), 'utf8')).toBe('žluťoučký\n');
    const state = device.parts.store.file(file.id);
    const found = await stat(join(folder, 'wip/notes/2026/Plan.md'), { bigint: true });
    expect([state?.stamp, state?.inode]).toEqual([`${found.size}:${found.mtimeNs}:${found.ctimeNs}`, `${found.ino}`]);
    expect((await create('x.bin', { section: 'outputs', content: 'AP8=', encoding: 'base64' })).sha256).toBe(
      sha(Buffer.from([0, 255])),
    );
  });

  it('overwrites nothing, under no case and no form of the name [files.path.case-collision-reported]', async () => {
    await put(join(folder, 'wip/untracked.md'), 'mine');
    await create('Č.md');
    for (const filename of ['untracked.md', 'UNTRACKED.md', 'Č.md', 'č.md', 'Č.md'.normalize('NFD')])
      await device.refusal(createFile, { node_id: nodeId, filename, content: 'x' }, 'DESTINATION_EXISTS');
    await create('b.md', { subpath: 'Notes' });
    await device.refusal(createFile, { node_id: nodeId, filename: 'c.md', subpath: 'notes' }, 'DESTINATION_EXISTS');
    expect(await readFile(join(folder, 'wip/untracked.md'), 'utf8')).toBe('mine');
    expect(await names()).toEqual(
      ['outputs', 'resources', 'wip', 'wip/Notes', 'wip/Notes/b.md', 'wip/untracked.md', 'wip/Č.md'].toSorted(),
    );
  });

  it('refuses names that a node cannot hold [files.path.segments-refused]', async () => {
    const bad = [
      '..',
      '.',
      'a/b',
      'a\\b',
      'a\0b',
      'a\nb',
      'x'.repeat(256),
      'con',
      'a:b',
      'end.',
      '.hidden',
      'a.tmp',
      'Thumbs.db',
      '.svc-x',
    ];
    for (const filename of bad) await device.refusal(createFile, { node_id: nodeId, filename }, 'VALIDATION_FAILED');
    for (const subpath of ['../x', '/x', 'a//b', 'a/', 'a/../b', '.git', 'nul'])
      await device.refusal(createFile, { node_id: nodeId, filename: 'a.md', subpath }, 'VALIDATION_FAILED');
    await device.refusal(
      createFile,
      { node_id: nodeId, filename: 'a.md', content: '*', encoding: 'base64' },
      'VALIDATION_FAILED',
    );
    expect(await names()).toEqual(['outputs', 'resources', 'wip']);
  });

  it('keeps the path in NFC and finds folders whose names lie there in another form [files.path.nfc]', async () => {
    await mkdir(join(folder, 'wip', 'Čaj'.normalize('NFD')));
    const file = await create('Žák.md'.normalize('NFD'), { subpath: 'Čaj'.normalize('NFC') });
    expect(file.path).toBe('wip/Čaj/Žák.md'.normalize('NFC'));
    expect(await readdir(join(folder, 'wip', 'Čaj'.normalize('NFD')))).toEqual(['Žák.md'.normalize('NFC')]);
  });

  it('follows no symbolic link [files.path.symlinks-not-followed]', async () => {
    const outside = join(device.root, 'outside');
    await mkdir(outside);
    await symlink(outside, join(folder, 'wip/link'));
    await symlink(join(outside, 'new.md'), join(folder, 'wip/dangling.md'));
    await device.refusal(createFile, { node_id: nodeId, filename: 'a.md', subpath: 'link' }, 'VALIDATION_FAILED');
    await device.refusal(createFile, { node_id: nodeId, filename: 'dangling.md' }, 'VALIDATION_FAILED');
    expect(await readdir(outside)).toEqual([]);
  });

  it('leaves nothing of a stream that breaks off, is too large or another than was told, or whose record is refused', async () => {
    const changes = device.module.get(FileChanges);
    const envelope = { callId: 'c', requestId: 'r', caller: device.caller() };
    const target = { nodeId, path: 'wip/deep/er/a.md' };
    async function* broken() {
      yield Buffer.from('half');
      throw new Error('the line is dead');
    }
    await expect(changes.createFrom(target, broken(), { envelope, action: 'upload' })).rejects.toThrow(
      'the line is dead',
    );
    const limited = changes.createFrom(target, three(), { envelope, action: 'upload', maxBytes: 10 });
    await expect(limited).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE', details: { limit_bytes: 10 } });
    const other = changes.createFrom(target, three(), { envelope, action: 'pull_file', sha256: sha('another one') });
    await expect(other).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { path: target.path } });
    device.records.failures.set('apply_file_changes', new ServiceError('SERVICE_UNAVAILABLE', 'down'));
    await expect(changes.createFrom(target, three(), { envelope, action: 'upload' })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect(await names()).toEqual(['outputs', 'resources', 'wip']);
  });

  it('is for those who may write on the node; a hidden node is absent [errors.no-mirror]', async () => {
    const [reader, stranger] = [device.caller('write'), device.caller('write')];
    const hidden = device.records.node({ name: 'Hidden', seenBy: new Set([reader.user_id]), writtenBy: new Set() });
    const input = { node_id: hidden, filename: 'a.md' };
    await device.refusal(createFile, input, 'FORBIDDEN', reader);
    await device.refusal(createFile, input, 'NODE_NOT_FOUND', stranger);
    await device.refusal(createFile, input, 'NO_MIRROR');
  });
});

describe('replacing the text of a file', () => {
  const write = (path: string, content: string, expected: string) => ({
    node_id: nodeId,
    path,
    content,
    expected_sha256: expected,
  });

  it('replaces it at once, keeps its mode, and what was there can be restored [files.write.atomic]', async () => {
    const file = await create('a.md', { content: 'old' });
    await chmod(join(folder, 'wip/a.md'), 0o640);
    const written = await device.call(writeFile, write('wip/a.md', 'new', sha('old')));
    expect(written).toMatchObject({ id: file.id, sha256: sha('new'), version: 2 });
    expect(await readFile(join(folder, 'wip/a.md'), 'utf8')).toBe('new');
    expect((await stat(join(folder, 'wip/a.md'))).mode & 0o777).toBe(0o640);
    const { items } = await device.call(listTrash, {});
    expect(items).toMatchObject([
      { reason: 'replaced', path: 'wip/a.md', sha256: sha('old'), file_id: file.id, bytes: 3 },
    ]);
    const trash_id = items[0]?.id ?? '';
    await device.refusal(restoreTrash, { trash_id }, 'DESTINATION_EXISTS');
    const restored = await device.call(restoreTrash, { trash_id, path: 'wip/a.old.md' });
    expect([restored.sha256, restored.path]).toEqual([sha('old'), 'wip/a.old.md']);
    expect((await device.call(listTrash, {})).items).toEqual([]);
  });

  it('changes nothing when the disk holds something else by now [files.record.version]', async () => {
    await create('a.md', { content: 'old' });
    await put(join(folder, 'wip/a.md'), 'edited');
    const error = await device.refusal(writeFile, write('wip/a.md', 'new', sha('old')), 'CONFLICT');
    expect(error.details).toEqual({ current: { sha256: sha('edited'), version: 1, size_bytes: 6 } });
    expect(await readFile(join(folder, 'wip/a.md'), 'utf8')).toBe('edited');
    expect((await device.call(listTrash, {})).items).toEqual([]);
  });

  it('lets one of many writers of the same content win', async () => {
    await create('a.md', { content: 'old' });
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => device.call(writeFile, write('wip/a.md', `by ${index}`, sha('old')))),
    );
    const won = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value.sha256] : []));
    expect(won).toEqual([sha(await readFile(join(folder, 'wip/a.md')))]);
    expect((await device.call(listTrash, {})).items).toHaveLength(1);
  });

  it('refuses what is no text, before and after [errors.not-editable]', async () => {
    await put(join(folder, 'wip/image.png'), Buffer.from([0x89, 0x50, 0, 0xff]));
    await put(join(folder, 'wip/latin.txt'), Buffer.from([0x70, 0xf8, 0xed]));
    await put(join(folder, 'wip/a.txt'), 'text');
    await device.refusal(
      writeFile,
      write('wip/image.png', 'x', sha(Buffer.from([0x89, 0x50, 0, 0xff]))),
      'NOT_EDITABLE',
    );
    await device.refusal(writeFile, write('wip/latin.txt', 'x', sha(Buffer.from([0x70, 0xf8, 0xed]))), 'NOT_EDITABLE');
    await device.refusal(writeFile, write('wip/a.txt', 'a\0b', sha('text')), 'NOT_EDITABLE');
    expect(await readFile(join(folder, 'wip/a.txt'), 'utf8')).toBe('text');
    await device.refusal(writeFile, write('wip/none.txt', 'x', sha('text')), 'FILE_NOT_FOUND');
  });

  it('takes the new content back when the records cannot be changed', async () => {
    await create('a.md', { content: 'old' });
    device.records.failures.set('apply_file_changes', new ServiceError('SERVICE_UNAVAILABLE', 'down'));
    await device.refusal(writeFile, write('wip/a.md', 'new', sha('old')), 'SERVICE_UNAVAILABLE');
    expect(await readFile(join(folder, 'wip/a.md'), 'utf8')).toBe('old');
    expect(await names()).toEqual(['outputs', 'resources', 'wip', 'wip/a.md']);
    expect((await device.call(listTrash, {})).items).toEqual([]);
  });
});

async function* three() {
  for (const _ of [1, 2, 3]) yield Buffer.from('bytes');
}
