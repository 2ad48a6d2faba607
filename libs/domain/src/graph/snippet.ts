import { fold } from './fold.js';

/** A word that a search asked for, folded. */
export interface SoughtWord {
  /** The word, folded. */
  readonly text: string;
  /** True when the beginning of a longer word matches. */
  readonly prefix: boolean;
}

/** Characters of a snippet, its marks and ellipses not counted. */
const LENGTH = 200;
/** How much of it stands before the first marked word. */
const LEAD = 60;
/** Matches looked at in one text; more do not make the snippet better. */
const MOST_MATCHES = 64;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const SPACE = /\s/u;

/**
 * The words of a search text that hits should have: not the excluded ones, not the word `or`. The last one is a
 * beginning, unless it is quoted.
 */
export function soughtWords(query: string): readonly SoughtWord[] {
  const all = query.trim().split(/\s+/u);
  const parts = all.filter((part) => !part.startsWith('-') && fold(part) !== 'or');
  const words = parts
    .flatMap((part) => part.match(WORD) ?? [])
    .map(fold)
    .filter((word) => word !== '');
  const isOpen = parts.at(-1) === all.at(-1) && /[\p{L}\p{N}\p{M}]$/u.test(query.trimEnd());
  return words.map((text, index) => ({ text, prefix: isOpen && index === words.length - 1 }));
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A name with every occurrence of the words marked by « and », also inside of words. */
export function markedName(name: string, words: readonly SoughtWord[]): string {
  const { folded, origin } = foldedWithOrigin(name);
  const spans = words
    .flatMap(({ text }) => occurrences(folded, text))
    .map(({ start, end }) => ({
      start: origin[start] ?? 0,
      end: origin[end] ?? name.length,
    }));
  return marked(name, { start: 0, end: name.length }, joined(spans));
}

/** The part of a text in which most of the words stand, on one line, with those marked by « and »; the beginning when there is none. */
export function snippetOf(text: string, words: readonly SoughtWord[]): string {
  const matches = matchesIn(text, words);
  const best = bestOf(matches);
  const start = best === undefined || best.start <= LEAD ? 0 : wordStartFrom(text, best.start - LEAD, best.start);
  const end = start + LENGTH >= text.length ? text.length : wordEndBefore(text, start + LENGTH, best?.end ?? start);
  const inside = matches.filter((match) => match.start >= start && match.end <= end);
  const line = marked(text, { start, end }, inside).replace(/\s+/gu, ' ').trim();
  return `${start > 0 ? '…' : ''}${line}${end < text.length ? '…' : ''}`;
}

/** How many of the words a text has. */
export function wordsFound(text: string, words: readonly SoughtWord[]): number {
  return new Set(matchesIn(text, words).map((match) => match.word)).size;
}

interface Match extends Span {
  /** Which of the sought words. */
  readonly word: number;
}

function matchesIn(text: string, words: readonly SoughtWord[]): readonly Match[] {
  const matches: Match[] = [];
  for (const found of text.matchAll(WORD)) {
    const folded = fold(found[0]);
    const word = words.findIndex((sought) => (sought.prefix ? folded.startsWith(sought.text) : folded === sought.text));
    if (word >= 0) matches.push({ start: found.index, end: found.index + found[0].length, word });
    if (matches.length === MOST_MATCHES) break;
  }
  return matches;
}

/** The first of the matches after which most different words stand within the reach of a snippet. */
function bestOf(matches: readonly Match[]): Match | undefined {
  let best: Match | undefined;
  let most = 0;
  for (const first of matches) {
    const near = matches.filter((match) => match.start >= first.start && match.end <= first.start + LENGTH - LEAD);
    const different = new Set(near.map((match) => match.word)).size;
    if (different > most) [best, most] = [first, different];
  }
  return best;
}

function wordStartFrom(text: string, from: number, limit: number): number {
  for (let at = from; at < limit; at += 1) if (SPACE.test(text[at] ?? '')) return at + 1;
  return isLowSurrogate(text, from) ? from + 1 : from;
}

function wordEndBefore(text: string, from: number, limit: number): number {
  for (let at = from; at > limit; at -= 1) if (SPACE.test(text[at] ?? '')) return at;
  const end = Math.max(from, limit);
  return isLowSurrogate(text, end) ? end - 1 : end;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function marked(text: string, { start, end }: Span, spans: readonly Span[]): string {
  let [line, at] = ['', start];
  for (const span of spans) {
    line += `${text.slice(at, span.start)}«${text.slice(span.start, span.end)}»`;
    at = span.end;
  }
  return line + text.slice(at, end);
}

/** The folded form of a text, with the place in the text that each of its units comes from. */
function foldedWithOrigin(text: string): { folded: string; origin: readonly number[] } {
  let [folded, at] = ['', 0];
  const origin: number[] = [];
  for (const letter of text) {
    const plain = SPACE.test(letter) ? ' ' : fold(letter);
    // A mark belongs to the letter before it: an occurrence that ends there takes it in.
    for (let unit = 0; unit < plain.length; unit += 1) origin.push(at);
    folded += plain;
    at += letter.length;
  }
  return { folded, origin };
}

function occurrences(text: string, word: string): readonly Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length))
    spans.push({ start: at, end: at + word.length });
  return spans;
}

/** Spans in order, with those that meet made one. */
function joined(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last && span.start <= last.end)
      result[result.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    else if (span.end > span.start) result.push(span);
  }
  return result;
}
