import {
  access,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Global, Module } from '@nestjs/common';
import { createMirror, listMirrors, moveMirror } from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { Mirrors } from './mirrors.js';
import { MOVE_DISK, type MoveDisk } from './move-mirror.js';

/** What the disk does besides what it is told; replaced by each spec. */
let disk: Partial<MoveDisk> = {};
const MOVES: MoveDisk = {
  rename: (from, to) => (disk.rename ?? rename)(from, to),
  copyFile: (from, to) => (disk.copyFile ?? copyFile)(from, to),
  unlink: (path) => (disk.unlink ?? unlink)(path),
};

@Global()
@Module({ providers: [{ provide: MOVE_DISK, useValue: MOVES }], exports: [MOVE_DISK] })
class DiskModule {}

let device: DeviceFixture;
let elsewhere: string;
let nodeId: string;
let from: string;
beforeEach(async () => {
  disk = {};
  device = await startDevice({ modules: [DiskModule] });
  elsewhere = await realpath(await mkdtemp(join(tmpdir(), 'svc-moves-')));
  ({ nodeId, path: from } = await device.mirror('Alpha'));
  await fill(nodeId, from);
});
afterEach(async () => {
  await device.close();
  await rm(elsewhere, { recursive: true, force: true });
});

const seen = {
  sha256: 'a'.repeat(64),
  sizeBytes: 1,
  mimeType: 'text/markdown',
  modifiedAt: '2026-01-01T00:00:00.000Z',
};

async function fill(node: string, path: string): Promise<void> {
  await mkdir(join(path, 'wip', 'deep'), { recursive: true });
  await writeFile(join(path, 'wip', 'a.md'), 'a');
  await writeFile(join(path, 'wip', 'deep', 'ä.md'), 'ä', { mode: 0o600 });
  await utimes(join(path, 'wip', 'a.md'), 1_700_000_000, 1_700_000_000);
  await symlink('a.md', join(path, 'wip', 'link'));
  const { ino } = await stat(join(path, 'wip', 'a.md'), { bigint: true });
  await device.parts.files.apply(
    node,
    [{ kind: 'register', path: 'wip/a.md', seen: { ...seen, stamp: '1:1', inode: `${ino}` } }],
    {
      action: 'test',
      asker: null,
      strict: true,
    },
  );
}

const tree = async (path: string): Promise<string[]> => (await readdir(path, { recursive: true })).toSorted();
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
const move = (path: string) => device.call(moveMirror, { node_id: nodeId, path });
const crossing: MoveDisk['rename'] = async (source, target) => {
  if (source === from) throw Object.assign(new Error('another volume'), { code: 'EXDEV' });
  await rename(source, target);
};
const WHOLE = ['outputs', 'resources', 'wip', 'wip/a.md', 'wip/deep', 'wip/deep/ä.md', 'wip/link'];

describe('a folder that is moved', () => {
  it('is renamed, keeps files and ids, and tells those who listen', async () => {
    const to = join(elsewhere, 'new', 'place');
    const [before] = [...device.parts.store.filesOf(nodeId)];
    const told: unknown[] = [];
    device.module.get(Mirrors).onMoved((moved) => told.push([moved.from.path, moved.to.path]));
    expect(await move(to)).toMatchObject({ local_path: to, state: 'ready', files: 1, node: { name: 'Alpha' } });
    expect(await tree(to)).toEqual(WHOLE);
    expect(await isThere(from)).toBe(false);
    expect([...device.parts.store.filesOf(nodeId)]).toEqual([before]);
    expect(told).toEqual([[from, to]]);
    expect(await move(to)).toMatchObject({ local_path: to });
    expect(await move(from)).toMatchObject({ local_path: from });
    expect(await device.call(createMirror, { node_id: nodeId })).toMatchObject({ created: false, local_path: from });
    expect(await readdir(join(device.root, '.svc', 'moves'))).toEqual([]);
  });

  it('is refused where something is, in itself, in or around that of another node, and when it is not there', async () => {
    const other = await device.mirror('Beta');
    const refusal = (path: string, code: Parameters<typeof device.refusal>[2]) =>
      device.refusal(moveMirror, { node_id: nodeId, path }, code);
    await writeFile(join(elsewhere, 'file'), '');
    await refusal(join(elsewhere, 'file'), 'DESTINATION_EXISTS');
    await refusal(elsewhere, 'DESTINATION_EXISTS');
    expect((await refusal(join(from, 'wip', 'x'), 'MIRROR_PATH_REFUSED')).details).toEqual({ reason: 'inside_itself' });
    expect((await refusal(join(other.path, 'x'), 'MIRROR_PATH_REFUSED')).details).toMatchObject({
      reason: 'other_mirror',
    });
    await refusal(join(device.root, '.svc', 'x'), 'MIRROR_PATH_REFUSED');
    await refusal(join(elsewhere, 'file', 'x'), 'MIRROR_PATH_REFUSED');
    await refusal('relative', 'VALIDATION_FAILED');
    expect(await tree(from)).toEqual(WHOLE);
    expect(await readdir(elsewhere)).toEqual(['file']);
    await rm(from, { recursive: true });
    await refusal(join(elsewhere, 'x'), 'NO_MIRROR');
    const unmirrored = device.records.node({ name: 'Gamma' });
    await device.refusal(moveMirror, { node_id: unmirrored, path: join(elsewhere, 'x') }, 'NO_MIRROR');
  });

  it('of an organization stays while it holds those of its nodes', async () => {
    const organization = device.records.node({ name: 'Acme', type: 'organization' });
    await device.call(createMirror, { node_id: organization });
    const input = { node_id: organization, path: join(elsewhere, 'acme') };
    expect((await device.refusal(moveMirror, input, 'MIRROR_PATH_REFUSED')).details).toEqual({
      reason: 'holds_mirrors',
    });
  });

  it('goes onto another volume as a verified copy, and the old folder goes after', async () => {
    disk = { rename: crossing };
    const to = join(elsewhere, 'copy');
    expect(await move(to)).toMatchObject({ local_path: to, state: 'ready', files: 1 });
    expect(await tree(to)).toEqual(WHOLE);
    expect(await readFile(join(to, 'wip', 'deep', 'ä.md'), 'utf8')).toBe('ä');
    expect((await stat(join(to, 'wip', 'a.md'))).mtimeMs).toBe(1_700_000_000_000);
    expect((await stat(join(to, 'wip', 'deep', 'ä.md'))).mode & 0o777).toBe(0o600);
    expect(await isThere(from)).toBe(false);
    expect([...device.parts.store.filesOf(nodeId)]).toMatchObject([{ path: 'wip/a.md', stamp: null, inode: null }]);
    expect(await readdir(elsewhere)).toEqual(['copy']);
  });

  it('keeps at its old place what somebody wrote there while it was copied', async () => {
    let copies = 0;
    disk = {
      rename: crossing,
      copyFile: async (source, target) => {
        await copyFile(source, target);
        copies += 1;
        if (copies === 1) await writeFile(join(from, 'wip', 'late.md'), 'late');
      },
      unlink: async (path) => {
        await writeFile(join(from, 'wip', 'later.md'), 'later');
        await unlink(path);
      },
    };
    const to = join(elsewhere, 'copy');
    await move(to);
    expect(await readFile(join(to, 'wip', 'late.md'), 'utf8')).toBe('late');
    expect(await readFile(join(from, 'wip', 'later.md'), 'utf8')).toBe('later');
    expect(await isThere(join(from, 'wip', 'a.md'))).toBe(false);
  });

  it('stays whole where it is when a step fails', async () => {
    const to = join(elsewhere, 'deep', 'copy');
    const broken = (code: string) => async () => {
      throw Object.assign(new Error(code), { code });
    };
    const truncated: MoveDisk['copyFile'] = async (_source, target) => writeFile(target, 'other');
    const faults: readonly (readonly [Partial<MoveDisk>, 'STORAGE_FULL' | 'MIRROR_PATH_REFUSED' | 'CONFLICT'])[] = [
      [{ rename: broken('EACCES') }, 'MIRROR_PATH_REFUSED'],
      [{ rename: crossing, copyFile: broken('ENOSPC') }, 'STORAGE_FULL'],
      [{ rename: crossing, copyFile: truncated }, 'CONFLICT'],
      [
        {
          rename: async (source, target) => {
            if (target === to && source !== from) await broken('EROFS')();
            await crossing(source, target);
          },
        },
        'MIRROR_PATH_REFUSED',
      ],
    ];
    for (const [fault, code] of faults) {
      disk = fault;
      await device.refusal(moveMirror, { node_id: nodeId, path: to }, code);
      expect(await tree(from)).toEqual(WHOLE);
      expect(await readdir(elsewhere)).toEqual([]);
      expect((await device.call(listMirrors, {})).items).toMatchObject([{ local_path: from, state: 'ready' }]);
    }
    disk = {};
    expect(await move(to)).toMatchObject({ local_path: to, state: 'ready' });
  });
});

describe('a process that ends in the middle of a move', () => {
  const never = () => new Promise<never>(() => undefined);
  /** Resolves once the move has come to where the process ends. */
  const endsAt = async (to: string, make: (reached: () => void) => Partial<MoveDisk>): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    disk = make(resolve);
    void move(to);
    await promise;
    disk = {};
    device = await device.restart();
  };
  const registered = async () => {
    const mirrors = device.module.get(Mirrors);
    const row = mirrors.require(nodeId);
    expect([await mirrors.stateOf(row), await tree(row.path)]).toEqual(['ready', WHOLE]);
    expect(await readdir(join(device.root, '.svc', 'moves'))).toEqual([]);
    return row.path;
  };

  it('before the folder is renamed leaves it where it was', async () => {
    const to = join(elsewhere, 'new');
    await endsAt(to, (reached) => ({
      rename: () => {
        reached();
        return never();
      },
    }));
    expect(await registered()).toBe(from);
    expect(await move(to)).toMatchObject({ local_path: to });
  });

  it('after the folder is renamed finds it at its new place', async () => {
    const to = join(elsewhere, 'new');
    await endsAt(to, (reached) => ({
      rename: async (source, target) => {
        await rename(source, target);
        reached();
        return never();
      },
    }));
    expect(await registered()).toBe(to);
  });

  it('while it is copied leaves it where it was, without the part of a copy', async () => {
    const to = join(elsewhere, 'copy');
    await endsAt(to, (reached) => ({
      rename: crossing,
      copyFile: async (source, target) => {
        await copyFile(source, target);
        reached();
        return never();
      },
    }));
    expect(await registered()).toBe(from);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('before the copy is registered leaves it where it was, without the copy', async () => {
    const to = join(elsewhere, 'copy');
    await endsAt(to, (reached) => ({
      rename: async (source, target) => {
        await crossing(source, target);
        reached();
        return never();
      },
    }));
    expect(await registered()).toBe(from);
    expect(await readdir(elsewhere)).toEqual([]);
    expect(await move(to)).toMatchObject({ local_path: to });
  });

  it('while the old folder is removed goes on with it', async () => {
    const to = join(elsewhere, 'copy');
    await endsAt(to, (reached) => ({
      rename: crossing,
      unlink: async (path) => {
        await unlink(path);
        reached();
        return never();
      },
    }));
    expect(await registered()).toBe(to);
    expect(await isThere(from)).toBe(false);
  });

  it('after the old folder was removed forgets it, and takes nothing out of a folder that lies there later', async () => {
    const to = join(elsewhere, 'copy');
    disk = { rename: crossing };
    await move(to);
    const { identity } = device.module.get(Mirrors).require(nodeId);
    const note = { node_id: nodeId, from, to, copied: identity };
    await writeFile(join(device.root, '.svc', 'moves', `${nodeId}.json`), JSON.stringify(note));
    device = await device.restart();
    expect(await registered()).toBe(to);
    await mkdir(from);
    await mkdir(join(from, 'wip'));
    await writeFile(join(from, 'wip', 'a.md'), 'a');
    device = await device.restart();
    expect(await tree(from)).toEqual(['wip', 'wip/a.md']);
  });
});
