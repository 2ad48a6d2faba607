import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failureOf } from '../conformance/stage.js';
import { FsRemote } from '../fs/fs.remote.js';
import { MemoryRemote } from '../memory/memory.remote.js';
import { openRemote } from '../open-remote.js';
import type { ListOptions, RemoteCapabilities, RemoteEntry, RemoteFile, WriteOptions } from '../port/index.js';
import { ROOT_MARKER, readRootMarker, writeRootMarker } from '../root/root-marker.js';
import { gradeRemote, RemoteUnfit } from './grade-remote.js';

const MARKER = '0b8d6a52-0000-4000-8000-000000000001';

async function leftIn(remote: MemoryRemote): Promise<RemoteEntry[]> {
  const entries: RemoteEntry[] = [];
  for await (const page of remote.list('', { recursive: true })) entries.push(...page);
  return entries;
}

/** A backend that claims conditions and looks at them long before it writes. */
class LateRemote extends MemoryRemote {
  override async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    const before = await this.stat(path);
    const holds = before?.kind === 'file' ? before.revision : null;
    if (holds !== options.expected) return super.write(path, bytes, options);
    await new Promise((resolve) => setImmediate(resolve));
    const now = await this.stat(path);
    return super.write(path, bytes, { ...options, expected: now?.kind === 'file' ? now.revision : null });
  }
}

class BlindRemote extends MemoryRemote {
  override async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    const now = await this.stat(path);
    return super.write(path, bytes, { ...options, expected: now?.kind === 'file' ? now.revision : null });
  }
}

class SlowListing extends MemoryRemote {
  override async *list(_folder: string, _options?: ListOptions): AsyncGenerator<readonly RemoteEntry[]> {
    yield [];
  }
}

class WrongHashes extends MemoryRemote {
  override readonly capabilities: RemoteCapabilities = { ...new MemoryRemote().capabilities, listedHashes: ['md5'] };
}

describe('the grade of a remote', () => {
  it('is what it claims where that is so, and nothing is left of the trial [remotes.setup.probed]', async () => {
    const remote = new MemoryRemote();
    expect(await gradeRemote(remote)).toMatchObject({
      conditions: 'atomic',
      listing: 'immediate',
      hashes: [],
      trash_days: null,
    });
    expect(await leftIn(remote)).toEqual([]);
  });

  it('is less where several writers win who expect the same', async () => {
    expect(await gradeRemote(new LateRemote())).toMatchObject({ conditions: 'checked' });
  });

  it('tells a listing that comes later, and hashes that are not there', async () => {
    expect(await gradeRemote(new SlowListing())).toMatchObject({ listing: 'delayed' });
    expect(await gradeRemote(new WrongHashes())).toMatchObject({ hashes: [] });
  });

  it('is refused to one that overwrites blindly, and its trial is cleared', async () => {
    const remote = new BlindRemote();
    await expect(gradeRemote(remote)).rejects.toThrow(RemoteUnfit);
    expect(await leftIn(remote)).toEqual([]);
  });

  it('tells why the storage fails', async () => {
    const remote = new MemoryRemote();
    remote.failWith('full');
    expect(await failureOf(gradeRemote(remote))).toBe('full');
  });
});

describe('the mark at the root', () => {
  it('tells an empty storage from that which was marked', async () => {
    const remote = new MemoryRemote();
    expect(await readRootMarker(remote)).toBeNull();
    await writeRootMarker(remote, MARKER);
    expect(await readRootMarker(remote)).toBe(MARKER);
    expect(await failureOf(writeRootMarker(remote, MARKER))).toBe('exists');
  });

  it.each(['', '{}', '{"workspace_graph_root":"../x"}', 'null', 'x'.repeat(5_000)])(
    'is not taken from what somebody else put under its name: %j',
    async (content) => {
      const remote = new MemoryRemote();
      remote.plant(ROOT_MARKER, Buffer.from(content));
      expect(await failureOf(readRootMarker(remote))).toBe('exists');
    },
  );
});

describe('a folder as the place of a remote', () => {
  it('lies below the one that is meant for them, also in truth', async () => {
    const base = await mkdtemp(join(tmpdir(), 'remote-folders-'));
    const folders = join(base, 'shares');
    const at = (folder: string, within: string | null = folders) =>
      openRemote({ type: 'fs', config: { folder }, credentials: {} }, { folders: within });
    try {
      await mkdir(join(folders, 'team/files'), { recursive: true });
      await writeFile(join(base, 'secret'), 'secret');
      await symlink(base, join(folders, 'out'));
      await symlink(join(folders, 'team'), join(folders, 'in'));
      for (const inside of ['team', 'team/files', 'in', '.', 'team/../team']) {
        await using remote = await at(inside);
        expect(remote).toBeInstanceOf(FsRemote);
      }
      for (const outside of ['..', '../shares', 'out', 'team/../..', '/', folders, 'out/shares/..'])
        expect([outside, await failureOf(at(outside))]).toEqual([outside, 'forbidden']);
      expect(await failureOf(at('none'))).toBe('unavailable');
      expect(await failureOf(at('team', null))).toBe('forbidden');
      expect((await readdir(folders)).sort()).toEqual(['in', 'out', 'team']);
    } finally {
      await rm(base, { recursive: true });
    }
  });
});
