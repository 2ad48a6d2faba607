import { fold } from '../graph/fold.js';
import type { SoughtWord } from '../graph/snippet.js';

/** Words that stand together in this order; one word, or a phrase. Folded. */
export type Term = readonly string[];

const QUOTE = /["“”„‟«»]/u;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const WORD_CHARACTER = '[\\p{L}\\p{N}\\p{M}]';
const BETWEEN_WORDS = '[^\\p{L}\\p{N}\\p{M}]';

/**
 * What a search text asks for: every word and every "phrase" of it. Nothing in it is syntax but quotes; a word with
 * punctuation inside, such as `v1.2`, is a phrase of its parts. Empty when there is no word.
 */
export function termsOf(query: string): readonly Term[] {
  const segments = query.split(QUOTE);
  const terms = segments.flatMap((segment, index) => {
    const isQuoted = index % 2 === 1 && index < segments.length - 1;
    return isQuoted ? [wordsOf(segment)] : segment.split(/\s+/u).map(wordsOf);
  });
  const different = new Map(terms.filter((term) => term.length > 0).map((term) => [term.join(' '), term]));
  return [...different.values()];
}

/** The folded words of a text. */
export function wordsOf(text: string): string[] {
  return fold(text).match(WORD) ?? [];
}

/** Tells whether all of the terms stand in a text, as whole words and in their order. */
export function termsMatcher(terms: readonly Term[]): (text: string) => boolean {
  const patterns = terms.map(
    (term) => new RegExp(`(?<!${WORD_CHARACTER})${term.join(`${BETWEEN_WORDS}+`)}(?!${WORD_CHARACTER})`, 'u'),
  );
  return (text) => {
    const folded = fold(text);
    return patterns.every((pattern) => pattern.test(folded));
  };
}

/** The words of terms, for marking them. */
export function soughtWordsOf(terms: readonly Term[]): readonly SoughtWord[] {
  return [...new Set(terms.flat())].map((text) => ({ text, prefix: false }));
}
