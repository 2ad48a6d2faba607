import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMirror, getSyncStatus } from '@workspace-graph/contracts';
import { Mirrors } from '../mirrors/mirrors.js';
import { scannerOf } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { eventually, watchedMirror } from './watcher.fixture.js';

let device: DeviceFixture;
let told: string[];
/** What happens the moment something is told. */
let onTold: () => void;
beforeAll(async () => {
  device = await startDevice({ settings: { watch: true, debounceMs: 50 } });
  await device.parts.bus.subscribe(['sync.changed'], (event) => {
    if (event.type !== 'sync.changed') return;
    told.push(event.payload.node_id);
    onTold();
  });
});
beforeEach(() => {
  told = [];
  onTold = () => undefined;
});
afterAll(() => device.close());

/** Waits until nothing is told any more of what was done before. */
async function settled(nodeId: string): Promise<void> {
  await eventually(async () => {
    expect(await device.call(getSyncStatus, { node_id: nodeId })).toMatchObject({ watching: true });
    expect(device.parts.store.mirror(nodeId)?.scannedAt).not.toBeNull();
  });
  let before = -1;
  while (before !== told.length) {
    before = told.length;
    await new Promise((resolve) => setTimeout(resolve, 600));
  }
  told = [];
}

describe('what changes of the folder of a node', () => {
  it('is told when the folder comes, and when it has been read', async () => {
    const nodeId = device.records.node({ name: 'Alpha' });
    await device.call(createMirror, { node_id: nodeId });
    await eventually(() => expect(told).toContain(nodeId));
    await eventually(() => expect(device.parts.store.mirror(nodeId)?.scannedAt).not.toBeNull());
  });

  it.each([
    ['ends', () => undefined],
    [
      'fails',
      () => {
        throw new Error('The disk is gone.');
      },
    ],
  ])('is told as often as a scan goes on, and once when it %s', async (how, outcome) => {
    const { nodeId } = await watchedMirror(device, `Beta ${how}`);
    await settled(nodeId);
    const scan = { seen: 0, toRead: 0, startedAt: new Date().toISOString(), isCheck: false };
    const untilTold = (times: number) =>
      new Promise<void>((resolve) => {
        onTold = () => {
          if (told.length === times) resolve();
        };
      });
    // What is told next is due a quarter of a second after this, and tells of the end.
    const work = () => untilTold(3).then(outcome);
    await device.module
      .get(Mirrors)
      .whileScanning(nodeId, scan, work)
      .catch(() => undefined);
    expect(told).toEqual([nodeId, nodeId, nodeId]);
    await untilTold(4);
    // Whatever else there were to tell of the scan would be told before this, or with it.
    const other = crypto.randomUUID();
    scannerOf(device).failures.note(other, 'wip/a.md', 'It cannot be read.');
    await untilTold(5);
    expect(told).toEqual([nodeId, nodeId, nodeId, nodeId, other]);
  });

  it('is what could not be taken in, and that it is in order again; the same again is nothing new', async () => {
    const { nodeId, path } = await watchedMirror(device, 'Gamma');
    await settled(nodeId);
    const { failures } = scannerOf(device);
    failures.note(nodeId, 'wip/a.md', 'It cannot be read.');
    await eventually(() => expect(told).toEqual([nodeId]));
    failures.note(nodeId, 'wip/a.md', 'It cannot be read.');
    await writeFile(join(path, 'wip', 'b.md'), 'b');
    await eventually(() => expect(device.parts.store.filesAt(nodeId, ['wip/b.md']).size).toBe(1));
    expect(told.filter((id) => id !== nodeId)).toEqual([]);
    told = [];
    failures.clear(nodeId, 'wip/a.md');
    await eventually(() => expect(told).toEqual([nodeId]));
  });
});
