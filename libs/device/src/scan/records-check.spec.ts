import { appendFile, mkdir, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Mirrors } from '../mirrors/mirrors.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { RecordsCheck } from './records-check.js';
import { expectAgreement, idAt, scannerOf } from './scanner.fixture.js';

interface Place {
  readonly nodeId: string;
  readonly path: string;
}

let device: DeviceFixture;
let one: Place;
let other: Place;
beforeEach(async () => {
  device = await startDevice();
  [one, other] = [await device.mirror('One'), await device.mirror('Other')];
});
afterEach(() => device.close());

const put = async (path: string, content: string): Promise<void> => {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
};
const scan = async (): Promise<void> => {
  for (const { nodeId } of [one, other]) await scannerOf(device).reconcile(nodeId, 'all');
};
const check = () => new RecordsCheck(device.parts, scannerOf(device), device.module.get(Mirrors)).run();
const agrees = async (): Promise<void> => {
  for (const { nodeId, path } of [one, other]) await expectAgreement(device, nodeId, path);
};
/** Keeps the records as they are; the function that is answered brings them back. */
const backUp = () => {
  const kept = [...device.records.records];
  return (): void => {
    device.records.records.clear();
    for (const [id, record] of kept) device.records.records.set(id, record);
  };
};

describe('records that were restored from a backup', () => {
  it('tell again what is on the disk, whatever happened there since', async () => {
    for (const name of ['kept', 'deleted', 'edited', 'renamed', 'both', 'away', 'a', 'b'])
      await put(join(one.path, `wip/${name}.md`), name);
    await scan();
    const before = (name: string) => idAt(device, one.nodeId, `wip/${name}.md`);
    const ids = ['kept', 'edited', 'renamed', 'both', 'b', 'a'].map(before);
    const restore = backUp();
    const at = (name: string): string => join(one.path, 'wip', name);
    await unlink(at('deleted.md'));
    await appendFile(at('edited.md'), ' more');
    await mkdir(at('new'));
    await rename(at('renamed.md'), at('new/renamed.md'));
    await put(at('renamed.md'), 'took its name');
    await rename(at('both.md'), at('new/both.md'));
    await scan();
    await appendFile(at('new/both.md'), ' more');
    await rename(at('away.md'), join(other.path, 'outputs/away.md'));
    for (const [from, to] of [
      ['a.md', 'x.md'],
      ['b.md', 'a.md'],
      ['x.md', 'b.md'],
    ] as const)
      await rename(at(from), at(to));
    await put(at('new.md'), 'new');
    await scan();
    await agrees();
    restore();
    await check();
    await agrees();
    expect(['kept', 'edited', 'new/renamed', 'new/both', 'a', 'b'].map(before)).toEqual(ids);
    const { calls } = device.records;
    await scan();
    expect(device.records.calls).toBe(calls);
  });

  it('go to another node than their files, which are files of the node in which they lie', async () => {
    await put(join(one.path, 'wip/a.md'), 'a');
    await scan();
    const restore = backUp();
    const id = idAt(device, one.nodeId, 'wip/a.md') ?? '';
    const [record, file] = [device.records.records.get(id), device.parts.store.file(id)];
    if (!record || !file) throw new Error('it was registered');
    await rename(join(one.path, 'wip/a.md'), join(other.path, 'wip/a.md'));
    device.records.records.set(id, { ...record, node_id: other.nodeId });
    device.parts.store.changeFiles({ put: [{ ...file, nodeId: other.nodeId }] });
    await scan();
    restore();
    await check();
    await agrees();
  });

  it('stay when they are older than the folder here, which may be another one than theirs', async () => {
    await put(join(one.path, 'wip/a.md'), 'a');
    await scan();
    const row = device.parts.store.mirror(one.nodeId);
    if (!row) throw new Error('it was registered');
    device.parts.store.removeMirror(one.nodeId);
    await unlink(join(one.path, 'wip/a.md'));
    device.parts.store.putMirror({ ...row, scannedAt: null, createdAt: new Date().toISOString() });
    await scan();
    await check();
    expect(device.records.recordsOf(one.nodeId)).toHaveLength(1);
  });
});
