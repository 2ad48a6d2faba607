import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Words of this project's own for what has a name elsewhere: notify, report, publish; lock; tombstone; baseline; sight. */
const OWN_WORDS = 'tell[A-Z]|bury|ground[A-Z]|sightOf|entangle|breathe';
const ENTRIES = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, term, meaning] = /^\| (?!term)(\S[^|]*?) \| ([^|]+) \|$/.exec(line) ?? [];
    return term && meaning ? [{ term, meaning }] : [];
  });

describe('the glossary', () => {
  it('has at most sixty entries of one sentence each, in the order of the alphabet', () => {
    expect(ENTRIES.length).toBeGreaterThan(40);
    expect(ENTRIES.length).toBeLessThanOrEqual(60);
    const terms = ENTRIES.map(({ term }) => term);
    expect(terms).toEqual([...new Set(terms)].toSorted());
    for (const { term, meaning } of ENTRIES)
      expect([term, meaning]).toEqual([term, expect.stringMatching(/^[A-Z].*\.$/)]);
  });
});

describe('the names in the code', () => {
  it('are words of the field, where others meet them: what is exported, members of classes and interfaces, files', () => {
    const sources = globSync(['apps/*/src/**/*.ts', 'libs/**/src/**/*.ts', 'test/**/*.ts'], {
      cwd: ROOT,
      exclude: (path) => /node_modules|dist/.test(path),
    });
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.filter((path) => /(^|[/-])(tell|bury|ground|entangle|breathe)/.test(path))).toEqual([]);
    const declared = new RegExp(
      `^(?:  |export )(?:readonly |async |function |const )*(?:${OWN_WORDS})\\w*[(:?<= ]`,
      'm',
    );
    expect(sources.filter((path) => declared.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });
});
