import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { adoptFiles } from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { filesOnlyHere } from './files-only-here.js';

let device: DeviceFixture;
let nodeId: string;
let folder: string;

beforeEach(async () => {
  device = await startDevice();
  ({ nodeId, path: folder } = await device.mirror('Bakery'));
});
afterEach(() => device.close());

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

/** Written, tracked, and on the remote as it lies there. */
async function stored(...paths: readonly string[]): Promise<void> {
  for (const path of paths) write(path, path);
  await device.call(adoptFiles, { node_id: nodeId, paths: [...paths] });
  const put = [...device.parts.store.filesOf(nodeId)].map((file) => ({ ...file, lastSyncedHash: file.sha256 }));
  device.parts.store.changeFiles({ put: put.map((file) => ({ ...file, wasPushed: true })) });
}

const found = async () => {
  await device.stop();
  const only = await filesOnlyHere(join(device.root, '.svc'));
  device = await device.start();
  return only;
};

it('are those that were never uploaded, or were changed since, also while the device was stopped', async () => {
  await stored('wip/same.md', 'outputs/edited.md');
  expect(await found()).toEqual([]);
  write('outputs/edited.md', 'by hand');
  write('wip/deep/new.md', 'new');
  write('wip/~$lock.docx', 'ignored');
  symlinkSync('/etc/hostname', join(folder, 'wip/link.md'));
  expect(await found()).toEqual([{ path: folder, files: 2, problem: null }]);
});

it('are not counted where the folder is not there, which is told', async () => {
  await stored('wip/same.md');
  renameSync(folder, `${folder} taken`);
  expect(await found()).toEqual([{ path: folder, files: null, problem: 'it is not there' }]);
});
