import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asideName, temporaryName } from '@workspace-graph/disk';
import { SmallDisk } from '@workspace-graph/testing';
import { remoteConformance } from '../conformance/remote.conformance.js';
import { bytesOf, failureOf } from '../conformance/stage.js';
import { type RemoteFailure, serviceErrorOf } from '../port/index.js';
import { fsWorld } from './fs.fixture.js';
import { FsRemote } from './fs.remote.js';
import { onRemote } from './fs-failure.js';

const noDisk = 'this run may not mount a disk';
remoteConformance('fs', fsWorld, SmallDisk.available() ? {} : { forbidden: noDisk, full: noDisk });

describe('a folder as a remote', () => {
  let folder: string;
  let root: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fs-remote-'));
    root = join(folder, 'root');
    await mkdir(root);
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function entries(remote: FsRemote): Promise<unknown[]> {
    const found = [];
    for await (const page of remote.list('', { recursive: true })) found.push(...page);
    return found.map(({ kind, path, hasTwin }) => [kind, path, hasTwin]).sort();
  }

  it('follows no symbolic link out of it, and tells them [files.path.symlinks-not-followed]', async () => {
    await writeFile(join(folder, 'secret'), 'secret');
    await symlink(join(folder, 'secret'), join(root, 'link'));
    await symlink(folder, join(root, 'folder-link'));
    await using remote = await FsRemote.open(root);
    expect(await failureOf(remote.read('link'))).toBe('name_refused');
    expect(await failureOf(remote.read('folder-link/secret'))).toBe('name_refused');
    expect(await failureOf(remote.write('folder-link/new', bytesOf('x'), { expected: null }))).toBe('name_refused');
    expect(await entries(remote)).toEqual([
      ['other', 'folder-link', false],
      ['other', 'link', false],
    ]);
    expect((await readdir(folder)).sort()).toEqual(['root', 'secret']);
  });

  (SmallDisk.available() ? it : it.skip)('takes large contents also for a folder on another disk', async () => {
    const [mounted, path] = [join(root, 'wip'), 'wip/film.bin'];
    await mkdir(mounted);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mounted]);
    try {
      await using remote = await FsRemote.open(root);
      const uploaded = async (...parts: string[]): Promise<string> => {
        const upload = await remote.uploads.begin(path);
        let done = 0;
        for (const part of parts) done = await remote.uploads.append(upload, done, bytesOf(part));
        return upload;
      };
      const modifiedAt = '2026-01-02T03:04:05.000Z';
      const first = await uploaded('half ', 'of it');
      const file = await remote.uploads.finish(first, { expected: null, modifiedAt });
      expect([file.path, file.sizeBytes, file.modifiedAt]).toEqual([path, 10, modifiedAt]);
      const second = await uploaded('another one');
      expect(await failureOf(remote.uploads.finish(second, { expected: null }))).toBe('exists');
      expect(await readFile(join(root, path), 'utf8')).toBe('half of it');
      await remote.uploads.finish(second, { expected: file.revision });
      expect(await readFile(join(root, path), 'utf8')).toBe('another one');
      expect([await readdir(mounted), await readdir(join(root, '.svc-uploads'))]).toEqual([['film.bin'], []]);
    } finally {
      execFileSync('umount', [mounted]);
    }
  });

  it('is rid of what a killed process was writing, after a day', async () => {
    const day = 24 * 60 * 60_000;
    const old = new Date(Date.now() - day - 1_000);
    const [of, by] = [temporaryName(), temporaryName()];
    for (const path of ['wip/deep', '.svc-drafts']) await mkdir(join(root, path), { recursive: true });
    for (const name of [of, by]) await writeFile(join(root, 'wip/deep', name), 'half of it');
    for (const id of ['one', 'two'])
      await writeFile(join(root, '.svc-drafts', id), id === 'one' ? 'wip/deep' : 'none/at/all');
    for (const path of [`wip/deep/${of}`, '.svc-drafts/one', '.svc-drafts/two'])
      await utimes(join(root, path), old, old);
    await using remote = await FsRemote.open(root);
    expect(await readdir(join(root, 'wip/deep'))).toEqual([by]);
    expect(await readdir(join(root, '.svc-drafts'))).toEqual([]);
    expect(await entries(remote)).toEqual([
      ['folder', 'wip', false],
      ['folder', 'wip/deep', false],
    ]);
  });

  it('notes where it writes, as long as it does', async () => {
    await using remote = await FsRemote.open(root);
    const arrived = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      arrived.resolve();
      await goOn.promise;
    }
    const written = remote.write('wip/a.txt', bytes(), { expected: null });
    await arrived.promise;
    const [note = ''] = await readdir(join(root, '.svc-drafts'));
    expect(await readFile(join(root, '.svc-drafts', note), 'utf8')).toBe('wip');
    goOn.resolve();
    await written;
    expect(await readdir(join(root, '.svc-drafts'))).toEqual([]);
  });

  (SmallDisk.available() ? it : it.skip)(
    'is told as a folder that cannot be written where its disk takes no changes',
    async () => {
      using disk = new SmallDisk(20);
      const shared = join(disk.folder, 'root');
      await mkdir(shared);
      await using remote = await FsRemote.open(shared);
      disk.setReadOnly(true);
      const failure: unknown = await remote.write('wip/a.md', bytesOf('x'), { expected: null }).catch((error) => error);
      disk.setReadOnly(false);
      expect(failure).toMatchObject({ reason: 'forbidden', facts: { path: 'wip/a.md', folder: 'read_only' } });
      expect(serviceErrorOf(failure as RemoteFailure, 'team')).toMatchObject({
        code: 'REMOTE_REFUSED',
        message: 'The folder of the remote team cannot be written: its disk is read-only. This was about wip/a.md.',
      });
    },
  );

  it.each(['EACCES', 'EPERM'])('that gives no right (%s) is told as that, and knows no credentials', async (code) => {
    const refused = onRemote('wip/a.md', () => Promise.reject(Object.assign(new Error(code), { code })));
    const failure = await refused.catch((error: unknown) => error as RemoteFailure);
    expect(serviceErrorOf(failure, 'team')).toMatchObject({
      code: 'REMOTE_REFUSED',
      message: expect.stringMatching(/^The folder of the remote team cannot be read or written: .* wip\/a\.md\.$/),
    });
  });

  it('is not there, rather than empty, when its folder is not', async () => {
    expect(await failureOf(FsRemote.open(join(folder, 'none')))).toBe('unavailable');
    await using remote = await FsRemote.open(root);
    await rename(root, join(folder, 'away'));
    expect(await failureOf(entries(remote))).toBe('unavailable');
    expect(await failureOf(remote.write('a', bytesOf('x'), { expected: null }))).toBe('unavailable');
  });

  it('reads names in any normal form, and tells twins of form [files.path.one-name]', async () => {
    await writeFile(join(root, 'Z\u030ca\u0301k.md'), 'decomposed');
    await using remote = await FsRemote.open(root);
    expect(await entries(remote)).toEqual([['file', '\u017d\u00e1k.md', false]]);
    expect(await remote.stat('\u017d\u00e1k.md')).toMatchObject({ path: '\u017d\u00e1k.md', sizeBytes: 10 });
    await writeFile(join(root, '\u017d\u00e1k.md'), 'composed');
    expect(await entries(remote)).toEqual(Array(2).fill(['file', '\u017d\u00e1k.md', true]));
  });

  it('tells names that are no text, and that no path can hold', async () => {
    await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x61, 0xff])]), 'x');
    await writeFile(join(root, 'back\\slash'), 'x');
    await using remote = await FsRemote.open(root);
    expect(await entries(remote)).toEqual([
      ['other', 'a\ufffd', false],
      ['other', 'back\\slash', false],
    ]);
  });

  it('gives files back that a killed process had taken aside', async () => {
    const [lost, displaced] = ['0b8d6a52-0000-4000-8000-000000000001', '0b8d6a52-0000-4000-8000-000000000002'];
    await mkdir(join(root, '.svc-asides'));
    await mkdir(join(root, 'wip'));
    await writeFile(join(root, 'wip', asideName(lost)), 'lost');
    await writeFile(join(root, 'wip', asideName(displaced)), 'displaced');
    await writeFile(join(root, 'wip/b.txt'), 'newer');
    for (const [id, path] of [
      [lost, 'wip/a.txt'],
      [displaced, 'wip/b.txt'],
    ] as const) {
      await writeFile(join(root, '.svc-asides', id), path);
      await utimes(join(root, '.svc-asides', id), 1, 1);
    }
    await using _remote = await FsRemote.open(root);
    expect(await readFile(join(root, 'wip/a.txt'), 'utf8')).toBe('lost');
    expect(await readFile(join(root, 'wip', asideName(displaced)), 'utf8')).toBe('displaced');
    expect(await readFile(join(root, 'wip/b.txt'), 'utf8')).toBe('newer');
  });

  it('leaves alone what a call of another process has in its hands', async () => {
    const id = '0b8d6a52-0000-4000-8000-000000000003';
    await mkdir(join(root, '.svc-asides'));
    await writeFile(join(root, asideName(id)), 'in hand');
    await writeFile(join(root, '.svc-asides', id), 'a.txt');
    await using remote = await FsRemote.open(root);
    expect(await remote.stat('a.txt')).toBeNull();
  });

  it('refuses a read that a writer overtakes', async () => {
    await writeFile(join(root, 'a.txt'), 'x'.repeat(600_000));
    await using remote = await FsRemote.open(root);
    await using content = await remote.read('a.txt');
    const reading = async (): Promise<void> => {
      for await (const _chunk of content.bytes) await writeFile(join(root, 'a.txt'), 'y'.repeat(600_001));
    };
    expect(await failureOf(reading())).toBe('changed');
  });
});
