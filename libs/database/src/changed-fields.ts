import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/** The fields that differ, as the audit trail keeps them; null when none does. */
export function changedFields<T extends Fields>(before: T, after: T): { before: Fields; after: Fields } | null {
  const keys = Object.keys(after).filter((key) => !isDeepStrictEqual(before[key], after[key]));
  if (keys.length === 0) return null;
  const pick = (fields: Fields): Fields => Object.fromEntries(keys.map((key) => [key, fields[key]]));
  return { before: pick(before), after: pick(after) };
}
