import { basename } from 'node:path';

export type Language = 'en' | 'cs';
export const LANGUAGES: readonly Language[] = ['en', 'cs'];

/**
 * Spec files that walk through the page in Czech; the others do in English. About half of them, and those whose flows differ
 * most by language: days, plurals, and words that are long.
 */
const IN_CZECH = ['attention', 'detail', 'history', 'people', 'rows', 'sessions', 'settings', 'start', 'texts'];

/** The one in which a spec file opens the page; `SVC_TEST_LANGUAGE` has `en`, `cs`, or `other` for the one that it leaves out. */
export function languageOfSpec(): Language {
  const isCzech = IN_CZECH.includes(basename(expect.getState().testPath ?? '', '.spec.ts'));
  const given = process.env['SVC_TEST_LANGUAGE'];
  return LANGUAGES.find((one) => one === given) ?? (isCzech === (given === 'other') ? 'en' : 'cs');
}
