import type { Term } from '@workspace-graph/domain';

/** Words between the terms of a file in which they stand close together. */
const NEAR_WORDS = 12;

/** Queries for FTS5, the best matches first. Terms hold letters, numbers and marks only, so nothing in them is syntax. */
export function rankedQueries(terms: readonly Term[]): string[] {
  const phrases = terms.map((term) => `"${term.join(' ')}"`);
  const all = phrases.join(' AND ');
  const near = phrases.length > 1 ? [`body : NEAR(${phrases.join(' ')}, ${NEAR_WORDS})`] : [];
  return [`name : (${all})`, ...near, all];
}
