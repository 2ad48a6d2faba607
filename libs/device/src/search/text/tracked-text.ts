import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { inodeOf, stampOf } from '@workspace-graph/disk/stamp';
import type { TrackedText } from './extraction.js';

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a file with synchronous calls: for a worker thread. Null when it is not the one that is tracked any more, or was
 * written since, or cannot be read: whoever opens it with care tells.
 */
export function readTracked(tracked: TrackedText): Buffer | null {
  try {
    const file = openSync(tracked.path, FLAGS);
    try {
      const found = fstatSync(file, { bigint: true });
      if (!isTracked(found, tracked)) return null;
      const bytes = readAll(file, Number(found.size));
      return isTracked(fstatSync(file, { bigint: true }), tracked) ? bytes : null;
    } finally {
      closeSync(file);
    }
  } catch {
    // The reason is told where it is opened with care.
    return null;
  }
}

/** Inode and times together: no other file has both, wherever the path leads by now. */
function isTracked(found: BigIntStats, { stamp, inode }: TrackedText): boolean {
  return found.isFile() && inodeOf(found) === inode && stampOf(found) === stamp;
}

function readAll(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read)
    read = readSync(file, bytes, length, size - length, length);
  return bytes.subarray(0, length);
}
