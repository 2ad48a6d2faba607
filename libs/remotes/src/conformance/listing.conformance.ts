import { MANY_FILES } from './sizes.conformance.js';
import { failureOf, type Stage } from './stage.js';

/** That make the same folders, and how often they do. */
const WRITERS = 8;
const ROUNDS = 5;

/** What lies in folders, and under which names. */
export function listingScenarios(stage: () => Stage): void {
  it('lists a folder, and with all below it', async () => {
    for (const path of ['a.txt', 'wip/b.txt', 'wip/deep/c.txt']) await stage().put(path, path);
    expect(await stage().pathsIn('')).toEqual(['a.txt', 'wip']);
    expect(await stage().pathsIn('wip')).toEqual(['wip/b.txt', 'wip/deep']);
    expect(await stage().pathsIn('', true)).toEqual(['a.txt', 'wip', 'wip/b.txt', 'wip/deep', 'wip/deep/c.txt']);
    expect(await stage().listed('wip/deep')).toEqual([await stage().remote.stat('wip/deep/c.txt')]);
  });

  it('lists many files, each once', async () => {
    const many = Math.min(stage().world.atMost ?? MANY_FILES, MANY_FILES);
    for (let number = 0; number < many; number += 1) await stage().world.plant(`many/${number}.txt`, 'x');
    expect(new Set(await stage().pathsIn('many')).size).toBe(many);
    expect(await stage().listed('many')).toHaveLength(many);
  });

  it('tells a folder that is not there from an empty one', async () => {
    expect(await failureOf(stage().listed('none'))).toBe('not_found');
    await stage().put('a.txt', 'a');
    expect(await failureOf(stage().listed('a.txt'))).toBe('not_found');
    if (!stage().remote.capabilities.emptyFolders) return;
    await stage().remote.makeFolder('empty/deep');
    await stage().remote.makeFolder('empty/deep');
    expect([await stage().pathsIn('empty'), await stage().pathsIn('empty/deep')]).toEqual([['empty/deep'], []]);
  });

  it('makes folders for many writers at once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const paths = Array.from({ length: WRITERS }, (_, writer) => `folder ${round}/deep/of ${round}/${writer}.txt`);
      const written = await Promise.all(paths.map((path) => stage().put(path, path)));
      expect(written.map(({ path }) => path)).toEqual(paths);
    }
  });

  it('removes a folder only when nothing is in it', async () => {
    await stage().put('folder/a.txt', 'a');
    expect(await failureOf(stage().remote.removeFolder('folder'))).toBe('exists');
    await stage().remote.remove('folder/a.txt', await stage().holding('folder/a.txt'));
    await stage().remote.removeFolder('folder');
    await stage().remote.removeFolder('folder');
    expect(await stage().pathsIn('')).toEqual([]);
  });

  it('takes a listing for no promise: what changed since is told by the next call', async () => {
    await stage().put('a.txt', 'first');
    const [listed] = await stage().listed('');
    if (listed?.kind !== 'file') throw new Error('a.txt is not listed');
    await stage().world.plant('a.txt', 'of somebody else');
    expect(await failureOf(stage().put('a.txt', 'ours', listed.revision))).toBe('changed');
    await stage().remote.remove('a.txt', await stage().holding('a.txt'));
    expect(await failureOf(stage().remote.read('a.txt', { expected: listed.revision }))).toBe('not_found');
  });

  it.each([
    'Žluťoučký kůň.md',
    '日本語 🐎.txt',
    'with spaces  and.dots..',
    '%2e%2e%2f?query#hash',
    'quo\'te"s & <tags>;',
    '-rf',
    '*',
    'a+b=c@d~e',
    '.hidden',
    'x'.repeat(200),
  ])('holds the name %s', async (name) => {
    await stage().put(`folder/${name}`, name);
    expect(await stage().pathsIn('folder')).toEqual([`folder/${name}`]);
    expect(await stage().textOf(`folder/${name}`)).toBe(name);
    await stage().remote.move(`folder/${name}`, `${name}/${name}`, await stage().holding(`folder/${name}`));
    await stage().remote.remove(`${name}/${name}`, await stage().holding(`${name}/${name}`));
    expect(await stage().pathsIn('', true)).toEqual(
      stage().remote.capabilities.emptyFolders ? ['folder', name].sort() : [],
    );
  });

  it.each(['', '/a', 'a/', 'a//b', '.', 'a/../b', 'a\\b', 'a\0b', 'a\nb', `${'x'.repeat(256)}`])(
    'refuses the path %j',
    async (path) => {
      const { remote } = stage();
      expect(await failureOf(stage().put(path, 'x'))).toBe('name_refused');
      expect(await failureOf(remote.stat(path))).toBe('name_refused');
      expect(await failureOf(remote.remove(path, { expected: 'x' }))).toBe('name_refused');
      expect(await stage().pathsIn('')).toEqual([]);
    },
  );

  it('takes every normal form of a name for one [files.path.one-name]', async () => {
    await stage().put('wip/\u017d\u00e1k.md', 'composed');
    expect(await stage().textOf('wip/Z\u030ca\u0301k.md')).toBe('composed');
    expect(await failureOf(stage().put('wip/Z\u030ca\u0301k.md', 'again'))).toBe('exists');
    expect(await stage().pathsIn('wip')).toEqual(['wip/\u017d\u00e1k.md']);
  });

  it('makes no twin of a name, and tells those that others made [files.path.one-name]', async () => {
    await stage().put('Readme.md', 'one');
    await stage().put('folder/a.txt', 'a');
    expect(await failureOf(stage().put('README.md', 'two'))).toBe('exists');
    expect(await failureOf(stage().put('Folder/b.txt', 'b'))).toBe('exists');
    expect((await stage().listed('', true)).map(({ hasTwin }) => hasTwin)).toEqual([false, false, false]);
    // Where names are one whatever their case, nobody can make a twin.
    if (!stage().remote.capabilities.caseSensitive) return;
    await stage().world.plant('README.md', 'two');
    const twins = (await stage().listed('')).map(({ path, hasTwin }) => [path, hasTwin]);
    expect(twins).toEqual([
      ['README.md', true],
      ['Readme.md', true],
      ['folder', false],
    ]);
    expect([await stage().textOf('README.md'), await stage().textOf('Readme.md')]).toEqual(['two', 'one']);
  });
}
