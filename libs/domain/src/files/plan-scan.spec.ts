import fc from 'fast-check';
import { pathKey } from './file-path.js';
import {
  isBetweenMoves,
  type KnownFile,
  pickNames,
  planScan,
  type ReadFile,
  type ScanStep,
  separateInterdependent,
} from './plan-scan.js';

type Content = { readonly sha256: string; readonly inode: string | null };

/** A file `name content inode`; with `!` it was pushed, with `-` it is known to be gone. */
function known(text: string): KnownFile {
  const [path = '', sha256 = '', inode = '', flags = ''] = text.split(' ');
  return {
    fileId: path,
    path: `wip/${path}`,
    pathKey: pathKey(`wip/${path}`),
    sha256,
    stamp: null,
    inode: inode === '' || flags.includes('-') ? null : inode,
    isDeleted: flags.includes('-'),
    wasPushed: flags !== '',
  };
}

function read(text: string): ReadFile<Content> {
  const [path = '', sha256 = '', inode = ''] = text.split(' ');
  return { path: `wip/${path}`, seen: { sha256, inode: inode === '' ? null : inode } };
}

function plan(before: readonly string[], found: readonly string[]): string[] {
  const files = before.map(known);
  const contents = found.map(read);
  const there = new Set(contents.map(({ path }) => path));
  const steps = planScan({
    missing: files.filter(({ path, isDeleted }) => !there.has(path) && !isDeleted),
    read: contents,
    knownAt: (key) => files.find((file) => file.pathKey === key) ?? null,
  });
  return steps.map(told);
}

function told(step: ScanStep<KnownFile, Content>): string {
  const path = 'path' in step ? ` ${isBetweenMoves(step.path) ? '(nowhere)' : step.path.slice(4)}` : '';
  return `${step.kind}${'file' in step ? ` ${step.file.fileId}` : ''}${path}`;
}

describe('what a scan makes of what it found', () => {
  it.each<[string, string[], string[], string[]]>([
    ['a new file', [], ['a X 1'], ['register a']],
    ['an edit', ['a X 1'], ['a Y 1'], ['update a']],
    ['the same content saved again', ['a X 1'], ['a X 2'], ['touch a']],
    ['a file deleted before it was pushed', ['a X 1'], [], ['remove a']],
    ['a file deleted after it was pushed', ['a X 1 !'], [], ['gone a']],
    ['a deleted one that came back', ['a X 1 -'], ['a X 2'], ['touch a']],
    ['a deleted one that came back as another', ['a X 1 -'], ['a Y 2'], ['update a']],
    ['a move', ['a X 1'], ['b X 1'], ['move a b']],
    ['a move with an edit', ['a X 1'], ['b Y 1'], ['remove a', 'register b']],
    ['another file with the inode', ['a X 1'], ['b X 2'], ['remove a', 'register b']],
    ['a move across volumes', ['a X'], ['b X'], ['remove a', 'register b']],
    ['a swap of two names', ['a X 1', 'b Y 2'], ['a Y 2', 'b X 1'], ['move b (nowhere)', 'move a b', 'move b a']],
    ['a chain of names', ['a X 1', 'b Y 2'], ['b X 1', 'c Y 2'], ['move b c', 'move a b']],
    ['a moved file and a new one in its place', ['a X 1'], ['a Y 2', 'b X 1'], ['move a b', 'register a']],
    ['a tracked file moved onto another', ['a X 1', 'b Y 2'], ['a Y 2'], ['remove b', 'update a']],
    ['a pushed file moved onto another', ['a X 1', 'b Y 2 !'], ['a Y 2'], ['gone b', 'update a']],
    ['a backup beside an edit', ['a X 1'], ['a Y 2', 'a~ X 1'], ['update a', 'register a~']],
    ['a backup alone', ['a X 1'], ['a~ X 1'], ['move a a~']],
    ['another case of the name', ['a X 1'], ['A X 1'], ['move a A']],
    ['another case of the name and another content', ['a X 1'], ['A Y 2'], ['move a A', 'update a']],
    ['a hard link renamed', ['a X 1', 'b X 1'], ['a X 1', 'c X 1'], ['move b c', 'touch a']],
    ['two moves of equal files', ['a X 1', 'b X 1'], ['c X 1', 'd X 1'], ['move a c', 'move b d']],
  ])('%s', (_name, before, found, steps) => {
    expect(plan(before, found)).toEqual(steps);
  });

  it('keeps the known name of names that are one name, then the first', () => {
    const found = ['B', 'a', 'A', 'b'].map((path) => ({ path }));
    const { picked, collisions } = pickNames(found, (key) => (key === 'b' ? { path: 'b' } : null));
    expect(picked.map(({ path }) => path)).toEqual(['A', 'b']);
    expect(collisions).toEqual([
      { path: 'B', taken: 'b' },
      { path: 'a', taken: 'A' },
    ]);
  });

  it.each<[string, string[], string[], string[]]>([
    ['a new file beside a missing one', ['b X 1'], ['a X 2'], []],
    ['the inode of a missing file', ['b X 1'], ['a Y 1'], ['a']],
    ['the name of a missing file, by case', ['A X 1'], ['a X 2'], ['a']],
    ['no inode at all', ['b X'], ['a X'], []],
    ['an edit', [], ['a Y 1'], []],
    ['another file in the place of one that stands elsewhere', [], ['a Y 2', 'c X 1'], ['a', 'c']],
    ['a new inode under its own name', [], ['a X 3'], []],
  ])('settles by itself all but what may have moved: %s', (_name, missing, found, expected) => {
    const present = new Map([known('a X 1')].map((file) => [file.pathKey, file]));
    const candidates = found.map(read).map(({ path, seen }) => ({ path, inode: seen.inode }));
    const { interdependent, plain } = separateInterdependent(candidates, missing.map(known), present);
    expect(interdependent.map(({ path }) => path.slice(4))).toEqual(expected);
    expect(plain.length + interdependent.length).toBe(found.length);
  });

  it('makes what is known equal to the disk, takes no path that is not free, and keeps the id of every file that was only moved', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const entry = fc.record({ name: fc.constantFrom(...names), inode: fc.integer({ min: 1, max: 8 }) });
    const folder = fc
      .uniqueArray(entry, { selector: ({ name }) => name, maxLength: 6 })
      .map((entries) =>
        entries.filter(({ inode }, index) => entries.findIndex((other) => other.inode === inode) === index),
      );
    fc.assert(
      fc.property(folder, folder, (before, after) => {
        const files = before.map(({ name, inode }) => known(`${name} C${inode} ${inode}`));
        const contents = after.map(({ name, inode }) => read(`${name} C${inode} ${inode}`));
        const there = new Set(contents.map(({ path }) => path));
        const steps = planScan({
          missing: files.filter(({ path }) => !there.has(path)),
          read: contents,
          knownAt: (key) => files.find((file) => file.pathKey === key) ?? null,
        });
        const end = carriedOut(files, steps);
        expect([...end].map(([path, { sha256 }]) => [path, sha256]).toSorted()).toEqual(
          contents.map(({ path, seen }) => [path, seen.sha256]).toSorted(),
        );
        for (const { path, seen } of contents) {
          const source = files.find((file) => file.inode === seen.inode);
          const owner = files.find((file) => file.path === path);
          const ownerLeft = !owner || contents.some(({ seen: other }) => other.inode === owner.inode);
          if (source && owner && !ownerLeft) expect(end.get(path)?.id).toBe(owner.fileId);
        }
      }),
    );
  });
});

/** Carries steps out one by one; a path that is taken twice is an error. */
function carriedOut(
  files: readonly KnownFile[],
  steps: readonly ScanStep<KnownFile, Content>[],
): Map<string, { id: string; sha256: string }> {
  const at = new Map(files.map(({ path, fileId, sha256 }) => [path, { id: fileId, sha256 }]));
  const pathOf = (file: KnownFile): string => [...at].find(([, { id }]) => id === file.fileId)?.[0] ?? '';
  const take = (path: string, entry: { id: string; sha256: string }): void => {
    if (at.has(path)) throw new Error(`${path} is taken`);
    at.set(path, entry);
  };
  for (const step of steps) {
    if (step.kind === 'register') take(step.path, { id: `new ${step.path}`, sha256: step.seen.sha256 });
    else if (step.kind === 'update') at.set(pathOf(step.file), { id: step.file.fileId, sha256: step.seen.sha256 });
    else if (step.kind === 'remove' || step.kind === 'gone') at.delete(pathOf(step.file));
    else if (step.kind === 'move') {
      const from = pathOf(step.file);
      const entry = at.get(from);
      at.delete(from);
      if (entry) take(step.path, entry);
    }
  }
  return at;
}
