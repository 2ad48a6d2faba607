import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createFile, deleteFile, type FileRecord, ServiceError } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import type { CentralFiles } from '../transfer/central-files.js';
import { IntentRepair } from './intent-repair.js';

let device: DeviceFixture;
let path: string;
let file: FileRecord;
/** Files that the centre was told to remove. */
const removed: string[] = [];
let refusal: ServiceError | null = null;

const never = (): never => {
  throw new Error('nobody asks for that here');
};
const centre: CentralFiles = {
  open: never,
  push: never,
  pushAll: never,
  pullAll: never,
  adopt: never,
  search: never,
  snapshot: never,
  remove: async (fileId) => {
    if (refusal) throw refusal;
    removed.push(fileId);
    device.records.records.delete(fileId);
  },
};

beforeEach(async () => {
  removed.length = 0;
  refusal = null;
  device = await startDevice({ settings: { sharesRecords: true }, centre });
  const mirror = await device.mirror('Bakery');
  ({ path } = mirror);
  const { id } = await device.call(createFile, { node_id: mirror.nodeId, filename: 'a.md', content: 'a' });
  const record = device.records.records.get(id);
  if (!record) throw new Error('there is no record');
  file = { ...record, remote_name: 'team', last_pushed_at: record.updated_at };
  device.records.records.set(id, file);
});
afterEach(() => device.close());

const onDisk = (): boolean => existsSync(join(path, 'wip/a.md'));

it('a file that is on a remote is removed by the centre, with its object', async () => {
  const preview = await device.call(deleteFile, { file_id: file.id });
  expect(preview.removes).toEqual(['record', 'local_copy', 'remote_object']);
  expect(await device.call(deleteFile, { file_id: file.id, confirmed: true })).toMatchObject({ applied: true });
  expect([removed, onDisk(), device.parts.store.file(file.id)]).toEqual([[file.id], false, null]);
});

it('it stays as it was when the centre refuses', async () => {
  refusal = new ServiceError('CONFLICT', 'Somebody has changed it.');
  await device.refusal(deleteFile, { file_id: file.id, confirmed: true }, 'CONFLICT');
  expect([removed, onDisk(), device.records.intents.size]).toEqual([[], true, 0]);
});

it('a deletion that was cut off before the centre heard of it is finished with the object', async () => {
  await device.call(deleteFile, { file_id: file.id, confirmed: true });
  // As if the process had ended right before that.
  removed.length = 0;
  device.records.records.set(file.id, file);
  const intent = {
    id: newId(),
    file_id: file.id,
    node_id: file.node_id,
    kind: 'delete' as const,
    from_path: 'wip/a.md',
    to_node_id: null,
    to_path: null,
    sha256: file.sha256,
    last_error: null,
    attempts: 0,
    created_at: new Date().toISOString(),
  };
  device.records.intents.set(intent.id, intent);
  rmSync(join(path, 'wip/a.md'), { force: true });
  device = await device.restart();
  await device.module.get(IntentRepair).looked;
  // The note goes with the record.
  expect(removed).toEqual([file.id]);
});
