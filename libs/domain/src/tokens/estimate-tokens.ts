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
const DASH = '-'.charCodeAt(0);
/** What is longer is no word, and no vocabulary has more than pieces of it. */
const WORD_LENGTH = 24;
const TOKENS_OF_A_LETTER = 0.12;

/** Sets of kinds, a bit each. */
const LOWER = (1 << KIND.lower) | (1 << KIND.accentedLower) | (1 << KIND.otherLower);
const ACCENTED = (1 << KIND.accentedLower) | (1 << KIND.accentedUpper);
const OTHER_SCRIPT = (1 << KIND.otherLower) | (1 << KIND.otherUpper);

/**
 * How many tokens a text costs a model, within a tenth of what o200k counts for texts of a few hundred tokens or more.
 * A text is taken apart as models do it first: words with the mark or space before them, groups of digits, marks, space.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(new Walk(text).tokens());
}

/** Goes through a text piece by piece. Answers of ten thousand characters are counted all the time: nothing is allocated. */
class Walk {
  private at = 0;

  constructor(private readonly text: string) {}

  tokens(): number {
    let tokens = 0;
    while (this.at < this.text.length) tokens += this.piece();
    return tokens;
  }

  /** Tokens of the piece that begins here; goes on to the next. */
  private piece(): number {
    const { text, at } = this;
    if (isUuidAt(text, at)) {
      this.at += UUID_LENGTH;
      return UUID_TOKENS;
    }
    const kind = kindAt(text, at);
    if (isWord(kind)) return this.word(PRICES.word);
    if (kind === KIND.digit) return Math.ceil(this.run(KIND.digit) / DIGITS_OF_A_TOKEN);
    if (kind === KIND.letter) return priced(PRICES.letters, this.run(KIND.letter));
    return this.sign(kind);
  }

  /** A single mark or space belongs to the word behind it. */
  private sign(kind: Kind): number {
    const { text, at } = this;
    const next = at + 1 < text.length ? kindAt(text, at + 1) : KIND.line;
    if (kind !== KIND.line && isWord(next) && !isUuidAt(text, at + 1)) {
      this.at += 1;
      return this.word(kind === KIND.mark ? PRICES.wordAfterMark : PRICES.wordAfterSpace);
    }
    const isMark = kind === KIND.mark || (kind === KIND.space && next === KIND.mark);
    return isMark ? this.marks() : this.space();
  }

  /** Capitals and the small letters after them. */
  private word(ascii: Price): number {
    const { text, at: start } = this;
    let kinds = 0;
    for (; this.at < text.length; this.at += 1) {
      const kind = kindAt(text, this.at);
      const belongs = isLower(kind) || ((kinds & LOWER) === 0 && isUpper(kind));
      if (!belongs) break;
      kinds |= 1 << kind;
    }
    const length = this.at - start;
    if ((kinds & OTHER_SCRIPT) !== 0) return priced(PRICES.otherScript, length);
    if ((kinds & ACCENTED) !== 0) return priced(PRICES.accented, length);
    const tokens = priced((kinds & LOWER) === 0 && length > 1 ? PRICES.capitals : ascii, length);
    return tokens + Math.max(0, length - WORD_LENGTH) * TOKENS_OF_A_LETTER;
  }

  /** The ends of lines after marks cost nothing of their own. */
  private marks(): number {
    this.at += 1;
    const tokens = priced(PRICES.marks, 1 + this.run(KIND.mark));
    this.run(KIND.line);
    return tokens;
  }

  private space(): number {
    let [length, lines] = [0, 0];
    for (let more = 1; more > 0; length += more) {
      const ends = this.run(KIND.line);
      more = ends + this.run(KIND.space);
      lines += ends;
    }
    return priced(lines > 0 ? PRICES.lines : PRICES.space, length);
  }

  /** Goes on while units are of this kind. @returns how many were */
  private run(kind: Kind): number {
    const { text, at: start } = this;
    while (this.at < text.length && kindAt(text, this.at) === kind) this.at += 1;
    return this.at - start;
  }
}

function isUuidAt(text: string, at: number): boolean {
  if (text.charCodeAt(at + DASH_AT) !== DASH) return false;
  UUID.lastIndex = at;
  return UUID.test(text);
}

function isWord(kind: Kind): boolean {
  return isUpper(kind) || isLower(kind);
}

function priced({ first, beyond, each }: Price, length: number): number {
  return first + Math.max(0, length - beyond) * each;
}
