import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathKey } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { MemoryFileService } from '../testing/memory-file-service.js';
import { DeviceStore } from './device-store.js';
import { migrateStore } from './store-schema.js';

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

describe('a registry of an older version', () => {
  const older = (file: string, paths: readonly (readonly [id: string, path: string, key: string])[]): void => {
    using database = new DatabaseSync(file);
    migrateStore(database, 1);
    database.exec(`INSERT INTO local_mirrors VALUES ('n', '/n', '1:1', NULL, '2026-01-01T00:00:00.000Z')`);
    const insert = database.prepare(`INSERT INTO file_state VALUES (?, 'n', ?, ?, 'a', 1, '1:1', '7', 0, 0, NULL, 1)`);
    for (const values of paths) insert.run(...values);
    database.exec(`INSERT INTO untracked VALUES ('n', 'wip/stra\u00dfe.md')`);
  };

  it('keeps its files, and compares their paths by normal form and case from then on', () => {
    const file = join(device.root, 'old.db');
    older(file, [
      ['1', 'wip/H\u2082O.md', 'wip/h2o.md'],
      ['2', 'wip/stra\u00dfe.md', 'wip/strasse.md'],
      ['3', 'wip/STRA\u1e9eE.md', 'wip/stra\u00dfe.md'],
    ]);
    const store = DeviceStore.open(file);
    expect(store.fileAt('n', pathKey('wip/h\u2082o.md'))).toMatchObject({ fileId: '1', stamp: '1:1', version: 1 });
    expect(store.fileAt('n', pathKey('wip/h2o.md'))).toBeNull();
    expect(store.fileAt('n', pathKey('wip/Strasse.md'))?.fileId).toBe('2');
    expect(store.fileNamed('n', 'wip/STRA\u1e9eE.md')).toMatchObject({ fileId: '3', pathKey: 'wip/strasse.md\u00013' });
    expect([...store.untrackedKeys('n')]).toEqual(['wip/strasse.md']);
    store.close();
  });
});

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
