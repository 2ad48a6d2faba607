import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inodeOf, stampOf, temporaryName } from '@workspace-graph/disk';
import { replaceText } from '@workspace-graph/platform';

/** Larger files are somebody else's. */
const MAX_BYTES = 1_048_576;

/** What lies at a path. `foreign`: no regular file, reached through a link, too large, or no text. */
export type FoundText = ReadText | 'missing' | 'foreign';

/** A text, and of which file in which state it is. */
export interface ReadText {
  readonly text: string;
  readonly stamp: string;
  readonly inode: string;
}

/** Reads a small text file of a folder without following a link on the way from that folder. */
export async function readText(folder: string, path: string): Promise<FoundText> {
  if (!(await isPlainWay(folder, path))) return 'foreign';
  const found = await lstat(join(folder, path)).catch(missing);
  if (found === null) return 'missing';
  if (!found.isFile() || found.size > MAX_BYTES) return 'foreign';
  const file = await open(join(folder, path), constants.O_RDONLY | noFollow());
  try {
    // What is saved from here on makes it another one.
    const state = await file.stat({ bigint: true });
    const bytes = await file.readFile();
    if (!isUtf8(bytes)) return 'foreign';
    return { text: bytes.toString('utf8'), stamp: stampOf(state), inode: inodeOf(state) };
  } finally {
    await file.close();
  }
}

/** Writes a text file that nobody else writes as a whole, and makes its folder as needed. */
export async function writeText(target: string, text: string, mode: number): Promise<void> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  await replaceText(target, text, { draft: join(folder, temporaryName()), mode });
}

async function isPlainWay(folder: string, path: string): Promise<boolean> {
  let at = folder;
  for (const name of path.split('/').slice(0, -1)) {
    at = join(at, name);
    const found = await lstat(at).catch(missing);
    if (found === null) return true;
    if (!found.isDirectory()) return false;
  }
  return true;
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Windows has no such flag; the kind of the file was looked at before. */
function noFollow(): number {
  return process.platform === 'win32' ? 0 : constants.O_NOFOLLOW;
}
