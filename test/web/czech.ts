import type { Language } from './language.js';

/** Texts by their keys, as the page has them. */
interface Texts {
  readonly [key: string]: string | Texts;
}
/** Those that are known. */
type Values = Readonly<Record<string, string>>;

/** An English text of the page with its Czech ones. */
interface Pair {
  readonly english: string;
  /** The text with values in its places. */
  readonly whole: RegExp;
  /** Its beginning that reaches beyond its first place, if there is anything. */
  readonly begun: RegExp | undefined;
  /** By the plural form; of a text that has none, a single one. */
  readonly czech: ReadonlyMap<string, string>;
}

const FORM = /_(one|few|many|other)$/;
const PLACE = /\{\{(\w+)\}\}/;
/** Of the beginning of a text, in characters beside its values. */
const SHORTEST = 6;
const pluralOf = new Intl.PluralRules('cs');

async function textsOf(language: Language): Promise<ReadonlyMap<string, string>> {
  const path = `../../apps/desktop/web/src/i18n/${language}/index.js`;
  return new Map(flat(((await import(path)) as Record<Language, Texts>)[language]));
}

/** What stands in a text as a component is a part of it. */
function flat(texts: Texts, above = ''): [string, string][] {
  return Object.entries(texts).flatMap(([key, text]): [string, string][] =>
    typeof text === 'string' ? [[above + key, text.replace(/<\/?\w+>/g, '')]] : flat(text, `${above}${key}.`),
  );
}

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
const placed = (name: string): string => `(?<${name}>${name === 'count' ? '[\\d,]+' : '.+?'})`;

function patternsOf(english: string): Pick<Pair, 'whole' | 'begun'> {
  const parts = english.split(PLACE).map((part, at) => (at % 2 === 1 ? [placed(part)] : [...part].map(quoted)));
  const whole = new RegExp(`^${parts.flat().join('')}$`, 's');
  const [start = [], place = [], [next = '', ...others] = [], ...further] = parts;
  const tail = [...others, ...further.flat()].reduceRight((rest, one) => `(?:${one}${rest})?`, '');
  return { whole, begun: next === '' ? undefined : new RegExp(`^${[...start, ...place, next].join('')}${tail}$`, 's') };
}

const [ENGLISH, CZECH] = await Promise.all([textsOf('en'), textsOf('cs')]);
const PAIRS = [...ENGLISH].map(([key, english]): Pair => {
  const stem = key.replace(FORM, '');
  const keys = stem === key ? [key] : ['one', 'few', 'many', 'other'].map((form) => `${stem}_${form}`);
  const czech = new Map(keys.map((one) => [FORM.exec(one)?.[1] ?? '', CZECH.get(one) ?? '']));
  return { english, ...patternsOf(english), czech };
});

const GROUPED = /^\d{1,3}(,\d{3})+$/;
const numberOf = (value: string): number => Number(value.replaceAll(',', ''));

/** A value as the page says it in Czech, and as it is where it may be content. */
function inCzechTexts(value: string): string[] {
  if (GROUPED.test(value)) return [numberOf(value).toLocaleString('cs')];
  return [value, ...PAIRS.filter(({ english }) => english === value).flatMap((pair) => [...pair.czech.values()])];
}

/** The Czech texts with these values. */
function filled({ czech }: Pair, values: Values): string[] {
  const { count } = values;
  const form = count === undefined ? undefined : czech.get(pluralOf.select(numberOf(count)));
  const fill = (texts: readonly string[], [name, value]: [string, string]): string[] =>
    inCzechTexts(value).flatMap((one) => texts.map((text) => text.replaceAll(`{{${name}}}`, () => one)));
  return Object.entries(values).reduce(fill, form === undefined ? [...czech.values()] : [form]);
}

/** From what the text is, or begins to be: of what leaves the least of it to values. */
function explained(text: string, isWhole: boolean): string[] {
  const found = PAIRS.flatMap((pair) => {
    const whole = pair.whole.exec(text);
    const { groups = {} } = whole ?? (isWhole ? null : pair.begun?.exec(text)) ?? {};
    const values = Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== undefined));
    const length = Object.values(values).reduce((rest, value) => rest - value.length, text.length);
    const isBegun = Object.keys(values).length > 0 && length >= SHORTEST;
    return whole || isBegun ? [{ length, texts: filled(pair, values) }] : [];
  });
  const most = Math.max(...found.map(({ length }) => length));
  return [...new Set(found.filter(({ length }) => length === most).flatMap(({ texts }) => texts))];
}

/** From what the text is some words of. */
function around(text: string): string[] {
  if (!/\p{L}{2}/u.test(text)) return [];
  const words = new RegExp(`(?<![\\p{L}\\d])${quoted(text.trim())}(?![\\p{L}\\d])`, 'u');
  return [...new Set(PAIRS.flatMap(({ english, czech }) => (words.test(english) ? [...czech.values()] : [])))];
}

/** For any value where one is not known. */
const sourceOf = (texts: readonly string[]): string =>
  texts
    .map((text) =>
      text
        .split(/\{\{\w+\}\}/)
        .map(quoted)
        .join('.*'),
    )
    .join('|');

function patternInCzech(pattern: RegExp): RegExp {
  const found = PAIRS.filter(({ english }) => pattern.test(english)).flatMap(({ czech }) => [...czech.values()]);
  const start = pattern.source.startsWith('^') ? '^' : '';
  return found.length > 0 ? new RegExp(`${pattern.source}|${start}(?:${sourceOf(found)})`, pattern.flags) : pattern;
}

/**
 * What an English name of a control, or an English text, is in Czech, for what Playwright finds by it. Whatever the page
 * does not say is content, and stays as it is.
 */
export function inCzech(text: string | RegExp, isExact = false): string | RegExp {
  if (text instanceof RegExp) return patternInCzech(text);
  const found = explained(text, isExact);
  if (isExact) return found.length > 0 ? new RegExp(`^\\s*(?:${sourceOf(found)})\\s*$`) : text;
  if (found.length > 0) return new RegExp(sourceOf(found), 'i');
  // Words of the page may be words of the content all the same.
  const parts = around(text);
  return parts.length > 0 ? new RegExp(sourceOf([text, ...parts]), 'i') : text;
}

/** The one Czech text of an English one. @throws Error where the page has none, or more than one */
export function czechOf(text: string): string {
  const [only, ...others] = explained(text, true);
  if (only === undefined || others.length > 0) throw new Error(`“${text}” has no Czech text of its own`);
  return only;
}
