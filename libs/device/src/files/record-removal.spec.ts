import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  createFile,
  deleteFile,
  type FileRecord,
  listFiles,
  listTrash,
  restoreTrash,
  ServiceError,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { Scanner } from '../scan/scanner.js';
import { deletingCentre } from '../testing/deleting-centre.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { MemoryFileService } from '../testing/memory-file-service.js';
import { IntentRepair } from './intent-repair.js';

let device: DeviceFixture;
let path: string;
let file: FileRecord;
/** Files that the centre was told to remove. */
const removed: string[] = [];
let refusal: ServiceError | null = null;

const centre = deletingCentre((fileId) => {
  if (refusal) throw refusal;
  removed.push(fileId);
  device.records.records.delete(fileId);
});

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

describe('while the centre is out of reach', () => {
  const AWAY = new ServiceError('SERVICE_UNAVAILABLE', 'The centre is out of reach.');
  const scan = () => device.module.get(Scanner).reconcile(file.node_id, 'all');
  const listed = async () => (await device.call(listFiles, { node_id: file.node_id })).items.map((item) => item.path);
  beforeEach(async () => {
    const state = device.parts.store.file(file.id);
    if (state) device.parts.store.changeFiles({ put: [{ ...state, wasPushed: true }] });
    await device.parts.service.places([file.node_id], null);
    await scan();
    await listed();
    refusal = AWAY;
    for (const { name } of MemoryFileService.operations) device.records.failures.set(name, AWAY);
    const done = await device.call(deleteFile, { file_id: file.id, confirmed: true });
    expect(done).toMatchObject({
      applied: true,
      repair_needed: false,
      removes: ['record', 'local_copy', 'remote_object'],
    });
    expect([removed, onDisk(), await listed()]).toEqual([[], false, []]);
  });
  /** What the next look has to tell. */
  async function reconnect(): Promise<readonly string[]> {
    refusal = refusal === AWAY ? null : refusal;
    device.records.failures.clear();
    await scan();
    return device.module
      .get(Scanner)
      .failures.of(file.node_id)
      .map((failure) => `${failure.path}: ${failure.message}`);
  }

  it('a file of a remote is deleted here, and there when it is back', async () => {
    await scan();
    device = await device.restart();
    expect([removed, await listed()]).toEqual([[], []]);
    expect(await reconnect()).toEqual([]);
    expect([removed, device.parts.store.file(file.id), await listed()]).toEqual([[file.id], null, []]);
    await scan();
    expect(removed).toEqual([file.id]);
  });

  it('one that somebody changed meanwhile stays, which is told', async () => {
    refusal = new ServiceError('CONFLICT', 'Somebody has changed it.');
    const message = 'It was deleted here, and stays for others: Somebody has changed it.';
    expect(await reconnect()).toEqual([`wip/a.md: ${message}`]);
    expect([removed, await listed(), onDisk()]).toEqual([[], ['wip/a.md'], false]);
  });

  it('one that was gone already, or is restored before that, is deleted by nobody again', async () => {
    refusal = new ServiceError('FILE_NOT_FOUND', 'There is no such file.');
    expect(await reconnect()).toEqual([]);
    expect([removed, device.parts.store.file(file.id)]).toEqual([[], null]);
  });

  it('one that is restored meanwhile is not deleted', async () => {
    const { items } = await device.call(listTrash, { node_id: file.node_id });
    await device.call(restoreTrash, { trash_id: items[0]?.id ?? '' });
    expect([onDisk(), await listed()]).toEqual([true, ['wip/a.md']]);
    expect(await reconnect()).toEqual([]);
    expect([removed, onDisk(), await listed()]).toEqual([[], true, ['wip/a.md']]);
  });
});
