import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFile } from '@workspace-graph/contracts';
import { pathKey } from '@workspace-graph/domain';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { Scanner } from './scanner.js';

let device: DeviceFixture;
beforeEach(async () => {
  device = await startDevice({ settings: { sharesRecords: true } });
});
afterEach(() => device.close());

it('an edit of a file that another workstation has moved does not move it back', async () => {
  const { nodeId, path } = await device.mirror('Bakery');
  const scan = () => device.module.get(Scanner).reconcile(nodeId, 'all');
  const { id } = await device.call(createFile, { node_id: nodeId, filename: 'a.md', content: 'a' });
  await scan();
  const [record, state] = [device.records.records.get(id), device.parts.store.file(id)];
  if (!record || !state) throw new Error('it is not tracked');
  device.parts.store.changeFiles({ put: [{ ...state, wasPushed: true, lastSyncedHash: state.sha256 }] });
  const moved = { ...record, path: 'outputs/b.md', last_pushed_at: record.updated_at, version: record.version + 1 };
  device.records.records.set(id, moved);

  for (const content of ['edited here', 'and once more']) {
    writeFileSync(join(path, 'wip/a.md'), content);
    await scan();
    await scan();
  }
  expect(device.records.recordsOf(nodeId).map((one) => [one.id, one.path, one.size_bytes])).toEqual([
    [id, 'outputs/b.md', 13],
  ]);
  expect(device.parts.store.fileAt(nodeId, pathKey('wip/a.md'))?.fileId).toBe(id);
});
