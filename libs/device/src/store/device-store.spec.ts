import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { MemoryFileService } from '../testing/memory-file-service.js';

let device: DeviceFixture;
beforeEach(async () => {
  device = await startDevice();
});
afterEach(() => device.close());

const seen = (sha256: string) => ({
  sha256: sha256.repeat(64),
  sizeBytes: 1,
  mimeType: 'text/plain',
  modifiedAt: '2026-01-01T00:00:00.000Z',
  stamp: '1:1',
  inode: '7',
});
const options = { action: 'scan', asker: null, strict: false };

describe('the registry of the device', () => {
  it('holds what was applied after a restart, with records and registry in agreement [mirrors.registry.per-device]', async () => {
    const { nodeId } = await device.mirror('Alpha');
    const [made] = await device.parts.files.apply(
      nodeId,
      [{ kind: 'register', path: 'wip/a.md', seen: seen('a') }],
      options,
    );
    device = await device.restart();
    const { store } = device.parts;
    const file = store.fileAt(nodeId, 'wip/a.md');
    expect(made).toEqual({ file: device.records.recordAt(nodeId, 'wip/a.md') });
    expect(file).toMatchObject({ fileId: device.records.recordAt(nodeId, 'wip/a.md')?.id, sha256: 'a'.repeat(64) });
    expect([...store.filesOf(nodeId)]).toEqual([file]);
    expect([...store.filesOf(nodeId, 'outputs')]).toEqual([]);
    expect(store.filesByInode(nodeId, '7')).toEqual([file]);
    expect(store.countFiles(nodeId)).toEqual({ present: 1, deleted: 0 });
  });

  it('moves, updates and removes, and finds the same end when it is told twice', async () => {
    const { nodeId } = await device.mirror('Alpha');
    const { store, files } = device.parts;
    const told: unknown[] = [];
    files.onChange((change) => void told.push([change.changed.length, change.removed.length]));
    const register = [{ kind: 'register', path: 'wip/a.md', seen: seen('a') } as const];
    await files.apply(nodeId, register, options);
    await files.apply(nodeId, register, options);
    const file = store.fileAt(nodeId, 'wip/a.md');
    if (!file) throw new Error('it was registered');
    const move = [{ kind: 'move', file, path: 'outputs/b.md', seen: seen('b') } as const];
    await files.apply(nodeId, move, options);
    await files.apply(nodeId, move, options);
    expect([...store.filesOf(nodeId)]).toMatchObject([{ fileId: file.fileId, path: 'outputs/b.md' }]);
    const remove = [{ kind: 'remove', file, tombstone: true } as const];
    await files.apply(nodeId, remove, options);
    await files.apply(nodeId, remove, options);
    expect([[...store.filesOf(nodeId)], device.records.recordsOf(nodeId)]).toEqual([[], []]);
    expect(told.length).toBeGreaterThan(4);
  });

  it('keeps what a refused change was about', async () => {
    const { nodeId } = await device.mirror('Alpha');
    const results = await device.parts.files.apply(
      nodeId,
      [
        { kind: 'register', path: 'wip/A.md', seen: seen('a') },
        { kind: 'register', path: 'wip/a.md', seen: seen('b') },
        { kind: 'register', path: 'wip/c.md', seen: seen('c') },
      ],
      options,
    );
    expect(results).toMatchObject([{ file: {} }, { refused: 'DESTINATION_EXISTS' }, { file: {} }]);
    expect([...device.parts.store.filesOf(nodeId)].map(({ path }) => path)).toEqual(['wip/A.md', 'wip/c.md']);
  });

  it('forgets the files of a mirror that is removed', async () => {
    const { nodeId } = await device.mirror('Alpha');
    await device.parts.files.apply(nodeId, [{ kind: 'register', path: 'wip/a.md', seen: seen('a') }], options);
    device.parts.store.removeMirror(nodeId);
    expect([device.parts.store.mirrors(), device.parts.store.countFiles()]).toEqual([[], { present: 0, deleted: 0 }]);
    expect(MemoryFileService.operations.length).toBeGreaterThan(0);
    expect(device.parts.store.mirror(newId())).toBeNull();
  });
});
