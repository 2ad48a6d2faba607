import { rmSync } from 'node:fs';
import { unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '@workspace-graph/contracts';
import { Mirrors } from '../mirrors/mirrors.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { scannerOf } from './scanner.fixture.js';

let device: DeviceFixture;
let mirrors: Mirrors;
let nodeId: string;
let root: string;
/** What happens the moment a scan is announced. */
let onBegin: () => void;
/** Whether a scan was on its way at each announcement of the folder. */
let announced: boolean[];
beforeAll(async () => {
  device = await startDevice();
  mirrors = device.module.get(Mirrors);
  mirrors.onScan((id) => {
    const { running } = scannerOf(device).progressOf(id);
    announced.push(running);
    if (running) onBegin();
  });
});
beforeEach(async () => {
  ({ nodeId, path: root } = await device.mirror(`Node ${crypto.randomUUID()}`));
  await writeFile(join(root, 'wip/a.md'), 'a');
  onBegin = () => undefined;
  announced = [];
});
afterEach(() => device.records.failures.clear());
afterAll(() => device.close());

const scan = (scope: readonly string[] | 'all' = 'all') => scannerOf(device).reconcile(nodeId, scope);

/** Scans until everything is known, and forgets what was announced of it. */
async function known(): Promise<void> {
  do announced = [];
  while ((await scan()).again.size > 0 || announced.length > 0);
}

describe('a scan of a whole folder', () => {
  it('is announced when it begins and once when it has ended; a check of a known folder is not', async () => {
    await scan();
    expect(announced).toEqual([true, false]);
    await known();
    await scan();
    expect(announced).toEqual([]);
  });

  it('is announced from the moment in which a check finds something new, or that something is gone', async () => {
    await known();
    await writeFile(join(root, 'wip/b.md'), 'b');
    await scan();
    expect(announced).toEqual([true, false]);
    await known();
    await unlink(join(root, 'wip/b.md'));
    await scan();
    expect(announced).toEqual([true, false]);
  });

  it('is announced as ended when the file service takes nothing, and again when it is tried again', async () => {
    device.records.failures.set('apply_file_changes', new ServiceError('SERVICE_UNAVAILABLE', 'Later.'));
    expect(await scan()).toMatchObject({ isIncomplete: true });
    expect(announced).toEqual([true, false]);
    device.records.failures.clear();
    expect(await scan()).toMatchObject({ isIncomplete: false });
    expect(announced).toEqual([true, false, true, false]);
  });

  it('is announced as ended when the folder vanishes meanwhile', async () => {
    onBegin = () => rmSync(root, { recursive: true });
    expect(await scan()).toMatchObject({ state: 'missing' });
    expect(announced).toEqual([true, false]);
  });

  it('is announced as ended when the folder is no longer that of the node', async () => {
    onBegin = () => mirrors.remove(mirrors.require(nodeId));
    expect(await scan()).toMatchObject({ state: 'gone' });
    expect(announced).toEqual([true, false]);
  });
});

it('a look at some paths is not announced', async () => {
  await known();
  await writeFile(join(root, 'wip/b.md'), 'b');
  await scan(['wip/b.md']);
  expect(announced).toEqual([]);
  expect(device.parts.store.filesAt(nodeId, ['wip/b.md']).size).toBe(1);
});
