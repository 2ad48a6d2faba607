import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile as put, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, deleteFile, listTrash, moveFile, type TrackedFile, writeFile } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { IntentRepair } from '../files/intent-repair.js';
import { asideName } from '../paths/index.js';
import type { AsideRow } from '../store/aside-store.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { AsideFiles } from './aside-files.js';
import { Trash } from './trash.js';

const DAY_MS = 24 * 60 * 60_000;

let device: DeviceFixture;
let nodeId: string;
let folder: string;
let file: TrackedFile;
beforeEach(async () => {
  device = await startDevice();
  ({ nodeId, path: folder } = await device.mirror('Alpha'));
  file = await device.call(createFile, { node_id: nodeId, filename: 'a.md', content: 'old' });
});
afterEach(() => device.close());

const path = () => join(folder, 'wip/a.md');
const trashed = async () => {
  const { items } = await device.call(listTrash, {});
  const trash = device.module.get(Trash);
  return Promise.all(items.map(({ id }) => readFile(trash.pathOf({ id }), 'utf8')));
};

describe('what a killed process took from its name', () => {
  const row = (): AsideRow => ({
    id: newId(),
    nodeId,
    fileId: file.id,
    path: 'wip/a.md',
    isDone: false,
    takenAt: new Date().toISOString(),
  });
  const taken = async () => {
    const aside = row();
    device.parts.store.asides.change({ put: [aside] });
    await rename(path(), join(folder, 'wip', asideName(aside.id)));
  };
  const restarted = async () => {
    device = await device.restart();
    await device.module.get(IntentRepair).looked;
    expect(device.parts.store.asides.all()).toEqual([]);
  };

  it('gets it back at the next start [files.save.not-lost]', async () => {
    await taken();
    await restarted();
    expect(await readdir(join(folder, 'wip'))).toEqual(['a.md']);
    expect([await readFile(path(), 'utf8'), await trashed()]).toEqual(['old', []]);
  });

  it('goes to the trash when something else has the name by then', async () => {
    await taken();
    await put(path(), 'saved meanwhile');
    await restarted();
    expect(await readdir(join(folder, 'wip'))).toEqual(['a.md']);
    expect([await readFile(path(), 'utf8'), await trashed()]).toEqual(['saved meanwhile', ['old']]);
  });

  it('is forgotten when it was only noted', async () => {
    device.parts.store.asides.change({ put: [row()] });
    await restarted();
    expect(await readFile(path(), 'utf8')).toBe('old');
  });
});

describe('a program that has a file open', () => {
  const saveThrough = (open: number, content: string): void => {
    writeSync(open, content, 0);
    closeSync(open);
  };

  it('saves into the trash what it saves after the file was deleted or replaced', async () => {
    const open = openSync(path(), 'r+');
    const change = { node_id: nodeId, path: 'wip/a.md', content: 'new', expected_sha256: file.sha256 ?? '' };
    await device.call(writeFile, change);
    saveThrough(open, 'late');
    const other = openSync(path(), 'r+');
    await device.call(deleteFile, { file_id: file.id, confirmed: true });
    saveThrough(other, 'later');
    expect((await trashed()).toSorted()).toEqual(['late', 'later']);
    expect((await readdir(folder, { recursive: true })).toSorted()).toEqual(['outputs', 'resources', 'wip']);
  });

  it('loses nothing that it saves within a day after a move to another volume', async () => {
    const beta = await device.mirror('Beta');
    const other = await mkdtemp('/dev/shm/svc-mirror-');
    try {
      await mkdir(join(other, 'wip'));
      const { dev, ino } = await stat(other, { bigint: true });
      const mirror = device.parts.store.mirror(beta.nodeId);
      if (!mirror) throw new Error('it was registered');
      device.parts.store.putMirror({ ...mirror, path: other, identity: `${dev}:${ino}` });
      const unused = await device.call(createFile, { node_id: nodeId, filename: 'b.md', content: 'unused' });
      const open = openSync(path(), 'r+');
      for (const { id } of [file, unused])
        await device.call(moveFile, { file_id: id, new_node_id: beta.nodeId, confirmed: true });
      saveThrough(open, 'late');
      const asides = device.module.get(AsideFiles);
      await asides.sweep(Date.now() + DAY_MS / 2);
      expect(device.parts.store.asides.all()).toHaveLength(2);
      device = await device.restart();
      expect(await readdir(join(folder, 'wip'))).toEqual([]);
      await device.module.get(AsideFiles).sweep(Date.now() + 2 * DAY_MS);
      expect(await trashed()).toEqual(['late']);
      expect((await readdir(folder)).toSorted()).toEqual(['outputs', 'resources', 'wip']);
      expect((await readdir(join(other, 'wip'))).toSorted()).toEqual(['a.md', 'b.md']);
    } finally {
      await rm(other, { recursive: true });
    }
  });
});
