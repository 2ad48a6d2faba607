import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ENTRIES = readFileSync(join(import.meta.dirname, '../docs/glossary.md'), 'utf8')
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
