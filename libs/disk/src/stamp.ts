import type { BigIntStats } from 'node:fs';

/**
 * Size, time of the last edit and time of the last change of a file, both in nanoseconds. Another stamp tells that the
 * content may be another: no program can set the last one, but a new name changes it as well as an edit.
 */
export function stampOf({ size, mtimeNs, ctimeNs }: Pick<BigIntStats, 'size' | 'mtimeNs' | 'ctimeNs'>): string {
  return `${size}:${mtimeNs}:${ctimeNs}`;
}

/** What of a stamp stays when a file only gets another name or other permissions. */
export function editOf(stamp: string): string {
  return stamp.split(':', 2).join(':');
}

/** The times of a stamp, in nanoseconds: of the last edit and of the last change. */
export function timesOf(stamp: string): bigint[] {
  return stamp.split(':').slice(1).map(BigInt);
}

export function inodeOf({ ino }: Pick<BigIntStats, 'ino'>): string {
  return `${ino}`;
}
