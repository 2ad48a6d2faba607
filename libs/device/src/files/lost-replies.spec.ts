import { createHash } from 'node:crypto';
import { createFile, deleteFile, moveFile, renameFolder, restoreTrash, writeFile } from '@workspace-graph/contracts';
import { expectAgreement, scannerOf } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';

let device: DeviceFixture;
let nodeId: string;
let path: string;
beforeEach(async () => {
  device = await startDevice();
  ({ nodeId, path } = await device.mirror('Alpha'));
  await scan();
});
afterEach(() => device.close());

const scan = () => scannerOf(device).reconcile(nodeId, 'all');
const expected_sha256 = createHash('sha256').update('a').digest('hex');
const confirmed = true;
/** By their names, changes of the file with this id at `wip/old/a.md`. */
const CHANGES: Record<string, (id: string) => Promise<unknown>> = {
  create: () => device.call(createFile, { node_id: nodeId, filename: 'b.md', content: 'b' }),
  move: (id) => device.call(moveFile, { file_id: id, new_filename: 'b.md', confirmed }),
  write: () => device.call(writeFile, { node_id: nodeId, path: 'wip/old/a.md', content: 'b', expected_sha256 }),
  delete: (id) => device.call(deleteFile, { file_id: id, confirmed }),
  unregister: (id) => device.call(deleteFile, { file_id: id, mode: 'unregister_only', confirmed }),
  rename: () =>
    device.call(renameFolder, { node_id: nodeId, old_prefix: 'wip/old', new_prefix: 'wip/new', dry_run: false }),
  restore: async (id) => {
    device.records.lostReplies.clear();
    const { trash_id } = await device.call(deleteFile, { file_id: id, confirmed });
    device.records.lostReplies.add('apply_file_changes');
    return device.call(restoreTrash, { trash_id: trash_id ?? '' });
  },
};

describe('a change of a file whose reply is lost', () => {
  it.each(Object.keys(CHANGES))('leaves records that the next scan makes tell what is on disk: %s', async (name) => {
    const file = await device.call(createFile, { node_id: nodeId, filename: 'a.md', subpath: 'old', content: 'a' });
    device.records.lostReplies.add('apply_file_changes');
    await expect(CHANGES[name]?.(file.id)).rejects.toMatchObject({ code: 'TIMEOUT' });
    device.records.lostReplies.clear();
    for (let looks = 0; looks < 2; looks += 1) await scan();
    await expectAgreement(device, nodeId, path);
  });
});
