import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, deleteFile, listTrash, restoreTrash, type TrashEntry } from '@workspace-graph/contracts';
import { SmallDisk } from '@workspace-graph/testing';
import { scannerOf } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { AsideFiles } from './aside-files.js';
import { CloningDisk } from './cloning-disk.fixture.js';

const MEBIBYTE = 1_048_576;
const LARGE = 65 * MEBIBYTE;
const DAY_MS = 24 * 60 * 60_000;

interface World {
  readonly device: DeviceFixture;
  readonly folder: string;
  /** Of `wip/a.bin`. */
  readonly fileId: string;
  readonly sha256: string | null;
}

/** A file of many zeros and an `o` before them. */
async function world(root: string | null, sizeBytes: number): Promise<World> {
  const device = await startDevice(root === null ? {} : { root });
  const { nodeId, path: folder } = await device.mirror('Alpha');
  writeFileSync(join(folder, 'wip/a.bin'), 'o');
  truncateSync(join(folder, 'wip/a.bin'), sizeBytes);
  await scannerOf(device).reconcile(nodeId, 'all');
  const [file] = device.parts.store.filesOf(nodeId);
  if (!file) throw new Error('it lies there');
  return { device, folder, fileId: file.fileId, sha256: file.sha256 };
}

async function entries(device: DeviceFixture): Promise<TrashEntry[]> {
  return (await device.call(listTrash, {})).items;
}

/** Deletes the file while a program has it open, and saves through that afterwards. Answers the entry before and after. */
async function deleteAndSave({ device, folder, fileId }: World, save: boolean): Promise<TrashEntry[]> {
  const open = openSync(join(folder, 'wip/a.bin'), 'r+');
  await device.call(deleteFile, { file_id: fileId, confirmed: true });
  const before = await entries(device);
  if (save) writeSync(open, 'late', 0);
  closeSync(open);
  return [...before, ...(await entries(device))];
}

const firstByte = async (path: string) => (await readFile(path)).subarray(0, 4).toString();

describe('a large file where the disk makes no copies that share blocks', () => {
  let here: World;
  beforeEach(async () => {
    here = await world(null, LARGE);
  });
  afterEach(() => here.device.close());

  it('lies in the trash itself, and the trash tells what it holds when somebody saves into it', async () => {
    const { device, folder, sha256 } = here;
    const [before, after] = await deleteAndSave(here, true);
    expect(before).toMatchObject({ sha256, bytes: LARGE });
    expect(after?.sha256).not.toBe(sha256);
    expect(await entries(device)).toEqual([after]);
    const restored = await device.call(restoreTrash, { trash_id: after?.id ?? '' });
    expect(restored.sha256).toBe(after?.sha256);
    expect(await firstByte(join(folder, 'wip/a.bin'))).toBe('late');
    expect(existsSync(join(device.root, '.svc/aside'))).toBe(false);
  });

  it('stays what it was told to be while nobody saves into it', async () => {
    const [before, after] = await deleteAndSave(here, false);
    expect(after).toEqual(before);
  });
});

/** Only root can make such disks. */
const onSmallDisk = SmallDisk.available() ? describe : describe.skip;
const onCloningDisk = CloningDisk.available() ? describe : describe.skip;

onSmallDisk('a file on a full disk', () => {
  it('can be deleted all the same: it lies in the trash itself [files.trash.30-days]', async () => {
    using disk = new SmallDisk(8);
    const root = join(disk.folder, 'device');
    await mkdir(root);
    const here = await world(root, 3 * MEBIBYTE);
    await using device = here.device;
    writeFileSync(join(here.folder, 'wip/a.bin'), Buffer.alloc(3 * MEBIBYTE, 'o'));
    await scannerOf(device).reconcile(device.parts.store.mirrors()[0]?.nodeId ?? '', 'all');
    disk.fill(MEBIBYTE);
    const [before, after] = await deleteAndSave(here, true);
    expect(before).toMatchObject({ bytes: 3 * MEBIBYTE });
    expect(after?.sha256).not.toBe(before?.sha256);
    expect(await readdir(join(root, '.svc/trash'))).toEqual([before?.id]);
    await device.call(restoreTrash, { trash_id: before?.id ?? '' });
    expect(await firstByte(join(here.folder, 'wip/a.bin'))).toBe('late');
  });
});

onCloningDisk('a file where the disk makes copies that share blocks', () => {
  it.each([MEBIBYTE, 3 * LARGE])(
    'is kept as such a copy, which takes no room: %s bytes',
    async (sizeBytes) => {
      using disk = new CloningDisk();
      const root = join(disk.folder, 'device');
      await mkdir(root);
      const here = await world(root, 1);
      await using device = here.device;
      writeFileSync(join(here.folder, 'wip/a.bin'), Buffer.alloc(sizeBytes, 'o'));
      await scannerOf(device).reconcile(device.parts.store.mirrors()[0]?.nodeId ?? '', 'all');
      const sha256 = device.parts.store.file(here.fileId)?.sha256;
      const freeBefore = freeBytes(disk.folder);
      const [before, after] = await deleteAndSave(here, true);
      expect([before?.sha256, after]).toEqual([sha256, before]);
      expect(freeBefore - freeBytes(disk.folder)).toBeLessThan(2 * MEBIBYTE);
      await device.module.get(AsideFiles).sweep(Date.now() + 2 * DAY_MS);
      expect(await entries(device)).toHaveLength(2);
      const restored = await device.call(restoreTrash, { trash_id: before?.id ?? '' });
      expect(restored.sha256).toBe(sha256);
    },
    60_000,
  );
});

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

it('keeps the permissions of a file that is restored', async () => {
  await using device = await startDevice();
  const { nodeId, path: folder } = await device.mirror('Alpha');
  const file = await device.call(createFile, { node_id: nodeId, filename: 'a.sh', content: 'true' });
  chmodSync(join(folder, file.path), 0o775);
  const { trash_id } = await device.call(deleteFile, { file_id: file.id, confirmed: true });
  await device.call(restoreTrash, { trash_id: trash_id ?? '' });
  expect((await stat(join(folder, file.path))).mode & 0o777).toBe(0o775);
});
