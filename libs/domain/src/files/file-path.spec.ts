import fc from 'fast-check';
import { pathKey } from './file-path.js';

const aText = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));

describe('the form in which paths are compared', () => {
  it.each([
    ['case', 'wip/README.md', 'wip/readme.MD'],
    ['normal form', 'wip/\u017d\u00e1k.md', 'wip/Z\u030ca\u0301k.md'],
    ['case and normal form', 'wip/\u017d\u00c1K.md', 'wip/z\u030ca\u0301k.md'],
    ['sharp s', 'straße', 'STRASSE'],
    ['capital sharp s', 'STRAẞE', 'straße'],
    ['long s', 'Wachſtube', 'WACHSTUBE'],
    ['final sigma', 'ΟΔΟΣ.md', 'οδος.md'],
    ['sigma that is not final', 'οδοσ', 'οδος'],
    ['Kelvin and Angstrom signs, which are K and Å by canon', '\u212a\u212b', 'k\u00e5'],
    ['capital i with a dot', 'İzmir', 'i\u0307zmir'],
    ['iota below', 'ᾳ', 'ΑΙ'],
    ['title case', 'ǅ', 'ǆ'],
    ['Cherokee', 'Ꭰ', 'ꭰ'],
  ])('is one for names that differ by %s [files.path.one-name]', (_name, one, other) => {
    expect(pathKey(one)).toBe(pathKey(other));
  });

  it.each([
    ['a subscript', 'H₂O.md', 'H2O.md'],
    ['a superscript', 'm².md', 'm2.md'],
    ['a ligature', 'ﬁle', 'file'],
    ['a long ligature', 'oﬃce', 'office'],
    ['full width', 'ＡＢＣ', 'abc'],
    ['a circle', '①', '1'],
    ['a wide space', 'a\u00a0b', 'a b'],
    ['an apostrophe that is part of a letter', 'ŉ', 'ʼn'],
    ['a dotless i', 'sınır', 'sinir'],
    ['a mark', 'é', 'e'],
  ])('is another for names that differ by %s [files.path.compatibility-forms-differ]', (_name, one, other) => {
    expect(pathKey(one)).not.toBe(pathKey(other));
  });

  it('is its own form, and the same for every normal form and case of a text', () => {
    fc.assert(
      fc.property(aText, (text) => {
        const key = pathKey(text);
        expect(pathKey(key)).toBe(key);
        expect(pathKey(text.normalize('NFD'))).toBe(key);
        expect(pathKey(text.normalize('NFC'))).toBe(key);
      }),
      { numRuns: 2_000 },
    );
  });

  it('folds no single character otherwise than its own cases', () => {
    for (let code = 1; code <= 0x1ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      const key = pathKey(character);
      if (pathKey(key) !== key) throw new Error(`U+${code.toString(16)} is folded twice`);
      // Where simple folding knows another case, so does this.
      const small = character.toLowerCase();
      if (pathKey(small) !== key) throw new Error(`U+${code.toString(16)} differs from its small form`);
    }
  });
});
