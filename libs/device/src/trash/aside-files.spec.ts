import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile as put, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  createFile,
  deleteFile,
  listTrash,
  moveFile,
  removeMirror,
  restoreTrash,
  type TrackedFile,
  writeFile,
} from '@workspace-graph/contracts';
import { asideName } from '@workspace-graph/disk';
import { newId } from '@workspace-graph/platform';
import { IntentRepair } from '../files/intent-repair.js';
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
    sha256: null,
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

  it('goes to the trash when something else has the name by then, and so does what is saved into it later', async () => {
    const open = openSync(path(), 'r+');
    await taken();
    await put(path(), 'saved meanwhile');
    device = await device.restart();
    await device.module.get(IntentRepair).looked;
    writeSync(open, 'late', 0);
    closeSync(open);
    expect(await readdir(join(folder, 'wip'))).toEqual(['a.md']);
    expect([await readFile(path(), 'utf8'), await trashed()]).toEqual(['saved meanwhile', ['old']]);
    await device.module.get(AsideFiles).sweep(Date.now() + 2 * DAY_MS);
    expect((await trashed()).toSorted()).toEqual(['late', 'old']);
  });

  it.each(['.svc/aside', 'the root of its mirror'])('stays for a day when it lay in %s by then', async (place) => {
    const aside = row();
    device.parts.store.asides.change({ put: [aside] });
    const parked = place === '.svc/aside' ? join(device.root, place, aside.id) : join(folder, asideName(aside.id));
    await mkdir(dirname(parked), { recursive: true });
    await rename(path(), parked);
    device = await device.restart();
    await device.module.get(IntentRepair).looked;
    expect(device.parts.store.asides.all()).toEqual([{ ...aside, isDone: true }]);
    await device.module.get(AsideFiles).sweep(Date.now() + 2 * DAY_MS);
    expect([await trashed(), existsSync(parked), device.parts.store.asides.all()]).toEqual([['old'], false, []]);
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

  const sections = ['outputs', 'resources', 'wip'];
  const sweep = () => device.module.get(AsideFiles).sweep(Date.now() + 2 * DAY_MS);
  const asides = () => readdir(join(device.root, '.svc/aside'));
  const remove = () => device.call(deleteFile, { file_id: file.id, confirmed: true });
  const replace = () =>
    device.call(writeFile, {
      node_id: nodeId,
      path: 'wip/a.md',
      content: 'new',
      expected_sha256: file.sha256 ?? '',
    });

  it.each([
    ['deleted', remove],
    ['replaced', replace],
  ])('leaves in the trash what was %s, and what it saves afterwards is an entry of its own', async (_how, change) => {
    const open = openSync(path(), 'r+');
    await change();
    saveThrough(open, 'late');
    const [entry] = (await device.call(listTrash, {})).items;
    expect(await trashed()).toEqual(['old']);
    expect(entry).toMatchObject({ sha256: file.sha256, bytes: 3 });
    const names = await readdir(folder, { recursive: true });
    expect(names.filter((name) => name !== 'wip/a.md').toSorted()).toEqual(sections);
    await sweep();
    expect((await trashed()).toSorted()).toEqual(['late', 'old']);
    const restored = await device.call(restoreTrash, { trash_id: entry?.id ?? '', path: 'wip/restored.md' });
    expect(restored.sha256).toBe(file.sha256);
    expect(await readFile(join(folder, 'wip/restored.md'), 'utf8')).toBe('old');
    await sweep();
    expect([await asides(), device.parts.store.asides.all()]).toEqual([[], []]);
  });

  it('costs nobody anything when it saves nothing: what was changed is in the trash once', async () => {
    await replace();
    await remove();
    expect(await asides()).toHaveLength(2);
    await sweep();
    expect([(await trashed()).toSorted(), await asides()]).toEqual([['new', 'old'], []]);
  });

  it('loses nothing in a folder that is given up within a day', async () => {
    const open = openSync(path(), 'r+');
    await replace();
    await device.call(removeMirror, { node_id: nodeId });
    saveThrough(open, 'late');
    await sweep();
    const trash = device.module.get(Trash);
    const rows = device.parts.store.trashEntries({ nodeId, limit: 10 });
    const texts = await Promise.all(rows.map((row) => readFile(trash.pathOf(row), 'utf8')));
    expect([texts.toSorted(), await asides()]).toEqual([['late', 'old'], []]);
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
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
