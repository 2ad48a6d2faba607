/** Letters that Unicode does not decompose into a base letter and a mark, after lower-casing. */
const UNDECOMPOSED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
  ƒ: 'f',
  ς: 'σ',
};
const UNDECOMPOSED_LETTERS = new RegExp(`[${Object.keys(UNDECOMPOSED).join('')}]`, 'gu');

/** Marks shared by scripts; Indic vowel signs belong to theirs, and the Japanese voicing marks make other letters. */
const DIACRITICS = /(?![\u3099\u309a])\p{Script=Inherited}/gu;

/** Letters below stand for themselves alone: what becomes of a text of them is what becomes of each. */
const LATIN_END = 0x250;
/** Longer texts are quicker as a whole. */
const LETTER_BY_LETTER = 200;
const IS_LATIN = /^[^\u0250-\uffff]*$/;
const BEYOND_ASCII = /[^\0-\x7f]/g;
/** Runs of white space, but for what is one space already: nearly all are. */
const SPACES = /[^\S ]\s*| \s+/g;
const LATIN = Array.from({ length: LATIN_END }, (_, code) => plainLetters(String.fromCharCode(code)));

/**
 * The form in which texts are compared by search: compatibility forms resolved, lower case, without
 * diacritics, with ł, ø, ß, æ and their like as plain letters, and runs of white space as one space.
 * Folding a folded text changes nothing.
 */
export function fold(text: string): string {
  return (plainLatin(text) ?? plainLetters(text)).replace(SPACES, ' ').trim();
}

function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    .replace(UNDECOMPOSED_LETTERS, (letter) => UNDECOMPOSED[letter] ?? letter)
    .normalize('NFC');
}

/** The same for texts of Latin letters; undefined for others. */
function plainLatin(text: string): string | undefined {
  if (text.length > LETTER_BY_LETTER) return IS_LATIN.test(text) ? plainLatinText(text) : undefined;
  let plain = '';
  for (let at = 0; at < text.length; at += 1) {
    const letter = LATIN[text.charCodeAt(at)];
    if (letter === undefined) return undefined;
    plain += letter;
  }
  return plain;
}

function plainLatinText(text: string): string {
  return text.replace(BEYOND_ASCII, (letter) => LATIN[letter.charCodeAt(0)] ?? letter).toLowerCase();
}
