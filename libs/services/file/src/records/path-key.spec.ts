import { pathKey } from '@workspace-graph/domain';
import fc from 'fast-check';
import { type FileFixture, startFiles } from '../testing/file.fixture.js';

let files: FileFixture;
beforeAll(async () => {
  files = await startFiles();
});
afterAll(() => files[Symbol.asyncDispose]());

const folded = async (texts: readonly string[]): Promise<string[]> => {
  const sql = 'SELECT file.path_key(t) AS key FROM unnest($1::text[]) WITH ORDINALITY AS u(t, place) ORDER BY place';
  return (await files.sql<{ key: string }>(sql, [texts])).map(({ key }) => key);
};

describe('the form in which the database compares paths', () => {
  it('is the one of the program for every character that the server knows [files.path.one-name]', async () => {
    const characters = Array.from({ length: 0x1ffff }, (_, index) => index + 1)
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code));
    const keys = await folded(characters);
    const differing = characters.filter((character, index) => keys[index] !== pathKey(character));
    // Letters of a newer Unicode than that of the server have no other case there; they are few.
    const unknown = characters.filter((character, index) => differing.includes(character) && keys[index] === character);
    expect(differing).toEqual(unknown);
    expect(unknown.length).toBeLessThan(200);
  });

  it('is the one of the program for words', async () => {
    const words = [
      'wip/ΟΔΟΣ οδος.md',
      'STRAẞE Straße',
      'ſ İ ı I i',
      'Z\u030ca\u0301k',
      'ᾳ\u0301 ΑΙ',
      'H₂O ﬁ ŉ',
      'A\u0323\u030a',
    ];
    expect(await folded(words)).toEqual(words.map((word) => pathKey(word)));
    const letters = fc.constantFrom(...'aÁſßẞΣςσıİﬁΐᾳ\u0345\u0301\u0323K₂.');
    const texts = fc.sample(fc.string({ unit: letters, minLength: 1 }), { numRuns: 2_000, seed: 7 });
    expect(await folded(texts)).toEqual(texts.map((text) => pathKey(text)));
  });
});
