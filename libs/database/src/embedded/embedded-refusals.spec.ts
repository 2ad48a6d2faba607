import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { embeddedBinariesProblem, findBinaries, findPackage } from './binaries.js';
import { startEmbeddedDatabase } from './embedded-database.js';
import { isRoot, makeTestPlaces, nobody, type TestPlaces } from './embedded-places.fixture.js';
import { startWorkspace } from './workspace.fixture.js';

import.meta.jest.setTimeout(60_000);

let places: TestPlaces;

beforeAll(async () => {
  places = await makeTestPlaces();
});

afterAll(() => places.remove());

/** Whether this machine lets the tests make a small disk of their own: root may, outside of closed containers. */
function mountSmallDisk(folder: string, sizeMb: number): boolean {
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=755`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function fill(folder: string): string {
  const file = join(folder, 'filler');
  const handle = openSync(file, 'w');
  const block = Buffer.alloc(1024 * 1024);
  try {
    for (;;) writeSync(handle, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return file;
  } finally {
    closeSync(handle);
  }
}

describe('a folder that is refused', () => {
  it('lacks the data that it had, in whose place no empty database is made', async () => {
    const folder = places.used();
    renameSync(join(folder, 'data'), join(folder, 'away'));
    await expect(startEmbeddedDatabase({ folder })).rejects.toMatchObject({ code: 'DATA_MISSING' });
    expect(existsSync(join(folder, 'data'))).toBe(false);
    renameSync(join(folder, 'away'), join(folder, 'data'));
    await (await startEmbeddedDatabase({ folder })).stop();
  });

  it('may not be written by this user [cli.start.no-rights]', async () => {
    const user = isRoot ? nobody : undefined;
    const closed = join(places.fresh(), '..');
    chmodSync(closed, 0o555);
    await expect(startWorkspace({ folder: join(closed, 'db'), user })).rejects.toMatchObject({
      code: 'FOLDER_UNUSABLE',
      message: expect.stringContaining(closed),
    });
    const existing = places.used(user);
    rmSync(join(existing, 'owner.lock'));
    chmodSync(existing, 0o500);
    await expect(startWorkspace({ folder: existing, user })).rejects.toMatchObject({ code: 'FOLDER_UNUSABLE' });
    for (const folder of [closed, existing]) chmodSync(folder, 0o755);
  });

  it('is a file', async () => {
    const file = join(places.fresh(), '..', 'file');
    writeFileSync(file, '');
    await expect(startEmbeddedDatabase({ folder: join(file, 'db') })).rejects.toMatchObject({
      code: 'FOLDER_UNUSABLE',
    });
  });

  it('was written by another major version', async () => {
    const folder = places.used();
    writeFileSync(join(folder, 'data', 'PG_VERSION'), '17\n');
    await expect(startEmbeddedDatabase({ folder })).rejects.toMatchObject({
      code: 'INCOMPATIBLE_DATA',
      advice: expect.stringContaining('svc backup'),
    });
  });

  it('has lost parts of its data', async () => {
    const withoutVersion = places.used();
    unlinkSync(join(withoutVersion, 'data', 'PG_VERSION'));
    await expect(startEmbeddedDatabase({ folder: withoutVersion })).rejects.toMatchObject({ code: 'DATA_DAMAGED' });
    const withoutControl = places.used();
    truncateSync(join(withoutControl, 'data', 'global', 'pg_control'), 0);
    await expect(startEmbeddedDatabase({ folder: withoutControl })).rejects.toMatchObject({ code: 'DATA_DAMAGED' });
  });

  it('is free again after each refusal', async () => {
    const folder = places.used();
    writeFileSync(join(folder, 'data', 'PG_VERSION'), '17\n');
    await expect(startEmbeddedDatabase({ folder })).rejects.toMatchObject({ code: 'INCOMPATIBLE_DATA' });
    writeFileSync(join(folder, 'data', 'PG_VERSION'), '18\n');
    await using _database = await startEmbeddedDatabase({ folder });
  });
});

describe('a full disk', () => {
  it('is named before anything is created, and when a database has no room left to start [cli.start.disk-full]', async () => {
    const disk = join(places.fresh(), '..', 'disk');
    if (!mountSmallDisk(disk, 90)) return expect(isRoot && process.platform === 'linux').toBe(false);
    try {
      await expect(startEmbeddedDatabase({ folder: join(disk, 'db') })).rejects.toMatchObject({
        code: 'DISK_FULL',
        advice: expect.stringContaining('Free some space'),
      });
      rmSync(join(disk, 'db'), { recursive: true, force: true });
      execFileSync('cp', ['-a', places.used(), join(disk, 'db')]);
      const filler = fill(disk);
      await expect(startEmbeddedDatabase({ folder: join(disk, 'db') })).rejects.toMatchObject({ code: 'DISK_FULL' });
      rmSync(filler);
      await using _database = await startEmbeddedDatabase({ folder: join(disk, 'db') });
    } finally {
      execFileSync('umount', [disk]);
    }
  });
});

describe('the binaries', () => {
  it('are missing for a processor that nobody built them for', async () => {
    await expect(startWorkspace({ folder: places.fresh(), arch: 'riscv64' })).rejects.toMatchObject({
      code: 'BINARIES_MISSING',
      message: expect.stringContaining('riscv64'),
    });
  });

  it('are found by a check-up', () => {
    expect(embeddedBinariesProblem()).toBeNull();
  });

  it('are copied where their user can run them, with their links, once', () => {
    const closed = join(places.fresh(), '..', 'closed');
    const root = join(places.fresh(), '..');
    mkdirSync(closed, { mode: 0o700 });
    const source = findPackage(root);
    cpSync(source.nativeFolder, join(closed, 'native'), { recursive: true, verbatimSymlinks: true });
    for (const name of readdirSync(join(closed, 'native', 'lib'), { withFileTypes: true })) {
      if (name.isSymbolicLink()) unlinkSync(join(closed, 'native', 'lib', name.name));
    }
    const unreachable = { nativeFolder: join(closed, 'native'), version: source.version };
    // Root stands for itself elsewhere; for others the folder is closed to all.
    const user = isRoot ? nobody : undefined;
    if (user === undefined) chmodSync(closed, 0o700);
    let copies = 0;
    const first = findBinaries(unreachable, root, user, () => copies++);
    expect(findBinaries(unreachable, root, user, () => copies++)).toEqual(first);
    expect(copies).toBe(isRoot ? 1 : 0);
    expect(first.major).toBe(18);
  });

  it('say so when they do not run here', () => {
    const root = join(places.fresh(), '..');
    const broken = join(root, 'broken', 'native');
    mkdirSync(join(broken, 'bin'), { recursive: true });
    writeFileSync(join(broken, 'bin', 'postgres'), 'not a program', { mode: 0o755 });
    expect(() => findBinaries({ nativeFolder: broken, version: '18.0' }, root, undefined, () => undefined)).toThrow(
      expect.objectContaining({ code: 'BINARIES_UNUSABLE' }),
    );
  });
});
