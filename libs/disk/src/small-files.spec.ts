import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '@workspace-graph/contracts';
import { HeldFolder, locate, NewFiles, PathFinder, readSmall } from './index.js';

let root: string;
let outside: string;
beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'small-files-'));
  root = join(outside, 'root');
  await mkdir(join(root, 'wip'), { recursive: true });
});
afterEach(() => rm(outside, { recursive: true }));

const bytes = Buffer.from('text');
const codeOf = (outcome: PromiseSettledResult<unknown> | undefined): string => {
  if (outcome?.status !== 'rejected') return outcome?.status ?? 'nothing';
  return outcome.reason instanceof ServiceError ? outcome.reason.code : String(outcome.reason);
};

describe('new files that come into one folder together', () => {
  it('have their names when all are written, with their times, in a folder that is made for them', async () => {
    const modifiedMs = Date.parse('2026-01-02T03:04:05.000Z');
    const paths = ['wip/new/a.txt', 'wip/new/b.txt'];
    await using files = await NewFiles.of(await locate(root, 'wip/new/a.txt'));
    for (const path of paths) await files.write({ path, bytes, modifiedMs });
    expect((await readdir(join(root, 'wip/new'))).every((name) => name.startsWith('.svc-'))).toBe(true);
    const outcomes = await files.name(paths);
    expect(paths.map((path) => codeOf(outcomes.get(path)))).toEqual(['fulfilled', 'fulfilled']);
    expect((await readdir(join(root, 'wip/new'))).sort()).toEqual(['a.txt', 'b.txt']);
    expect((await stat(join(root, 'wip/new/a.txt'))).mtimeMs).toBe(modifiedMs);
    expect(await readFile(join(root, 'wip/new/b.txt'), 'utf8')).toBe('text');
  });

  it('take no name that is taken, by a twin or by another of them, and leave nothing of what was refused', async () => {
    await writeFile(join(root, 'wip/taken.txt'), 'first');
    await writeFile(join(root, 'wip/Twin.txt'), 'first');
    const paths = ['wip/taken.txt', 'wip/twin.txt', 'wip/new.txt', 'wip/NEW.txt'];
    {
      await using files = await NewFiles.of(await locate(root, 'wip/new.txt'));
      await Promise.all(paths.map((path) => files.write({ path, bytes })));
      const outcomes = await files.name(paths);
      expect(paths.map((path) => codeOf(outcomes.get(path)))).toEqual([
        'DESTINATION_EXISTS',
        'DESTINATION_EXISTS',
        'fulfilled',
        'DESTINATION_EXISTS',
      ]);
    }
    expect((await readdir(join(root, 'wip'))).sort()).toEqual(['Twin.txt', 'new.txt', 'taken.txt']);
    expect(await readFile(join(root, 'wip/taken.txt'), 'utf8')).toBe('first');
  });

  it('tell of one into which somebody wrote before it had its name', async () => {
    const path = 'wip/a.txt';
    await using files = await NewFiles.of(await locate(root, path));
    await files.write({ path, bytes });
    const [temporary = ''] = await readdir(join(root, 'wip'));
    await writeFile(join(root, 'wip', temporary), 'of somebody else');
    expect((await files.name([path])).get(path)).toMatchObject({ value: { isAsWritten: false } });
  });

  it('get no names in a folder that was moved away', async () => {
    const path = 'wip/a.txt';
    {
      await using files = await NewFiles.of(await locate(root, path));
      await files.write({ path, bytes });
      await rename(join(root, 'wip'), join(outside, 'away'));
      await expect(files.name([path])).rejects.toMatchObject({ code: 'CONFLICT' });
    }
    expect(await readdir(join(outside, 'away'))).toEqual([]);
  });
});

describe('a small file that is read as a whole', () => {
  it('is answered with what it is; whatever is out of the ordinary is not', async () => {
    await writeFile(join(root, 'wip/a.txt'), 'text');
    await writeFile(join(root, 'wip/empty.txt'), '');
    await symlink(join(root, 'wip/a.txt'), join(root, 'wip/link'));
    await mkdir(join(root, 'wip/folder'));
    await using folder = await HeldFolder.of(await locate(root, 'wip/a.txt'));
    const read = async (name: string, maxBytes = 4): Promise<string | null> => {
      const content = await readSmall(folder, name, maxBytes);
      return content && Buffer.from(content.bytes).toString();
    };
    expect(await read('a.txt')).toBe('text');
    expect(await read('empty.txt')).toBe('');
    expect(await read('a.txt', 3)).toBeNull();
    expect(await Promise.all(['link', 'folder', 'none'].map((name) => read(name)))).toEqual([null, null, null]);
  });
});

describe('many paths that are found together', () => {
  it('are found as each is by itself', async () => {
    await mkdir(join(root, 'wip/deep'));
    await writeFile(join(root, 'wip/deep/a.txt'), 'text');
    await symlink(outside, join(root, 'wip/link'));
    const paths = new PathFinder(root);
    for (const path of ['wip', 'wip/deep/a.txt', 'wip/deep/b.txt', 'wip/none/at/all.txt', 'wip/deep/a.txt/below'])
      expect(await paths.locate(path)).toEqual(await locate(root, path));
    for (const path of ['wip/link', 'wip/link/a.txt', 'wip/../a.txt', 'wip//a.txt'])
      await expect(paths.locate(path)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});
