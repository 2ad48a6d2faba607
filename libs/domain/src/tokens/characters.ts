/** What a UTF-16 unit is to a model's vocabulary. */
export const KIND = {
  mark: 0,
  lower: 1,
  upper: 2,
  accentedLower: 3,
  accentedUpper: 4,
  otherLower: 5,
  otherUpper: 6,
  letter: 7,
  digit: 8,
  space: 9,
  line: 10,
} as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

/** First unit of each range and what it holds; a cased range is told apart by its letters. */
const RANGES: readonly (readonly [first: number, kind: Kind])[] = [
  [0x80, KIND.mark],
  [0xa0, KIND.space],
  [0xa1, KIND.mark],
  [0xc0, KIND.accentedLower],
  [0x370, KIND.otherLower],
  [0x590, KIND.letter],
  [0x1e00, KIND.accentedLower],
  [0x1f00, KIND.otherLower],
  [0x2000, KIND.space],
  [0x200b, KIND.mark],
  [0x2c00, KIND.otherLower],
  [0x2e00, KIND.mark],
  [0x3000, KIND.space],
  [0x3001, KIND.mark],
  [0x3040, KIND.letter],
  [0xd800, KIND.mark],
  [0xf900, KIND.letter],
  [0xfe00, KIND.mark],
  [0xff21, KIND.letter],
];

const ASCII: readonly Kind[] = Array.from({ length: 0x80 }, (_, unit) => kindOfAscii(String.fromCharCode(unit)));

const UNKNOWN = 0xff;
/** By unit, those that were seen. */
const KNOWN = new Uint8Array(0x1_0000).fill(UNKNOWN);

/** The kind of the unit at a place within the text. */
export function kindAt(text: string, at: number): Kind {
  const unit = text.charCodeAt(at);
  const known = KNOWN[unit];
  if (known !== UNKNOWN) return known as Kind;
  const kind = kindOf(unit);
  KNOWN[unit] = kind;
  return kind;
}

function kindOf(unit: number): Kind {
  if (unit < 0x80) return ASCII[unit] ?? KIND.mark;
  const kind = RANGES.findLast(([first]) => first <= unit)?.[1] ?? KIND.mark;
  if (kind !== KIND.accentedLower && kind !== KIND.otherLower) return kind;
  if (unit === 0xd7 || unit === 0xf7) return KIND.mark;
  const letter = String.fromCharCode(unit);
  if (letter === letter.toLowerCase()) return kind;
  return kind === KIND.accentedLower ? KIND.accentedUpper : KIND.otherUpper;
}

export function isUpper(kind: Kind): boolean {
  return kind === KIND.upper || kind === KIND.accentedUpper || kind === KIND.otherUpper;
}

export function isLower(kind: Kind): boolean {
  return kind === KIND.lower || kind === KIND.accentedLower || kind === KIND.otherLower;
}

function kindOfAscii(character: string): Kind {
  if (/[a-z]/.test(character)) return KIND.lower;
  if (/[A-Z]/.test(character)) return KIND.upper;
  if (/\d/.test(character)) return KIND.digit;
  if (/[\r\n]/.test(character)) return KIND.line;
  return /\s/.test(character) ? KIND.space : KIND.mark;
}
