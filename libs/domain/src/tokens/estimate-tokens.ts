import { isLower, isUpper, KIND, type Kind, kindAt } from './characters.js';

/** Tokens of a piece, and of each character beyond so many. */
interface Price {
  readonly first: number;
  readonly beyond: number;
  readonly each: number;
}

/** Fitted to o200k on Markdown, JSON answers, ids, code, and text in Czech and nine other languages. */
const PRICES = {
  wordAfterSpace: { first: 0.94, beyond: 6, each: 0.16 },
  wordAfterMark: { first: 1.29, beyond: 4, each: 0.19 },
  word: { first: 1.08, beyond: 4, each: 0.03 },
  capitals: { first: 1.6, beyond: 2, each: 0.15 },
  accented: { first: 1.36, beyond: 3, each: 0.47 },
  otherScript: { first: 1.54, beyond: 2, each: 0.1 },
  letters: { first: 0.74, beyond: 1, each: 0.74 },
  marks: { first: 0.98, beyond: 3, each: 0.15 },
  space: { first: 1.1, beyond: Number.MAX_SAFE_INTEGER, each: 0 },
  lines: { first: 1.6, beyond: Number.MAX_SAFE_INTEGER, each: 0 },
} as const satisfies Record<string, Price>;
const DIGITS_OF_A_TOKEN = 3;
/** Ids cost alike, whatever their digits: an estimate tells nothing of them. */
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/y;
const [UUID_LENGTH, UUID_TOKENS, DASH_AT] = [36, 22.4, 8];
/** What is longer is no word, and no vocabulary has more than pieces of it. */
const WORD_LENGTH = 24;
const TOKENS_OF_A_LETTER = 0.12;

interface Piece {
  readonly end: number;
  readonly tokens: number;
}

/**
 * How many tokens a text costs a model, within a tenth of what o200k counts for texts of a few hundred tokens or more.
 * A text is taken apart as models do it first: words with the mark or space before them, groups of digits, marks, space.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; ) {
    const piece = pieceAt(text, at);
    tokens += piece.tokens;
    at = piece.end;
  }
  return Math.ceil(tokens);
}

function pieceAt(text: string, at: number): Piece {
  if (isUuidAt(text, at)) return { end: at + UUID_LENGTH, tokens: UUID_TOKENS };
  const kind = kindAt(text, at);
  if (isWord(kind)) return wordAt(text, at, PRICES.word);
  if (kind === KIND.digit) return digitsAt(text, at);
  if (kind === KIND.letter)
    return priced(
      PRICES.letters,
      at,
      endOf(text, at, (next) => next === KIND.letter),
    );
  return signAt(text, at, kind);
}

/** A single mark or space belongs to the word behind it. */
function signAt(text: string, at: number, kind: Kind): Piece {
  const next = at + 1 < text.length ? kindAt(text, at + 1) : KIND.line;
  if (kind !== KIND.line && isWord(next) && !isUuidAt(text, at + 1))
    return wordAt(text, at + 1, kind === KIND.mark ? PRICES.wordAfterMark : PRICES.wordAfterSpace);
  const isMark = kind === KIND.mark || (kind === KIND.space && next === KIND.mark);
  return isMark ? marksAt(text, at) : spaceAt(text, at);
}

function isUuidAt(text: string, at: number): boolean {
  if (text[at + DASH_AT] !== '-') return false;
  UUID.lastIndex = at;
  return UUID.test(text);
}

function isWord(kind: Kind): boolean {
  return isUpper(kind) || isLower(kind);
}

/** Capitals and the small letters after them. */
function wordAt(text: string, at: number, ascii: Price): Piece {
  let [isAscii, isLatin] = [true, true];
  const look = (kind: Kind): void => {
    if (kind === KIND.lower || kind === KIND.upper) return;
    isAscii = false;
    if (kind === KIND.otherLower || kind === KIND.otherUpper) isLatin = false;
  };
  const take = (from: number, fits: (kind: Kind) => boolean): number =>
    endOf(text, from, (kind) => {
      if (!fits(kind)) return false;
      look(kind);
      return true;
    });
  const capitals = take(at, isUpper);
  const end = take(capitals, isLower);
  if (!isAscii) return priced(isLatin ? PRICES.accented : PRICES.otherScript, at, end);
  const { tokens } = priced(end === capitals && end - at > 1 ? PRICES.capitals : ascii, at, end);
  return { end, tokens: tokens + Math.max(0, end - at - WORD_LENGTH) * TOKENS_OF_A_LETTER };
}

function digitsAt(text: string, at: number): Piece {
  const end = endOf(text, at, (kind) => kind === KIND.digit);
  return { end, tokens: Math.ceil((end - at) / DIGITS_OF_A_TOKEN) };
}

/** The ends of lines after marks cost nothing of their own. */
function marksAt(text: string, at: number): Piece {
  const marks = endOf(text, at + 1, (kind) => kind === KIND.mark);
  const { tokens } = priced(PRICES.marks, at, marks);
  return { end: endOf(text, marks, (kind) => kind === KIND.line), tokens };
}

function spaceAt(text: string, at: number): Piece {
  let isLine = false;
  const end = endOf(text, at, (kind) => {
    isLine ||= kind === KIND.line;
    return kind === KIND.space || kind === KIND.line;
  });
  return priced(isLine ? PRICES.lines : PRICES.space, at, end);
}

function endOf(text: string, from: number, fits: (kind: Kind) => boolean): number {
  let end = from;
  while (end < text.length && fits(kindAt(text, end))) end += 1;
  return end;
}

function priced({ first, beyond, each }: Price, at: number, end: number): Piece {
  return { end, tokens: first + Math.max(0, end - at - beyond) * each };
}
