import fc from 'fast-check';
import { fold } from './fold.js';
import { markedName, snippetOf, soughtWords, wordsFound } from './snippet.js';

const unmarked = (text: string): string => text.replace(/[«»]/g, '');

describe('the words of a search', () => {
  it.each([
    [
      'Příliš žluťoučký',
      [
        ['prilis', false],
        ['zlutoucky', true],
      ],
    ],
    ['kůň ', [['kun', true]]],
    [
      '"nový sklad"',
      [
        ['novy', false],
        ['sklad', false],
      ],
    ],
    [
      'vozy OR auta -kola',
      [
        ['vozy', false],
        ['auta', false],
      ],
    ],
    [
      'foo-bar 3.14',
      [
        ['foo', false],
        ['bar', false],
        ['3', false],
        ['14', true],
      ],
    ],
    ['!!! & | -x', []],
    ['', []],
  ])('of %j are %j', (query, words) => {
    expect(soughtWords(query).map(({ text, prefix }) => [text, prefix])).toEqual(words);
  });
});

describe('a marked name', () => {
  it.each([
    ['Sklad Třebíč', 'třeb', 'Sklad «Třeb»íč'],
    ['Přestavba SKLADU', 'klad stav', 'Pře«stav»ba S«KLAD»U'],
    ['Straße am Øresund', 'strasse ore', '«Straße» am «Øre»sund'],
    ['Žďár', 'zda', '«Žďá»r'],
    ['Re\u0301sume\u0301 x', 'resume', '«Re\u0301sume\u0301» x'],
    ['ababab', 'ab bab', '«ababab»'],
    ['Nic', 'zzz', 'Nic'],
  ])('%j for %j is %j', (name, query, expected) => {
    expect(markedName(name, soughtWords(query))).toBe(expected);
  });
});

describe('a snippet', () => {
  it('marks whole words whose fold is sought, and the last one by its beginning', () => {
    expect(snippetOf('Měření ukázalo, že měřeníčko stačí. MERENI!', soughtWords('mereni staci'))).toBe(
      '«Měření» ukázalo, že měřeníčko «stačí». «MERENI»!',
    );
    expect(snippetOf('Smlouva čeká na podpis', soughtWords('smlou'))).toBe('«Smlouva» čeká na podpis');
  });

  it('shows the part of a long text in which most of the words stand, cut at words', () => {
    const filler = 'slovo '.repeat(100);
    const snippet = snippetOf(`rozpočet ${filler}rozpočet na školení týmu ${filler}`, soughtWords('rozpočet školení'));
    expect(snippet).toContain('«rozpočet» na «školení» týmu');
    expect(snippet).toMatch(/^…slovo .* slovo…$/);
    expect(unmarked(snippet).length).toBeLessThanOrEqual(202);
  });

  it('is the beginning, on one line, when nothing matches', () => {
    expect(snippetOf('První\n\n  řádek\ttextu', soughtWords('nic'))).toBe('První řádek textu');
  });

  it('never cuts a character in two and never loses or adds a letter', () => {
    const text = fc
      .array(fc.constantFrom('a', 'ř', '🐎', ' ', 'e\u0301', '\n', '漢', 'sklad', 'Sklad'), { maxLength: 400 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.constantFrom('sklad', 'a', 'ř sk', '漢'), (whole, query) => {
        const snippet = snippetOf(whole, soughtWords(query));
        expect(snippet.isWellFormed()).toBe(true);
        expect(whole.replace(/\s+/gu, ' ')).toContain(unmarked(snippet).replace(/^…|…$/gu, ''));
        expect(unmarked(markedName(whole, soughtWords(query)))).toBe(whole);
        for (const [, mark = ''] of snippet.matchAll(/«(.*?)»/gu)) {
          expect(soughtWords(query).some((word) => fold(mark).startsWith(word.text))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

it('counts the different words that a text has', () => {
  expect(wordsFound('sklad, Sklad a vůz', soughtWords('sklad vuz loď'))).toBe(2);
});
