import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  createFile,
  deleteFile,
  moveFile,
  renameFolder,
  restoreTrash,
  ServiceError,
  writeFile,
} from '@workspace-graph/contracts';
import { SmallDisk } from '@workspace-graph/testing';
import { expectAgreement, scannerOf } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { IntentRepair } from './intent-repair.js';

const DISK_MB = 4;
const PAGE_BYTES = 4_096;
/** Free pages: from none to what every step of a change finds enough. */
const ROOM = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24];
/** How many of them are tried, the first and the last among them; all of them in `npm run soak`. */
const STEPS = Number(process.env['SVC_DISK_STEPS'] ?? 4);
const TRIED = ROOM.filter((_pages, index) => {
  const step = (at: number): number => Math.floor((at * (STEPS - 1)) / (ROOM.length - 1));
  return index === 0 || step(index) > step(index - 1);
});
const CONTENT = 'a'.repeat(2 * PAGE_BYTES);
const expected_sha256 = createHash('sha256').update('a').digest('hex');
const confirmed = true;

interface World {
  readonly device: DeviceFixture;
  readonly nodeId: string;
  /** Its folder. */
  readonly path: string;
  /** Of `wip/old/a.md`, with the content `a`. */
  readonly fileId: string;
  readonly otherId: string;
  /** Of a file that lay at `wip/gone.md`. */
  readonly trashId: string;
}

/** By their names, changes that need the disk at several steps. */
const CHANGES: Record<string, (world: World) => Promise<unknown>> = {
  create: ({ device, nodeId }) => device.call(createFile, { node_id: nodeId, filename: 'b.md', content: CONTENT }),
  write: ({ device, nodeId }) =>
    device.call(writeFile, { node_id: nodeId, path: 'wip/old/a.md', content: CONTENT, expected_sha256 }),
  rename: ({ device, fileId }) => device.call(moveFile, { file_id: fileId, new_filename: 'b.md', confirmed }),
  'move to another node': ({ device, fileId, otherId }) =>
    device.call(moveFile, { file_id: fileId, new_node_id: otherId, confirmed }),
  'rename of a folder': ({ device, nodeId }) =>
    device.call(renameFolder, { node_id: nodeId, old_prefix: 'wip/old', new_prefix: 'wip/new', dry_run: false }),
  delete: ({ device, fileId }) => device.call(deleteFile, { file_id: fileId, confirmed }),
  unregister: async ({ device, fileId, path }) => {
    await device.call(deleteFile, { file_id: fileId, mode: 'unregister_only', confirmed });
    rmSync(join(path, 'wip/old/a.md'));
  },
  restore: ({ device, trashId }) => device.call(restoreTrash, { trash_id: trashId }),
};

/** Only root can make a small disk to fill. */
const onSmallDisk = SmallDisk.available() ? describe : describe.skip;

onSmallDisk('a disk that fills up', () => {
  it.each(Object.keys(CHANGES))(
    'at any step of a change ends it in a told error, and all agrees once there is room: %s',
    async (name) => {
      const outcomes = new Set<string>();
      for (const pages of TRIED) outcomes.add(await tryWith(pages * PAGE_BYTES, CHANGES[name] ?? never));
      expect([...outcomes].toSorted()).toEqual(['STORAGE_FULL', 'done']);
    },
    300_000,
  );
});

async function tryWith(freeBytes: number, change: (world: World) => Promise<unknown>): Promise<string> {
  using disk = new SmallDisk(DISK_MB);
  const root = join(disk.folder, 'device');
  mkdirSync(root);
  const before = await startDevice({ root });
  const one = await before.mirror('One');
  const other = await before.mirror('Other');
  const [nodeId, otherId] = [one.nodeId, other.nodeId];
  const scanAll = async (device: DeviceFixture): Promise<void> => {
    for (const id of [nodeId, otherId]) await scannerOf(device).reconcile(id, 'all');
  };
  await scanAll(before);
  const { id: fileId } = await before.call(createFile, {
    node_id: nodeId,
    filename: 'a.md',
    subpath: 'old',
    content: 'a',
  });
  const gone = await before.call(createFile, { node_id: nodeId, filename: 'gone.md', content: 'gone' });
  const { trash_id } = await before.call(deleteFile, { file_id: gone.id, confirmed });
  // A new process has a registry without room to write in.
  const device = await before.restart();
  try {
    disk.fill(freeBytes);
    const outcome = await change({ device, nodeId, path: one.path, otherId, fileId, trashId: trash_id ?? '' }).then(
      () => 'done',
      (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
    );
    disk.clear();
    await device.module.get(IntentRepair).run();
    for (let looks = 0; looks < 2; looks += 1) await scanAll(device);
    await expectAgreement(device, nodeId, one.path);
    await expectAgreement(device, otherId, other.path);
    expect(device.records.intents.size).toBe(0);
    return outcome;
  } finally {
    await device.close();
  }
}

function never(): Promise<never> {
  return Promise.reject(new Error('there is no such change'));
}
