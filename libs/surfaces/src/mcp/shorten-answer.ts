import { estimateTokens } from '@workspace-graph/domain';

type Json = null | boolean | number | string | Json[] | Members;
interface Members {
  readonly [name: string]: Json;
}

/** An answer and the places in it where something is missing, such as `edges.items: at most 25`. */
export interface Shortened {
  readonly value: unknown;
  readonly shortened: readonly string[];
}

interface Measure {
  readonly characters: number;
  readonly items: number;
}

/** From the most that is left of every long text and list to the least. */
const MEASURES: readonly Measure[] = [
  { characters: 8_000, items: 200 },
  { characters: 4_000, items: 100 },
  { characters: 2_000, items: 50 },
  { characters: 1_000, items: 25 },
  { characters: 500, items: 12 },
  { characters: 250, items: 6 },
  { characters: 120, items: 3 },
  { characters: 60, items: 1 },
  { characters: 60, items: 0 },
];
/** What people and agents write. Everything else, such as a path, a hash or a cursor, is of no use in part. */
const PROSE = new Set([
  'description',
  'goal',
  'content',
  'note',
  'health_note',
  'decision_note',
  'resolution',
  'reason',
  'text',
  'excerpt',
  'brief',
  'summary',
  'input_summary',
  'output_excerpt',
]);
const ELLIPSIS = '…';

/**
 * Cuts all texts and lists of an answer to the same measure, the largest with which it and the places told have at most
 * so many tokens as JSON; names, ids and numbers stay. A list that loses items no longer counts as complete. The items of a page stay: its
 * cursor leads past all of them.
 */
export function shortenAnswer(answer: unknown, mostTokens: number): Shortened {
  let best: Shortened = { value: answer, shortened: [] };
  for (const measure of MEASURES) {
    best = cutTo(answer, measure);
    if (estimateTokens(JSON.stringify(best)) <= mostTokens) break;
  }
  return best;
}

function cutTo(answer: unknown, measure: Measure): Shortened {
  const shortened = new Set<string>();
  const cut = (value: Json, path: readonly string[]): Json => {
    const name = path.at(-1) ?? '';
    if (typeof value === 'string') return PROSE.has(name) ? cutText(value, path) : value;
    if (Array.isArray(value)) return cutList(value, path);
    if (value === null || typeof value !== 'object') return value;
    const parts = Object.entries(value).map(([key, part]) => [key, cut(part, [...path, key])] as const);
    return withoutClaims(value, Object.fromEntries(parts));
  };
  const cutText = (text: string, path: readonly string[]): string => {
    if (text.length <= measure.characters) return text;
    shortened.add(`${path.join('.')}: at most ${measure.characters} characters`);
    return `${text.slice(0, measure.characters).replace(/[\ud800-\udbff]$/u, '')}${ELLIPSIS}`;
  };
  const cutList = (list: Json[], path: readonly string[]): Json => {
    const isPage = path.length === 1 && path[0] === 'items';
    const kept = isPage ? list : list.slice(0, measure.items);
    if (kept.length < list.length) shortened.add(`${path.join('.')}: at most ${measure.items}`);
    return kept.map((item) => cut(item, [...path, '*']));
  };
  const value = cut(answer as Json, []);
  return { value, shortened: [...shortened] };
}

/** `complete` says it of all lists beside it, `x_complete` of the list `x`. */
function withoutClaims(whole: Members, short: Members): Members {
  const lost = Object.keys(whole).filter((name) => lengthOf(short[name]) < lengthOf(whole[name]));
  if (lost.length === 0) return short;
  const claims = ['complete', ...lost.map((name) => `${name}_complete`)].filter((name) => whole[name] === true);
  return { ...short, ...Object.fromEntries(claims.map((name) => [name, false])) };
}

function lengthOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}
