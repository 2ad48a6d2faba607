import { constants } from 'node:fs';
import { copyFile, link, open } from 'node:fs/promises';
import { OTHER_DISK } from './aside.js';
import { ContentDigest, chunksOf, lastName, openForReading, seenOrRead } from './content.js';
import { diskCode, isFull, onDisk } from './disk-errors.js';
import { HeldFolder, mustBeFile, statOrNull } from './held-folder.js';
import type { MirrorPath } from './mirror-path.js';
import type { SeenContent } from './seen-content.js';
import { editOf } from './stamp.js';
import { copied, fill, isSame, removeIfThere } from './write.js';

/** Of larger files a copy that shares no blocks would take long, and as much room once more. */
const COPIED_BYTES = 64 * 1_048_576;
const CLONE = constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL;

/** What was kept of a file. */
export interface KeptContent {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Null for a copy. Else it is the file itself under a second name, as it was with this `editOf` its stamp. */
  readonly edit: string | null;
}

/**
 * Keeps the content of a file under a path outside of its mirror, where nothing lies. As a copy, into which no program
 * saves that has the file open: one that shares the blocks of the file where the disk makes such; else only of files up to
 * 64 MiB, or with names elsewhere, and where there is room. Other files get a second name, or are copied where that is
 * impossible. `known` is not read again while its stamp is that of the file.
 * @throws ServiceError FILE_NOT_FOUND, STORAGE_FULL
 */
export async function keepAs(at: MirrorPath, path: string, known: SeenContent | null): Promise<KeptContent> {
  return onDisk(at.path, async () => {
    await using folder = await HeldFolder.of(at);
    const { size, nlink } = await mustBeFile(at, folder);
    const existing = folder.at(lastName(at));
    const isSmall = size <= COPIED_BYTES || nlink > 1n;
    const copy = (await clone(existing, path, isSmall ? null : known)) ?? (isSmall ? await tryCopy(at, path) : null);
    if (copy) return copy;
    const seen = await seenOrRead(at, known);
    return (await isLinked(existing, path)) ? { ...seen, edit: editOf(seen.stamp ?? '') } : copyOut(at, path);
  });
}

/** Null where the disk makes no copies that share blocks. Such a copy of what is known is not read. */
async function clone(existing: string, path: string, known: SeenContent | null): Promise<KeptContent | null> {
  try {
    await copyFile(existing, path, CLONE);
  } catch {
    // Whatever stands in the way, the next way to keep it tells.
    return null;
  }
  return orNothing(path, async () => {
    const found = await statOrNull(existing);
    await using handle = await open(path, 'r');
    if (found) await handle.utimes(Number(found.atimeMs) / 1_000, Number(found.mtimeMs) / 1_000);
    await handle.sync();
    if (found && known && isSame(found, known)) return { ...known, edit: null };
    const digest = new ContentDigest(false);
    for await (const chunk of chunksOf(handle)) digest.update(chunk);
    return keptOf(digest);
  });
}

/** Null where there is no room. */
async function tryCopy(at: MirrorPath, path: string): Promise<KeptContent | null> {
  try {
    return await copyOut(at, path);
  } catch (error) {
    if (isFull(error)) return null;
    throw error;
  }
}

async function copyOut(at: MirrorPath, path: string): Promise<KeptContent> {
  await using handle = await openForReading(at);
  const options = await copied(handle);
  return await orNothing(path, async () => keptOf((await fill(path, chunksOf(handle), options)).digest));
}

async function orNothing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await removeIfThere(path);
    throw error;
  }
}

async function isLinked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (OTHER_DISK.has(diskCode(error) ?? '')) return false;
    throw error;
  }
}

function keptOf(digest: ContentDigest): KeptContent {
  return { sha256: digest.sha256(), sizeBytes: digest.sizeBytes, edit: null };
}
