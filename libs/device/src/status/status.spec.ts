import { mkdir, open, readdir, rename, rm, rmdir, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileStatus, type InputOf, type OutputOf, STATUS_BUCKETS } from '@workspace-graph/contracts';
import fc from 'fast-check';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';

type Answer = OutputOf<typeof fileStatus>;

let device: DeviceFixture;
let node: { nodeId: string; path: string };
beforeEach(async () => {
  device = await startDevice();
  node = await mirror('Alpha');
});
afterEach(() => device.close());

/** A mirror whose first scan has ended. */
async function mirror(name: string): Promise<{ nodeId: string; path: string }> {
  const made = await device.mirror(name);
  const row = device.parts.store.mirror(made.nodeId);
  if (!row) throw new Error('it was just registered');
  device.parts.store.putMirror({ ...row, scannedAt: '2026-01-01T00:00:00.000Z' });
  return made;
}

async function put(path: string, content = path, to = node): Promise<void> {
  await mkdir(dirname(join(to.path, path)), { recursive: true });
  await writeFile(join(to.path, path), content);
}

async function track(paths: readonly string[], to = node): Promise<void> {
  const deltas = paths.map((path) => ({
    kind: 'register' as const,
    path,
    seen: {
      sha256: 'a'.repeat(64),
      sizeBytes: 7,
      mimeType: 'text/plain',
      modifiedAt: '2026-01-01T00:00:00.000Z',
      stamp: '7:7',
      inode: null,
    },
  }));
  await device.parts.files.apply(to.nodeId, deltas, { action: 'scan', asker: null, strict: true });
}

async function putTracked(paths: readonly string[], to = node): Promise<void> {
  for (const path of paths) await put(path, path, to);
  await track(paths, to);
}

const status = (input: InputOf<typeof fileStatus> = {}): Promise<Answer> => device.call(fileStatus, input);
const paths = (entries: readonly { path: string }[]): string[] => entries.map(({ path }) => path);
const problems = (entries: Answer['clean']): (readonly [string, string | null])[] =>
  entries.map(({ path, problem }) => [path, problem]);

function sizes({ counts }: Answer): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, size]) => size > 0));
}

describe('the state of files', () => {
  it('is clean, deleted or new, each in its bucket, by path and with true sizes [files.status.buckets, files.class.local-only]', async () => {
    await putTracked(['wip/b.md', 'outputs/a.md', 'wip/gone.md', 'wip/changed.md']);
    await unlink(join(node.path, 'wip/gone.md'));
    await writeFile(join(node.path, 'wip/changed.md'), 'another content that nobody has read yet');
    await put('resources/new.pdf', '12345');
    const answer = await status();
    expect(Object.keys(answer).toSorted()).toEqual([...STATUS_BUCKETS, 'counts', 'truncated'].toSorted());
    expect(paths(answer.clean)).toEqual(['outputs/a.md', 'wip/b.md', 'wip/changed.md']);
    expect(answer.deleted_local).toMatchObject([{ path: 'wip/gone.md', section: 'wip', local_path: null }]);
    expect(answer.new_local).toEqual([
      {
        file_id: null,
        node_id: node.nodeId,
        path: 'resources/new.pdf',
        section: 'resources',
        size_bytes: 5,
        local_path: join(node.path, 'resources/new.pdf'),
        problem: null,
      },
    ]);
    expect(answer.clean[1]).toMatchObject({
      file_id: device.records.recordAt(node.nodeId, 'wip/b.md')?.id,
      local_path: join(node.path, 'wip/b.md'),
      problem: null,
    });
    expect([sizes(answer), answer.truncated]).toEqual([{ clean: 3, deleted_local: 1, new_local: 1 }, false]);
  });

  it('asks for nothing but what the caller sees, and changes nothing [files.status.pure-read]', async () => {
    await putTracked(['wip/a.md', 'wip/gone.md']);
    await unlink(join(node.path, 'wip/gone.md'));
    await put('wip/new.md');
    const facts = async (): Promise<unknown> => [
      [...device.parts.store.filesOf(node.nodeId)],
      device.parts.store.mirrors(),
      [...device.records.records.values()],
      (await readdir(device.root, { recursive: true })).toSorted(),
    ];
    const before = await facts();
    const callsBefore = device.records.calls;
    await status();
    expect(device.records.calls - callsBefore).toBe(1);
    expect(await facts()).toEqual(before);
  });

  it('tells every entry once over pages, and truncated exactly when some are left out [files.status.truncated, files.status.filters]', async () => {
    const tracked = ['wip/a.md', 'wip/b/c.md', 'wip/b-side.md', 'wip/d.md', 'outputs/x.md'];
    await putTracked(tracked);
    await put('wip/b/new.md');
    for (const limit of [1, 2, 3, 5]) {
      const seen: string[] = [];
      for (let offset = 0; offset < 6; offset += limit) {
        const page = await status({ limit, offset });
        seen.push(...paths(page.clean));
        expect(page.truncated).toBe(page.clean.length < 5 || page.new_local.length < 1);
        expect(sizes(page)).toEqual({ clean: 5, new_local: 1 });
      }
      expect(seen).toEqual(['outputs/x.md', 'wip/a.md', 'wip/b-side.md', 'wip/b/c.md', 'wip/d.md']);
    }
  });

  it('is thinned by class and by folder at whole names, with sizes that stay true [files.status.filters]', async () => {
    await putTracked(['wip/a/one.md', 'wip/ab/two.md', 'wip/a.md']);
    await put('wip/a/new.md');
    const byFolder = await status({ path_prefix: 'wip/a' });
    expect([paths(byFolder.clean), paths(byFolder.new_local)]).toEqual([['wip/a/one.md'], ['wip/a/new.md']]);
    expect([sizes(byFolder), byFolder.truncated]).toEqual([{ clean: 3, new_local: 1 }, true]);
    expect(paths((await status({ path_prefix: 'wip/a/' })).clean)).toEqual(['wip/a/one.md']);
    expect(paths((await status({ path_prefix: 'wip/a/one.md' })).clean)).toEqual(['wip/a/one.md']);
    const byClass = await status({ classes: ['new_local', 'conflict'] });
    expect([byClass.clean, paths(byClass.new_local), byClass.truncated]).toEqual([[], ['wip/a/new.md'], true]);
    const both = await status({ classes: ['clean'], path_prefix: 'wip', limit: 1, offset: 1 });
    expect([paths(both.clean), both.truncated]).toEqual([['wip/a/one.md'], true]);
    const ofRemote = await status({ remote_name: 'store' });
    expect([ofRemote.clean, ofRemote.counts.clean, ofRemote.truncated]).toEqual([[], 3, true]);
    for (const path_prefix of ['../wip', 'wip//a', 'wip/./a', 'wip\\a', '/'])
      await device.refusal(fileStatus, { path_prefix }, 'VALIDATION_FAILED');
  });

  it('has no new files when they are not looked for [files.status.discovery]', async () => {
    await putTracked(['wip/deep/a.md']);
    await put('wip/deep/new.md');
    expect(sizes(await status({ include_discovery: false }))).toEqual({ clean: 1 });
    expect(sizes(await status())).toEqual({ clean: 1, new_local: 1 });
  });

  it('leaves out what is ignored, but nothing that is tracked [files.ignore.svcignore]', async () => {
    await putTracked(['wip/build/kept.md']);
    for (const path of [
      'wip/.git/config',
      'wip/x.tmp',
      'wip/build/out.o',
      'wip/sub/a.log',
      'wip/sub/b.txt',
      'notes.md',
    ])
      await put(path);
    await put('.svcignore', 'build/\n');
    await put('wip/sub/.svcignore', '*.log\n');
    const answer = await status();
    expect([paths(answer.clean), paths(answer.new_local)]).toEqual([['wip/build/kept.md'], ['wip/sub/b.txt']]);
  });

  it('is the last known one, with the reason, while the folder is missing or the first scan has not ended', async () => {
    await putTracked(['wip/a.md', 'wip/b.md']);
    await rename(node.path, `${node.path}-away`);
    const away = await status();
    expect(sizes(away)).toEqual({ clean: 2 });
    expect(away.clean[0]?.problem).toContain('is missing');
    await rename(`${node.path}-away`, node.path);

    await unlink(join(node.path, 'wip/a.md'));
    expect(sizes(await status())).toEqual({ clean: 1, deleted_local: 1 });
    const row = device.parts.store.mirror(node.nodeId);
    if (row) device.parts.store.putMirror({ ...row, scannedAt: null });
    const early = await status();
    expect(sizes(early)).toEqual({ clean: 2 });
    expect(problems(early.clean)).toEqual([
      ['wip/a.md', expect.stringContaining('first scan')],
      ['wip/b.md', null],
    ]);
  });

  it('says why a name that lies there is not tracked, and follows no link', async () => {
    await putTracked(['wip/Plan.md', 'wip/caf\u00e9.md', 'wip/linked.md', 'wip/folder/inside.md']);
    await rename(join(node.path, 'wip/caf\u00e9.md'), join(node.path, 'wip/cafe\u0301.md'));
    await rename(join(node.path, 'wip/folder'), join(device.root, 'elsewhere'));
    await symlink(join(device.root, 'elsewhere'), join(node.path, 'wip/folder'));
    await unlink(join(node.path, 'wip/linked.md'));
    await symlink('/etc/hostname', join(node.path, 'wip/linked.md'));
    await put('wip/plan.md');
    await put('wip/line\nbreak.md');
    await writeFile(Buffer.concat([Buffer.from(join(node.path, 'wip/')), Buffer.from([0xff, 0xfe])]), '');
    const answer = await status();
    expect(problems(answer.new_local)).toEqual([
      ['wip/folder', expect.stringContaining('symbolic link')],
      ['wip/line\nbreak.md', expect.stringContaining('control character')],
      ['wip/plan.md', expect.stringContaining('wip/Plan.md')],
      ['wip/\ufffd\ufffd', expect.stringContaining('not valid Unicode text')],
    ]);
    expect(problems(answer.deleted_local)).toEqual([['wip/linked.md', expect.stringContaining('symbolic link')]]);
    expect(problems(answer.clean)).toEqual([
      ['wip/Plan.md', null],
      ['wip/caf\u00e9.md', null],
      ['wip/folder/inside.md', expect.stringContaining('symbolic link')],
    ]);
    expect(answer.clean[1]?.local_path).toBe(join(node.path, 'wip/cafe\u0301.md'));
    expect(JSON.stringify(answer)).not.toContain('elsewhere');
  });

  it('below a folder that cannot be read is told as not known', async () => {
    // The folder below `wip` has a path that is longer than a system call takes.
    const deep = join(device.root, ...Array.from({ length: 15 }, () => 'd'.repeat(250)), 'e'.repeat(80));
    const folder = 'f'.repeat(240);
    await mkdir(join(deep, 'wip'), { recursive: true });
    const row = device.parts.store.mirror(node.nodeId);
    if (!row) throw new Error('it was registered');
    await track([`wip/${folder}/a.md`, 'wip/b.md']);
    await put('wip/b.md', 'b', { ...node, path: deep });
    await using wip = await open(join(deep, 'wip'));
    const inside = `/proc/self/fd/${wip.fd}/${folder}`;
    await mkdir(inside);
    try {
      const { dev, ino } = await stat(deep, { bigint: true });
      device.parts.store.putMirror({ ...row, path: deep, identity: `${dev}:${ino}` });
      const answer = await status();
      expect(problems(answer.clean)).toEqual([
        ['wip/b.md', null],
        [`wip/${folder}/a.md`, expect.stringContaining('cannot be read')],
      ]);
      expect(problems(answer.new_local)).toEqual([[`wip/${folder}`, expect.stringContaining('cannot be read')]]);
    } finally {
      await rmdir(inside);
    }
  });

  it('is told of nodes that the caller sees, and of none other', async () => {
    const reader = device.caller('read');
    const hidden = await mirror('Hidden');
    const found = device.records.nodes.get(hidden.nodeId);
    if (found) device.records.nodes.set(hidden.nodeId, { ...found, seenBy: new Set() });
    await putTracked(['wip/secret.md'], hidden);
    await putTracked(['wip/a.md']);
    expect(sizes(await device.call(fileStatus, {}, reader))).toEqual({ clean: 1 });
    expect(sizes(await status())).toEqual({ clean: 2 });
    const refused = await device.refusal(fileStatus, { node_id: hidden.nodeId }, 'NODE_NOT_FOUND', reader);
    expect(refused.message).not.toContain('Hidden');
    expect(sizes(await status({ node_id: node.nodeId }))).toEqual({ clean: 1 });
    const bare = device.records.node({ name: 'Without a folder' });
    expect(sizes(await status({ node_id: bare }))).toEqual({});
  });

  it('names places on disk to an agent for its own node only', async () => {
    const other = await mirror('Other');
    await putTracked(['wip/a.md']);
    await putTracked(['wip/b.md'], other);
    const agent = { ...device.person('write'), home_node_id: node.nodeId };
    const { clean } = await device.call(fileStatus, {}, agent);
    expect(clean.map(({ path, local_path }) => [path, local_path])).toEqual([
      ['wip/a.md', join(node.path, 'wip/a.md')],
      ['wip/b.md', null],
    ]);
  });

  it('is what the sets of tracked names and of names on disk say, for names in any order', async () => {
    const names = [
      'a',
      'a.md',
      'a-b',
      'A0',
      'b/c',
      'b.c',
      'b0',
      'a!/x',
      '\u{1f600}',
      '\uffee',
      '\u00e9/e',
      'z/y/x',
      'z/y-x',
    ];
    const some = fc.uniqueArray(fc.constantFrom(...names.map((name) => `wip/${name}`)), { maxLength: names.length });
    await fc.assert(
      fc.asyncProperty(some, some, async (tracked, onDisk) => {
        const { nodeId, path } = node;
        await rm(join(path, 'wip'), { recursive: true });
        await mkdir(join(path, 'wip'));
        device.parts.store.changeFiles({ remove: [...device.parts.store.filesOf(nodeId)].map(({ fileId }) => fileId) });
        device.records.records.clear();
        for (const name of onDisk) await put(name);
        await track(tracked);
        const answer = await status();
        const sorted = (list: readonly string[]): string[] => list.toSorted(byBytes);
        expect(paths(answer.clean)).toEqual(sorted(tracked.filter((name) => onDisk.includes(name))));
        expect(paths(answer.deleted_local)).toEqual(sorted(tracked.filter((name) => !onDisk.includes(name))));
        expect(paths(answer.new_local)).toEqual(sorted(onDisk.filter((name) => !tracked.includes(name))));
      }),
      { numRuns: 60 },
    );
  });
});

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
