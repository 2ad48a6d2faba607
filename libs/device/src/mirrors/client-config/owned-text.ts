import { createHash } from 'node:crypto';

/** What we added to a file: the file itself, the group of entries in it, or just our entry. */
export type Made = 'file' | 'group' | 'entry';

/** What we wrote into a file, where the file itself cannot tell. */
export interface Ownership {
  /** `hashOf` the entries that we made. */
  readonly hashes: readonly string[];
  readonly made: Made | null;
}

/**
 * A file with our entry, or without it; a null text when nothing is left of it. `foreign`: somebody else wrote the entry
 * of our name, or nothing can be added to the file without changing what it means.
 */
export type Edited = { readonly text: string | null; readonly made: Made | null } | 'foreign';

/** A file of an agent client of which we keep one entry, as it is to be now. */
export interface OwnedText {
  /** Of the entry; null where the file itself tells which entry is ours. */
  readonly hash: string | null;
  /** `before` is null when there is no file. Answers the same text when the entry is as it is to be. */
  write(before: string | null, own: Ownership): Edited;
  remove(before: string, own: Ownership): Edited;
}

/** Tells whether something was changed since we wrote it. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
