import fc from 'fast-check';
import { soughtWordsOf, termsOf } from './search-terms.js';

const queryOf = (text: string): string[] => termsOf(text).map((term) => term.join(' '));

describe('what a search text asks for', () => {
  it.each([
    ['plán Rozpočtu', ['plan', 'rozpoctu']],
    ['"roční plán" rozpočet', ['rocni plan', 'rozpocet']],
    ['„roční plán“', ['rocni plan']],
    ['roční "plán', ['rocni', 'plan']],
    ['v1.2 e-mail', ['v1 2', 'e mail']],
    ['a AND b OR NOT c NEAR(d)', ['a', 'and', 'b', 'or', 'not', 'c', 'near d']],
    ['name:x* ^y (z', ['name x', 'y', 'z']],
    ['kůň KUN kuň', ['kun']],
    ['Straße Łódź', ['strasse', 'lodz']],
    ['½', ['1 2']],
    ['"" "-" *', []],
  ])('%s [files.search.words-and-phrases]', (text, terms) => {
    expect(queryOf(text)).toEqual(terms);
  });

  it('is folded words and nothing else, whatever is typed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const { text: word } of soughtWordsOf(termsOf(text))) expect(word).toMatch(/^[\p{L}\p{N}\p{M}]+$/u);
      }),
    );
  });
});
