import { LIMITS } from '@workspace-graph/contracts/limits';
import { snippetOf, wordsFound } from '../graph/snippet.js';
import { placeFinder } from './passage.js';
import { soughtWordsOf, type Term } from './search-terms.js';

/** What is looked at word by word, which takes its time: so much on both sides of where the terms stand. */
const AROUND_LENGTH = 400;
/** So much of a text in which they are not found as they are usually written. */
const BEGINNING_LENGTH = 4_000;

/**
 * The part of a text that shows the terms best, on one line, with the words between « and »; null when it has none of
 * them. Answers the function that does it for each text.
 */
export function snippetMaker(terms: readonly Term[]): (text: string) => string | null {
  const words = soughtWordsOf(terms);
  const placeIn = placeFinder(terms);
  return (text) => {
    const place = placeIn(text);
    const part =
      place < 0
        ? text.slice(0, BEGINNING_LENGTH)
        : text.slice(Math.max(0, place - AROUND_LENGTH), place + AROUND_LENGTH);
    if (place < 0 && wordsFound(part, words) === 0) return null;
    const snippet = snippetOf(part, words);
    return snippet.length <= LIMITS.fileSnippetLength ? snippet : shortened(snippet);
  };
}

/** So many marks that the limit is passed: the last ones go, with the end of the text. */
function shortened(snippet: string): string {
  const start = snippet.slice(0, LIMITS.fileSnippetLength - 2).toWellFormed();
  const isOpen = start.lastIndexOf('«') > start.lastIndexOf('»');
  return `${start}${isOpen ? '»' : ''}…`;
}
