import { renameSync, writeFileSync } from 'node:fs';
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

describe('a file that is renamed as soon as it was written', () => {
  it.each([
    ['both names are looked at', [['wip/a.md', 'outputs/b.md']]],
    ['the old name is looked at first', [['wip/a.md'], ['outputs/b.md']]],
  ])('keeps its id: %s', async (_case, looks) => {
    const { nodeId, path } = await device.mirror('Bakery');
    const scanner = device.module.get(Scanner);
    await scanner.reconcile(nodeId, 'all');
    const { id } = await device.call(createFile, { node_id: nodeId, filename: 'a.md', content: 'a' });
    const state = device.parts.store.file(id);
    const record = device.records.records.get(id);
    if (!state || !record) throw new Error('it is not tracked');
    device.parts.store.changeFiles({ put: [{ ...state, wasPushed: true, lastSyncedHash: state.sha256 }] });
    device.records.records.set(id, { ...record, remote_name: 'team', last_pushed_at: record.updated_at });

    renameSync(join(path, 'wip/a.md'), join(path, 'outputs/b.md'));
    // As the watcher looks: what is not seen for the first time holds still.
    let before: ReadonlyMap<string, string> = new Map();
    let scopes: string[][] = looks;
    for (let round = 0; round < 4; round += 1) {
      const again = new Map<string, string>();
      for (const scope of scopes) {
        const outcome = await scanner.reconcile(nodeId, scope, { windowMs: 3_600_000, before });
        for (const [each, stamp] of outcome.again) again.set(each, stamp);
      }
      before = again;
      scopes = again.size > 0 ? [[...again.keys()]] : looks;
    }
    expect(device.records.recordsOf(nodeId).map((one) => [one.id, one.path])).toEqual([[id, 'outputs/b.md']]);
    expect(device.parts.store.file(id)).toMatchObject({ path: 'outputs/b.md', isDeleted: false, wasPushed: true });
  });
});
