import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { workspacePaths } from '../../workspace/workspace-paths.js';
import { checkMirrors, checkStores, countFolders, unfollowedFinding, watchFinding } from './doctor-folders.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-doctor-'));
  await mkdir(join(root, '.svc'));
});
afterEach(() => rm(root, { recursive: true }));

describe('what the doctor says of folders', () => {
  it('is that databases are in order, or what is wrong with which of them and what to do', async () => {
    const states = (): string[] => checkStores(workspacePaths(root)).map(({ state }) => state);
    expect(states()).toEqual(['ok', 'ok']);
    const database = new DatabaseSync(join(root, '.svc/sync.db'));
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    expect(states()).toEqual(['ok', 'ok']);
    database.close();
    expect(states()).toEqual(['ok', 'ok']);
    await writeFile(join(root, '.svc/sync.db'), 'no database at all, but long enough to look at'.repeat(100));
    await writeFile(join(root, '.svc/search.db'), 'nor this'.repeat(1_000));
    expect(checkStores(workspacePaths(root))).toMatchObject([
      { check: 'registry', state: 'failed', advice: expect.stringContaining('sync.db') },
      { check: 'search index', state: 'warning', advice: expect.stringContaining('is rebuilt') },
    ]);
  });

  it('names folders that are missing or cannot be read, a few of them', () => {
    const mirror = (name: string, state: 'ready' | 'missing' | 'unreadable') => ({ local_path: `/w/${name}`, state });
    expect(checkMirrors([mirror('a', 'ready')])).toMatchObject({ state: 'ok', found: '1 folder' });
    const wrong = ['b', 'c', 'd', 'e'].map((name) => mirror(name, 'missing'));
    const { state, found } = checkMirrors([mirror('a', 'unreadable'), ...wrong]);
    expect([state, found]).toEqual(['warning', '/w/a is unreadable; /w/b is missing; /w/c is missing; 2 more']);
  });

  it('says which folders that are there are not followed, and why', () => {
    const node = (name: string) => ({ id: name, type: 'project' as const, name });
    const failure = (name: string, path = '', message = 'Not watched.') => ({ node: node(name), path, message });
    const mirrors = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ node: node(name), state: 'ready' as const }));
    const away = { node: node('f'), state: 'missing' as const };
    expect(unfollowedFinding([...mirrors, away], [failure('f'), failure('a', 'wip/link')])).toBeNull();
    expect(unfollowedFinding(mirrors, [failure('a'), failure('b', 'wip/link')])).toMatchObject({
      check: 'watching',
      state: 'warning',
      found: 'a: Not watched.',
    });
    const found = 'a: Not watched.; b: Not watched.; c: Not watched.; 2 more';
    expect(
      unfollowedFinding(
        mirrors,
        mirrors.map(({ node: { name } }) => failure(name)),
      ),
    ).toMatchObject({ found });
  });

  it('compares the folders with what the system lets one user watch, without following links', async () => {
    await mkdir(join(root, 'a/b/c'), { recursive: true });
    await mkdir(join(root, 'a/d'));
    await symlink('/', join(root, 'a/link'));
    await writeFile(join(root, 'a/file'), '');
    expect(await countFolders([join(root, 'a'), join(root, 'none')], 100)).toBe(5);
    expect(await countFolders([join(root, 'a')], 2)).toBe(2);
    expect(watchFinding(80, 100).state).toBe('ok');
    expect(watchFinding(81, 100)).toMatchObject({
      state: 'warning',
      advice: expect.stringContaining('max_user_watches=200'),
    });
  });
});
