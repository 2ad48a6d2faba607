import { writeFile as put, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Envelope } from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { FileChanges } from './file-changes.js';

let device: DeviceFixture;
let nodeId: string;
let folder: string;
let callId: string;
beforeEach(async () => {
  device = await startDevice();
  ({ nodeId, path: folder } = await device.mirror('Alpha'));
  callId = crypto.randomUUID();
});
afterEach(() => device.close());

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
const options = (): { envelope: Envelope; action: string } => ({
  envelope: { callId, requestId: callId, caller: device.person('write') },
  action: 'create_file',
});
const changes = () => device.module.get(FileChanges);
const create = (path: string, text: string) => changes().createFrom({ nodeId, path }, bytes(text), options());
const replace = (path: string, text: string, ifMatch: string) =>
  changes().replaceFrom({ nodeId, path }, bytes(text), { ...options(), ifMatch });
const content = (path: string) => readFile(join(folder, path), 'utf8');

describe('a write that is repeated because its reply was lost', () => {
  it('is answered as the first time, whatever has become of the file', async () => {
    const [first, beside] = await Promise.all([create('wip/a.md', 'a'), create('wip/a.md', 'a')]);
    expect(beside).toEqual(first);
    expect(await create('wip/a.md', 'a')).toEqual(first);
    callId = crypto.randomUUID();
    const second = await replace('wip/a.md', 'b', first.sha256 ?? '');
    expect(second).toMatchObject({ id: first.id, version: 2 });
    expect(await replace('wip/a.md', 'b', first.sha256 ?? '')).toEqual(second);
    await put(join(folder, 'wip/a.md'), 'edited since');
    expect(await replace('wip/a.md', 'b', first.sha256 ?? '')).toEqual(second);
    expect(await content('wip/a.md')).toBe('edited since');
    await unlink(join(folder, 'wip/a.md'));
    expect(await replace('wip/a.md', 'b', first.sha256 ?? '')).toEqual(second);
  });

  it('is refused with another content or place, and begins anew when it was refused before', async () => {
    await put(join(folder, 'wip/a.md'), 'in the way');
    await expect(create('wip/a.md', 'a')).rejects.toMatchObject({ code: 'DESTINATION_EXISTS' });
    await unlink(join(folder, 'wip/a.md'));
    await create('wip/a.md', 'a');
    for (const again of [create('wip/a.md', 'other'), create('wip/b.md', 'a')])
      await expect(again).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('already used for another request'),
      });
    expect(await content('wip/a.md')).toBe('a');
  });

  it('is for whoever may still write there', async () => {
    const first = await create('wip/a.md', 'a');
    const node = device.records.nodes.get(nodeId);
    if (!node) throw new Error('the node was just added');
    device.records.nodes.set(nodeId, { ...node, seenBy: new Set() });
    await expect(create('wip/a.md', 'a')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' });
    device.records.nodes.set(nodeId, { ...node, writtenBy: new Set() });
    await expect(create('wip/a.md', 'a')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    device.records.nodes.set(nodeId, node);
    expect(await create('wip/a.md', 'a')).toEqual(first);
  });
});
