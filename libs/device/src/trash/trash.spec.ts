import { existsSync, writeFileSync } from 'node:fs';
import { link, mkdir, writeFile as put, readdir, readFile, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, deleteFile, listTrash, restoreTrash, ServiceError, writeFile } from '@workspace-graph/contracts';
import { temporaryName } from '@workspace-graph/disk';
import { newId } from '@workspace-graph/platform';
import { LeftOvers } from '../files/left-overs.js';
import type { TrashRow } from '../store/device-store.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { Trash } from './trash.js';

const DAY_MS = 24 * 60 * 60_000;

let device: DeviceFixture;
let nodeId: string;
let folder: string;
beforeEach(async () => {
  device = await startDevice();
  ({ nodeId, path: folder } = await device.mirror('Alpha'));
});
afterEach(() => device.close());

const trashFolder = () => join(device.root, '.svc/trash');
const create = (filename: string, more: Record<string, unknown> = {}) =>
  device.call(createFile, { node_id: nodeId, filename, content: filename, ...more });
const trashed = async (filename: string, more: Record<string, unknown> = {}) => {
  const file = await create(filename, more);
  const { trash_id } = await device.call(deleteFile, { file_id: file.id, confirmed: true });
  if (trash_id === null) throw new Error('there was a copy');
  return { file, trash_id };
};

describe('the trash', () => {
  it('brings content back to where it lay, for 30 days [files.trash.30-days]', async () => {
    const { file, trash_id } = await trashed('a.md', { subpath: 'deep/er' });
    const [entry] = (await device.call(listTrash, {})).items;
    expect(entry).toMatchObject({
      id: trash_id,
      node: { id: nodeId, name: 'Alpha' },
      path: 'wip/deep/er/a.md',
      bytes: 4,
    });
    expect(Date.parse(entry?.expires_at ?? '') - Date.parse(entry?.trashed_at ?? '')).toBe(30 * DAY_MS);
    const trash = device.module.get(Trash);
    await trash.sweep(Date.now() + 29 * DAY_MS);
    const restored = await device.call(restoreTrash, { trash_id });
    expect(restored).toMatchObject({ id: file.id, version: file.version + 1 });
    expect(restored).toMatchObject({ path: file.path, sha256: file.sha256, local_path: file.local_path });
    expect(await readFile(join(folder, file.path), 'utf8')).toBe('a.md');
    expect(await readdir(trashFolder())).toEqual([]);
    await device.refusal(restoreTrash, { trash_id }, 'TRASH_NOT_FOUND');
    const second = await trashed('b.md');
    await trash.sweep(Date.now() + 31 * DAY_MS);
    await device.refusal(restoreTrash, { trash_id: second.trash_id }, 'TRASH_NOT_FOUND');
    expect(await readdir(trashFolder())).toEqual([]);
  });

  it('refuses a place that is taken, also under a twin of the name, and changes nothing', async () => {
    const { trash_id } = await trashed('a.md');
    for (const taken of ['a.md', 'A.md']) {
      await put(join(folder, 'wip', taken), 'other');
      await device.refusal(restoreTrash, { trash_id }, 'DESTINATION_EXISTS');
      expect(await readFile(join(folder, 'wip', taken), 'utf8')).toBe('other');
      await unlink(join(folder, 'wip', taken));
    }
    for (const path of ['../a.md', 'elsewhere/a.md', 'wip/.git/a.md'])
      await device.refusal(restoreTrash, { trash_id, path }, 'VALIDATION_FAILED');
    expect((await device.call(restoreTrash, { trash_id, path: 'outputs/new/a.md' })).path).toBe('outputs/new/a.md');
  });

  it('leaves all as it was when the records cannot be changed', async () => {
    const { trash_id } = await trashed('a.md', { subpath: 'deep' });
    device.records.failures.set('apply_file_changes', new ServiceError('SERVICE_UNAVAILABLE', 'down'));
    await device.refusal(restoreTrash, { trash_id }, 'SERVICE_UNAVAILABLE');
    device.records.failures.clear();
    expect(await readdir(join(folder, 'wip'))).toEqual([]);
    expect((await device.call(restoreTrash, { trash_id })).path).toBe('wip/deep/a.md');
  });

  it('keeps what a file held when it was deleted, although another name of it is edited', async () => {
    const file = await create('a.md');
    await link(join(folder, file.path), join(device.root, 'other-name'));
    const { trash_id } = await device.call(deleteFile, { file_id: file.id, confirmed: true });
    await put(join(device.root, 'other-name'), 'edited');
    const restored = await device.call(restoreTrash, { trash_id: trash_id ?? '' });
    expect(restored.sha256).toBe(file.sha256);
    expect(await readFile(join(folder, file.path), 'utf8')).toBe('a.md');
  });

  it('keeps the id of a file whose record stayed', async () => {
    const { file, trash_id } = await trashed('a.md');
    const { node_name, node_type, section, subpath, filename, status, remote_path, local_path, ...record } = file;
    device.records.records.set(file.id, { ...record, last_pushed_at: new Date().toISOString() });
    const state = {
      fileId: file.id,
      nodeId,
      path: file.path,
      pathKey: file.path,
      sha256: file.sha256 ?? '',
      sizeBytes: 4,
    };
    const gone = { stamp: null, inode: null, isDeleted: true, wasPushed: true, lastSyncedHash: null, version: 1 };
    device.parts.store.changeFiles({ put: [{ ...state, ...gone }] });
    expect((await device.call(restoreTrash, { trash_id })).id).toBe(file.id);
    expect(device.parts.store.file(file.id)?.isDeleted).toBe(false);
  });

  it('gives an id to one file: what was replaced in a file that is there, or went to another node, is a new one', async () => {
    const file = await create('a.md');
    await device.call(writeFile, {
      node_id: nodeId,
      path: file.path,
      content: 'b',
      expected_sha256: file.sha256 ?? '',
    });
    const [replaced] = (await device.call(listTrash, {})).items;
    const older = await device.call(restoreTrash, { trash_id: replaced?.id ?? '', path: 'wip/older.md' });
    expect(older).toMatchObject({ version: 1, sha256: file.sha256 });
    expect(older.id).not.toBe(file.id);
    const { trash_id } = await device.call(deleteFile, { file_id: file.id, confirmed: true });
    const elsewhere = await device.mirror('Beta');
    const record = {
      ...device.records.records.get(older.id),
      id: file.id,
      node_id: elsewhere.nodeId,
      path: 'wip/x.md',
    };
    device.records.records.set(file.id, record as never);
    const restored = await device.call(restoreTrash, { trash_id: trash_id ?? '' });
    expect(restored).toMatchObject({ version: 1, path: file.path });
    expect(restored.id).not.toBe(file.id);
  });

  it('shows nobody what lies in nodes that they do not see', async () => {
    const [friend, stranger] = [device.caller('write'), device.caller('write')];
    const { trash_id } = await trashed('a.md');
    const node = device.records.nodes.get(nodeId);
    if (node) device.records.nodes.set(nodeId, { ...node, seenBy: new Set([friend.user_id]), writtenBy: new Set() });
    expect((await device.call(listTrash, {}, friend)).items).toHaveLength(1);
    expect((await device.call(listTrash, {}, stranger)).items).toEqual([]);
    await device.refusal(listTrash, { node_id: nodeId }, 'NODE_NOT_FOUND', stranger);
    const hidden = await device.refusal(restoreTrash, { trash_id }, 'TRASH_NOT_FOUND', stranger);
    const absent = await device.refusal(restoreTrash, { trash_id: newId() }, 'TRASH_NOT_FOUND', stranger);
    expect(hidden.message.replace(trash_id, '')).toBe(absent.message.replace(String(absent.details?.['trash_id']), ''));
    await device.refusal(restoreTrash, { trash_id }, 'FORBIDDEN', friend);
  });

  it('is listed page by page, the newest first', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.unshift((await trashed(`${index}.md`)).trash_id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string }[]; next_cursor: string | null } = await device.call(listTrash, {
        limit: 2,
        ...(cursor === null ? {} : { cursor }),
      });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
  });

  it('sets right at the start what a crash left: entries without bytes, bytes without entries', async () => {
    const { trash_id } = await trashed('a.md');
    const kept = await trashed('b.md');
    await unlink(join(trashFolder(), trash_id));
    const orphan = join(trashFolder(), newId());
    await put(orphan, 'young');
    device = await device.restart();
    const trash = device.module.get(Trash);
    await trash.sweep(Date.now());
    expect((await device.call(listTrash, {})).items.map(({ id }) => id)).toEqual([kept.trash_id]);
    expect((await stat(orphan)).size).toBe(5);
    await trash.sweep(Date.now() + 2 * DAY_MS);
    expect(await readdir(trashFolder())).toEqual([kept.trash_id]);
  });

  it('keeps what is added while it is tidied', async () => {
    const { trash_id } = await trashed('a.md');
    const { store } = device.parts;
    const row = { ...store.trashEntry(trash_id), id: newId() } as TrashRow;
    const trashIds = store.trashIds.bind(store);
    store.trashIds = () => {
      writeFileSync(join(trashFolder(), row.id), 'a.md');
      store.putTrash(row);
      return trashIds();
    };
    await device.module.get(Trash).sweep(Date.now());
    expect(store.trashEntry(row.id)).toEqual(row);
  });

  it('brings content back as a file of its own when a crash left its entry with the bytes of a file', async () => {
    const { trash_id } = await trashed('a.md');
    const entry = device.parts.store.trashEntry(trash_id) as TrashRow;
    const first = await device.call(restoreTrash, { trash_id });
    // As if the process had ended before the entry went.
    await link(join(folder, first.path), join(trashFolder(), trash_id));
    device.parts.store.putTrash(entry);
    const second = await device.call(restoreTrash, { trash_id, path: 'wip/b.md' });
    await put(join(folder, second.path), 'edited');
    expect(await readFile(join(folder, first.path), 'utf8')).toBe('a.md');
  });
});

describe('what cut-off writes leave', () => {
  it('goes after a day, and nothing else does', async () => {
    await mkdir(join(folder, 'wip/deep'));
    const old = new Date(Date.now() - 2 * DAY_MS);
    const [young, ...gone] = ['wip', '.', 'wip/deep', '.codex'].map((inside) => `${inside}/${temporaryName()}`);
    const kept = [
      'wip/.other',
      'wip/svc-file',
      'wip/.svc-notes',
      'elsewhere/.svc-notes',
      `elsewhere/${temporaryName()}`,
    ];
    for (const inside of ['elsewhere', '.codex']) await mkdir(join(folder, inside), { recursive: true });
    for (const name of [...gone, ...kept]) {
      await put(join(folder, name), 'half');
      await utimes(join(folder, name), old, old);
    }
    await put(join(folder, young ?? ''), 'half');
    await device.module.get(LeftOvers).sweepAll(Date.now());
    for (const name of gone) expect([name, existsSync(join(folder, name))]).toEqual([name, false]);
    for (const name of [...kept, young ?? '']) expect([name, existsSync(join(folder, name))]).toEqual([name, true]);
  });
});
