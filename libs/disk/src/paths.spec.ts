import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  link,
  mkdir,
  mkdtemp,
  writeFile as put,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '@workspace-graph/contracts';
import { SmallDisk } from '@workspace-graph/testing';
import fc from 'fast-check';
import { locate, moveFile, openForReading, readContent, StagedFile } from './index.js';
import { unnotedAsides, writeWhole } from './write.fixture.js';

let root: string;
let mirror: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'svc-paths-')));
  mirror = join(root, 'mirror');
  await mkdir(join(mirror, 'wip/deep'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

const sha = (content: string) => createHash('sha256').update(content).digest('hex');
async function* bytes(...chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => new Error('it was accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw error;
  return error.code;
};

describe('a path in a mirror', () => {
  it('reads regular files alone, and never waits [files.path.symlinks-not-followed]', async () => {
    await put(join(root, 'secret'), 'secret');
    await put(join(mirror, 'wip/a.md'), 'a');
    execFileSync('mkfifo', [join(mirror, 'wip/pipe')]);
    await symlink(join(root, 'secret'), join(mirror, 'wip/link'));
    await symlink(root, join(mirror, 'wip/folder-link'));
    const socket = createServer().listen(join(mirror, 'wip/socket'));
    await once(socket, 'listening');
    try {
      expect((await readContent(await locate(mirror, 'wip/a.md'))).sha256).toBe(sha('a'));
      for (const path of ['wip/pipe', 'wip/socket', 'wip/deep', 'wip/none', 'wip/a.md/b'])
        expect([path, await refusal(locate(mirror, path).then(openForReading))]).toEqual([path, 'FILE_NOT_FOUND']);
      for (const path of [
        'wip/link',
        'wip/folder-link/secret',
        'wip/../../secret',
        '../secret',
        '/etc/passwd',
        'wip/a\0',
      ])
        expect([path, await refusal(locate(mirror, path))]).toEqual([path, 'VALIDATION_FAILED']);
    } finally {
      await new Promise((resolve) => socket.close(resolve));
    }
  });

  it('is the checked one still when a link takes the place of a folder after the check', async () => {
    const outside = join(root, 'outside');
    await mkdir(outside);
    await put(join(outside, 'a.md'), 'secret');
    await put(join(mirror, 'wip/deep/a.md'), 'mine');
    const [old, fresh] = [await locate(mirror, 'wip/deep/a.md'), await locate(mirror, 'wip/deep/new.md')];
    await rename(join(mirror, 'wip/deep'), join(mirror, 'wip/moved'));
    await symlink(outside, join(mirror, 'wip/deep'));
    expect(await refusal(openForReading(old))).toBe('VALIDATION_FAILED');
    expect(await refusal(writeWhole(fresh, bytes('x'), { replace: false }))).toBe('VALIDATION_FAILED');
    expect(await refusal(moveFile(old, await locate(mirror, 'wip/b.md'), { asides: unnotedAsides() }))).toBe(
      'VALIDATION_FAILED',
    );
    expect(await readdir(outside)).toEqual(['a.md']);
  });

  it('is written where it was held, or not at all, when its folder leaves the mirror meanwhile', async () => {
    const at = await locate(mirror, 'wip/deep/a.md');
    await using staged = await StagedFile.of(at, bytes('new'));
    await rename(join(mirror, 'wip/deep'), join(root, 'away'));
    expect(await refusal(staged.commit())).toBe('CONFLICT');
    await staged[Symbol.asyncDispose]();
    expect(await readdir(join(root, 'away'))).toEqual([]);
  });

  it('changes nothing outside through a hard link', async () => {
    await put(join(root, 'outside.md'), 'outside');
    await link(join(root, 'outside.md'), join(mirror, 'wip/a.md'));
    await writeWhole(await locate(mirror, 'wip/a.md'), bytes('inside'), { replace: true });
    expect(await readFile(join(root, 'outside.md'), 'utf8')).toBe('outside');
    expect(await readFile(join(mirror, 'wip/a.md'), 'utf8')).toBe('inside');
  });

  it('is never overwritten by a race: of many writers of a new file one wins', async () => {
    const at = await locate(mirror, 'wip/new/a.md');
    const tries = await Promise.allSettled(
      Array.from({ length: 16 }, (_, index) => writeWhole(at, bytes(`by ${index}`), { replace: false })),
    );
    const won = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(won).toEqual([sha(await readFile(at.absolute, 'utf8'))]);
    expect(await readdir(join(mirror, 'wip/new'))).toEqual(['a.md']);
  });

  it('is whole or absent after a kill -9 of who writes [files.write.atomic]', async () => {
    const writer = fileURLToPath(new URL('./kill-writer.fixture.ts', import.meta.url));
    const hooks = new URL('./source.fixture.mjs', import.meta.url).href;
    const flags = ['--conditions=@workspace-graph/source', '--no-warnings', '--import', hooks];
    const child = spawn(process.execPath, [...flags, writer, mirror], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    let lines = 0;
    for await (const chunk of child.stdout) {
      lines += String(chunk).split('\n').length - 1;
      if (lines >= 8) child.kill('SIGKILL');
    }
    expect((await ended)[1]).toBe('SIGKILL');
    const names = await readdir(join(mirror, 'wip'));
    const files = names.filter((name) => name.endsWith('.txt'));
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) {
      const content = await readFile(join(mirror, 'wip', name), 'utf8');
      expect([name, sha(content.slice(64))]).toEqual([name, content.slice(0, 64)]);
    }
    expect(names.filter((name) => !name.endsWith('.txt') && name !== 'deep' && !name.startsWith('.svc-'))).toEqual([]);
  });

  const onSmallDisk = SmallDisk.available() ? it : it.skip;
  onSmallDisk('leaves nothing of a file for which the disk has no room', async () => {
    using disk = new SmallDisk(4, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
    await mkdir(join(disk.folder, 'wip'));
    await put(join(disk.folder, 'wip/old.md'), 'old');
    disk.fill(256 * 1024);
    const chunk = 'x'.repeat(64 * 1024);
    for (const path of ['wip/new/big.md', 'wip/old.md']) {
      const at = await locate(disk.folder, path);
      const work = writeWhole(at, bytes(...Array.from({ length: 16 }, () => chunk)), { replace: true });
      expect(await refusal(work)).toBe('STORAGE_FULL');
    }
    expect(await readFile(join(disk.folder, 'wip/old.md'), 'utf8')).toBe('old');
    const names = await readdir(join(disk.folder, 'wip'), { recursive: true });
    expect(names.filter((name) => name.includes('.svc-') || name.includes('big'))).toEqual([]);
  });
});

describe('hostile names', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      'wip',
      'deep',
      'a.md',
      'link',
      'LINK',
      'CON',
      'nul.txt',
      '.svc-x',
      'é',
      'é',
      'ﬁle',
      'K',
      'a:b',
    ),
    fc.constantFrom(
      'a\0b',
      'a\nb',
      'a\\b',
      '..\\..',
      '\u202ename',
      '\ud800',
      'x'.repeat(255),
      'é'.repeat(200),
      ' ',
      'end.',
    ),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const path = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('/'));

  it('never lead out of the mirror, to read or to write', async () => {
    const outside = join(root, 'outside');
    await mkdir(outside);
    await put(join(outside, 'a.md'), 'secret');
    for (const place of ['wip/link', 'wip/deep/link', 'link']) await symlink(outside, join(mirror, place));
    await symlink(join(outside, 'a.md'), join(mirror, 'wip/deep/a.md'));
    await link(join(outside, 'a.md'), join(mirror, 'wip/hard.md'));
    await fc.assert(
      fc.asyncProperty(path, fc.boolean(), async (text, replace) => {
        try {
          const at = await locate(mirror, text);
          expect(at.absolute.startsWith(`${mirror}/`)).toBe(true);
          await writeWhole(at, bytes('written'), { replace });
          expect((await readContent(await locate(mirror, text))).sha256).toBe(sha('written'));
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          expect(error.code).not.toBe('INTERNAL');
        }
      }),
      { numRuns: Number(process.env['SVC_FUZZ_PATHS'] ?? 1_000) },
    );
    expect(await readdir(outside)).toEqual(['a.md']);
    expect(await readFile(join(outside, 'a.md'), 'utf8')).toBe('secret');
    expect((await readdir(root)).toSorted()).toEqual(['mirror', 'outside']);
    expect((await stat(join(outside, 'a.md'))).nlink).toBe(2);
  }, 600_000);
});
