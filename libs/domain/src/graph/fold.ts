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

/**
 * The form in which texts are compared by search: compatibility forms resolved, lower case, without
 * diacritics, with ł, ø, ß, æ and their like as plain letters, and runs of white space as one space.
 * Folding a folded text changes nothing.
 */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    .replace(UNDECOMPOSED_LETTERS, (letter) => UNDECOMPOSED[letter] ?? letter)
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .trim();
}
