import { createHash } from 'node:crypto';
import { appendFile, link, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { eventually, watchedMirror } from './watcher.fixture.js';

let device: DeviceFixture;
beforeAll(async () => {
  device = await startDevice({ settings: { watch: true, debounceMs: 100 } });
});
afterAll(() => device.close());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function follows(nodeId: string, path: string, text: string): Promise<void> {
  await eventually(() => expect(device.records.recordAt(nodeId, path)?.sha256).toBe(sha256(text)));
}

describe('a file with several names', () => {
  it('is followed under all of them when one is edited: in its mirror, in another one, and outside [watcher.other-names]', async () => {
    const [one, other] = [await watchedMirror(device, 'One'), await watchedMirror(device, 'Other')];
    await mkdir(join(device.root, 'outside'));
    const names = [join(one.path, 'wip/a.md'), join(one.path, 'outputs/a.md'), join(other.path, 'wip/a.md')];
    const [first = '', ...others] = [...names, join(device.root, 'outside/a.md')];
    let text = 'made';
    await writeFile(first, text);
    for (const name of others) await link(first, name);
    for (const name of [...others, first]) {
      await follows(one.nodeId, 'wip/a.md', text);
      await follows(one.nodeId, 'outputs/a.md', text);
      await follows(other.nodeId, 'wip/a.md', text);
      await appendFile(name, ' and edited');
      text += ' and edited';
    }
    await follows(one.nodeId, 'wip/a.md', text);
    await follows(one.nodeId, 'outputs/a.md', text);
    await follows(other.nodeId, 'wip/a.md', text);
  }, 240_000);

  it('is followed under a name outside that was made when all was quiet', async () => {
    const { nodeId, path } = await watchedMirror(device, 'Quiet');
    await writeFile(join(path, 'wip/b.md'), 'made');
    await follows(nodeId, 'wip/b.md', 'made');
    await link(join(path, 'wip/b.md'), join(device.root, 'b.md'));
    await appendFile(join(device.root, 'b.md'), ' and edited');
    await follows(nodeId, 'wip/b.md', 'made and edited');
  });
});
