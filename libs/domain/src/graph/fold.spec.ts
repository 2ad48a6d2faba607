import fc from 'fast-check';
import { fold } from './fold.js';

const aText = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));

describe('folding a text for search', () => {
  it.each([
    ['Czech', 'Příliš ŽLUŤOUČKÝ kůň', 'prilis zlutoucky kun'],
    ['German', 'Straße GRÖSSE ẞ', 'strasse grosse ss'],
    ['Polish', 'Łódź Zażółć', 'lodz zazolc'],
    ['Nordic', 'Århus Ørsted Ærø Þór Eiður', 'arhus orsted aero thor eidur'],
    ['French', 'Œuvre À LA NOËL', 'oeuvre a la noel'],
    ['Turkish', 'İstanbul ISPARTA ırmak', 'istanbul isparta irmak'],
    ['Vietnamese', 'Việt Nam Đà Nẵng', 'viet nam da nang'],
    ['Greek', 'Ὀδυσσεύς ΟΔΥΣΣΕΥΣ', 'οδυσσευσ οδυσσευσ'],
    ['Cyrillic', 'ЁЛКА Ёлка', 'елка елка'],
    ['ligatures and full-width letters', 'ﬁle ＡＢＣ ①', 'file abc 1'],
    ['compatibility letters in upper case', '℃ ℌ', '°c h'],
    ['white space', '  two\u00a0\t words\n', 'two words'],
    ['nothing', '', ''],
  ])('folds %s', (_name, text, expected) => {
    expect(fold(text)).toBe(expected);
  });

  it('keeps letters apart that a script tells apart by marks of its own', () => {
    expect(fold('が')).not.toBe(fold('か'));
    expect(fold('की')).not.toBe(fold('का'));
    expect(fold('한국')).toBe('한국');
  });

  it('gives composed and decomposed text the same form', () => {
    fc.assert(fc.property(aText, (text) => fold(text.normalize('NFC')) === fold(text.normalize('NFD'))));
  });

  it('makes the same of a short text as of the same text in a long one', () => {
    const latin = fc.string({ unit: fc.integer({ min: 0, max: 0x24f }).map((code) => String.fromCharCode(code)) });
    const long = 'x'.repeat(500);
    fc.assert(
      fc.property(latin, (text) => fold(`x${text}x ${long}`) === `${fold(`x${text}x`)} ${long}`),
      { numRuns: 5_000 },
    );
  });

  it('makes one space of any white space', () => {
    const spaces = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r', '\u00a0', '\u2003', 'a') });
    fc.assert(
      fc.property(spaces, (text) => fold(text) === text.replace(/\s+/gu, ' ').trim()),
      { numRuns: 5_000 },
    );
  });

  it('changes nothing when applied twice', () => {
    fc.assert(
      fc.property(aText, (text) => fold(fold(text)) === fold(text)),
      { numRuns: 2_000 },
    );
  });

  it('is composed, trimmed and without capital letters', () => {
    fc.assert(
      fc.property(aText, (text) => {
        const folded = fold(text);
        expect(folded).toBe(folded.normalize('NFC').trim());
        expect(folded).toBe(folded.toLowerCase());
      }),
    );
  });
});
