import type { NodeType } from '@workspace-graph/contracts';
import { fold } from './fold.js';

/** Longest sync_key in characters, all of which are single bytes. */
export const SYNC_KEY_MAX_LENGTH = 80;

const SUFFIX_LENGTH = 5;
/** Without letters and digits that look alike: people copy folder names by hand. */
const SUFFIX_ALPHABET = '23456789abcdefghjkmnpqrstvwxyz';

/** Names that Windows gives to devices, so that no folder can bear them. */
const DEVICE_NAME = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/**
 * The sync_key that a new node gets from its name: ASCII letters and digits in lower case, joined by
 * single hyphens, at most {@link SYNC_KEY_MAX_LENGTH} long. A name without any gives the type's name.
 */
export function syncKeyOf(name: string, type: NodeType): string {
  const slug = trimmed(fold(name).replace(/[^a-z0-9]+/g, '-'), SYNC_KEY_MAX_LENGTH);
  if (slug === '') return type;
  return DEVICE_NAME.test(slug) ? `${slug}-${type}` : slug;
}

/**
 * The key for a node whose own key is taken: the same with a short random suffix.
 * `random` answers numbers from 0 up to, but not including, 1.
 */
export function suffixedSyncKey(syncKey: string, random: () => number): string {
  const suffix = Array.from(
    { length: SUFFIX_LENGTH },
    () => SUFFIX_ALPHABET[Math.floor(random() * SUFFIX_ALPHABET.length)],
  );
  return `${trimmed(syncKey, SYNC_KEY_MAX_LENGTH - SUFFIX_LENGTH - 1)}-${suffix.join('')}`;
}

function trimmed(slug: string, maxLength: number): string {
  return slug.replace(/^-+/, '').slice(0, maxLength).replace(/-+$/, '');
}
