import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getSyncStatus } from '@workspace-graph/contracts';
import { filesKnown, scannerOf } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { eventually, watchedMirror } from './watcher.fixture.js';

const STORM = fileURLToPath(new URL('./folder-storm.fixture.mjs', import.meta.url));
const ROUNDS = 4;

let device: DeviceFixture;
let nodeId: string;
let root: string;
beforeAll(async () => {
  device = await startDevice({ settings: { watch: true, debounceMs: 100 } });
  // Another mirror stays watched all the time.
  await watchedMirror(device, 'Beside');
  ({ nodeId, path: root } = await watchedMirror(device, 'Alpha'));
  for (let folder = 0; folder < 300; folder += 1) await mkdir(join(root, 'wip', `still ${folder}`));
  await eventually(() => expect(device.parts.store.mirror(nodeId)?.scannedAt).not.toBeNull());
});
afterAll(() => device.close());

const tracked = () => Object.keys(filesKnown(device, nodeId).registry);

async function storm(): Promise<AsyncDisposable> {
  await mkdir(join(root, 'wip/storm'), { recursive: true });
  const child = spawn(process.execPath, [STORM, join(root, 'wip/storm')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
    },
  };
}

/** Has the watch closed and opened again. */
async function reopen(): Promise<void> {
  await rename(root, `${root}.away`);
  await eventually(() => expect(scannerOf(device).failures.of(nodeId)).toMatchObject([{ path: '' }]));
  await rename(`${root}.away`, root);
}

async function expectWatched(name: string): Promise<void> {
  await eventually(async () => {
    const status = await device.call(getSyncStatus, { node_id: nodeId });
    expect(status).toMatchObject({ watching: true, watcher_errors: [] });
  });
  await writeFile(join(root, 'wip', name), name);
  await eventually(() => expect(tracked()).toContain(`wip/${name}`));
}

describe('the watch of a folder', () => {
  it('is there again after folders came and went while it was opened, and while they still do [watcher.watch-recovers]', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      {
        await using _storm = await storm();
        await reopen();
        await expectWatched(`${round} in the storm.md`);
      }
      await expectWatched(`${round} after it.md`);
    }
  }, 300_000);

  it('follows the folder when a copy of it is put in its place [watcher.watch-recovers]', async () => {
    await expectWatched('before.md');
    await cp(root, `${root}.copy`, { recursive: true });
    await rename(root, `${root}.old`);
    await rename(`${root}.copy`, root);
    await eventually(() => expect(device.parts.store.mirror(nodeId)?.scannedAt).not.toBeNull());
    await expectWatched('in the copy.md');
    await rm(`${root}.old`, { recursive: true });
    await mkdir(join(root, 'outputs/new/er'), { recursive: true });
    await writeFile(join(root, 'outputs/new/er/deep.md'), 'deep');
    await eventually(() => expect(tracked()).toContain('outputs/new/er/deep.md'));
  });
});
