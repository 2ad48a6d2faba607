import { fold } from '../graph/fold.js';
import type { Term } from './search-terms.js';

/** Terms that stand within so many characters are shown together. */
const TOGETHER_LENGTH = 140;
const MOST_TERMS = 8;
const MOST_PLACES_PER_TERM = 16;
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/u;
const BETWEEN_WORDS = '[^\\p{L}\\p{N}\\p{M}]+';
/** Letters with a lower and an upper case, and with diacritics: Latin, Greek, Cyrillic. */
const LETTER_RANGES = [
  [0x41, 0x24f],
  [0x370, 0x52f],
  [0x1e00, 0x1eff],
] as const;

interface Place {
  readonly at: number;
  readonly term: number;
}

/** Finds the place of a text at which most of the terms stand together; -1 when there is none. */
export function placeFinder(terms: readonly Term[]): (text: string) => number {
  const patterns = terms.slice(0, MOST_TERMS).map(patternOf);
  return (text) => {
    const places = patterns.flatMap((pattern, term) => placesOf(text, pattern, term));
    return mostTogether(places.toSorted((a, b) => a.at - b.at));
  };
}

function mostTogether(places: readonly Place[]): number {
  let [best, most] = [-1, 0];
  for (const [index, { at }] of places.entries()) {
    const together = new Set<number>();
    for (let next = index; next < places.length; next += 1) {
      const place = places[next];
      if (!place || place.at > at + TOGETHER_LENGTH) break;
      together.add(place.term);
    }
    if (together.size > most) [best, most] = [at, together.size];
  }
  return best;
}

function placesOf(text: string, pattern: RegExp, term: number): Place[] {
  const places: Place[] = [];
  for (const { index: at } of text.matchAll(pattern)) {
    if (at > 0 && WORD_CHARACTER.test(text[at - 1] ?? '')) continue;
    places.push({ at, term });
    if (places.length === MOST_PLACES_PER_TERM) break;
  }
  return places;
}

/** Finds the words as they were written. Letters that fold to several are not found, and only the place suffers. */
function patternOf(term: Term): RegExp {
  const words = term.map((word) => Array.from(word, (letter) => `${writtenAs(letter)}\\p{M}*`).join(''));
  return new RegExp(`${words.join(BETWEEN_WORDS)}(?![\\p{L}\\p{N}])`, 'gu');
}

function writtenAs(letter: string): string {
  const forms = formsByLetter().get(letter);
  return forms === undefined ? letter : `[${forms}]`;
}

let forms: ReadonlyMap<string, string> | undefined;

/** Every way to write a folded letter. */
function formsByLetter(): ReadonlyMap<string, string> {
  forms ??= collectForms();
  return forms;
}

function collectForms(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [from, to] of LETTER_RANGES) {
    for (let code = from; code <= to; code += 1) {
      const letter = String.fromCodePoint(code);
      if (!/\p{L}/u.test(letter)) continue;
      const folded = fold(letter);
      if (folded.length === 1) found.set(folded, (found.get(folded) ?? '') + letter);
    }
  }
  return found;
}
