import type { BigIntStats } from 'node:fs';
import { chmod, type FileHandle, link, lstat, open, unlink } from 'node:fs/promises';
import { ServiceError } from '@workspace-graph/contracts';
import { type Asides, bringBack, nameOrRename, takeAside } from './aside.js';
import { ContentDigest, deviceOf, lastName, seenContent } from './content.js';
import { diskCode, isAbsent, occupied, onDisk } from './disk-errors.js';
import { GatheredWrites } from './gathered-writes.js';
import { HeldFolder, MAKE_FLAGS } from './held-folder.js';
import { type MirrorPath, twinIn } from './mirror-path.js';
import type { SeenContent } from './seen-content.js';
import { editOf, inodeOf, stampOf } from './stamp.js';
import { temporaryName } from './temporary.js';

export interface StageOptions {
  /** More bytes are refused with PAYLOAD_TOO_LARGE. */
  readonly maxBytes?: number;
  /** Whether to tell if the content is UTF-8 text. */
  readonly text?: boolean;
  /** False where nobody asks for the hash: `seen.sha256` is empty then. */
  readonly hash?: boolean;
  readonly signal?: AbortSignal;
  /** Time of the last change that the file is to have; now without it. */
  readonly modified?: { readonly atimeMs: number; readonly mtimeMs: number };
  readonly mode?: number;
}

export interface CommitOptions {
  /** The file that is replaced; nothing may lie there without it. */
  readonly replaces?: Replaced | null;
  /** Name that does not count as a twin of the new one, such as the old one of a file that is renamed. */
  readonly besides?: string;
}

/** What is to be replaced: another file than the expected one, or a changed one, is refused with CONFLICT. */
export interface Replaced {
  readonly expected: Pick<SeenContent, 'stamp' | 'inode'>;
  readonly asides: Asides;
}

/** Content that lies complete on the disk, beside the place where it is to be. Disposing of it leaves nothing. */
export class StagedFile implements AsyncDisposable {
  private constructor(
    readonly at: MirrorPath,
    readonly folder: HeldFolder,
    private readonly name: string,
    /** What lies there, and whether it is text. */
    readonly content: { readonly seen: SeenContent; readonly isText: boolean },
  ) {}

  /**
   * Streams bytes into a temporary file in the folder of `at`, with constant memory, and syncs it. Makes folders as
   * needed.
   * @throws ServiceError STORAGE_FULL, PAYLOAD_TOO_LARGE, VALIDATION_FAILED, DESTINATION_EXISTS for a folder on the way
   * that is a file; whatever the stream throws
   */
  static async of(at: MirrorPath, bytes: AsyncIterable<Uint8Array>, options: StageOptions = {}): Promise<StagedFile> {
    return onDisk(at.path, async () => {
      const folder = await HeldFolder.of(at, { create: true });
      const name = temporaryName();
      try {
        const { digest, found } = await fill(folder.at(name), bytes, options);
        const measured = { sha256: digest.sha256(), sizeBytes: digest.sizeBytes, rootDevice: await deviceOf(at) };
        const seen = seenContent(at.path, found, measured);
        return new StagedFile(at, folder, name, { seen, isText: digest.isText() });
      } catch (error) {
        // On a disk that became read-only, not even what is not there can be removed.
        await using _folder = folder;
        await removeIfThere(folder.at(name));
        throw error;
      }
    });
  }

  /**
   * Puts the content in its place: whoever reads sees the old content or the new one, or for an instant none. What it
   * replaces is taken aside.
   * @throws ServiceError DESTINATION_EXISTS; CONFLICT
   */
  commit(options: CommitOptions = {}): Promise<SeenContent> {
    return onDisk(this.at.path, async () => {
      await this.folder.mustBeInside();
      const besides = options.besides ?? this.name;
      await place(this.folder.at(this.name), this, { ...options, besides });
      return this.seenInPlace();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeIfThere(this.folder.at(this.name));
    await this.folder[Symbol.asyncDispose]();
  }

  /** The new name, and the end of the old one, changed the stamp. */
  private async seenInPlace(): Promise<SeenContent> {
    const { seen } = this.content;
    const found = await lstat(this.folder.at(lastName(this.at)), { bigint: true });
    return { ...seen, stamp: isSame(found, seen) ? stampOf(found) : null };
  }
}

/**
 * Puts a file that lies complete elsewhere on the same disk in its place, as `StagedFile.commit` does. It has its old name until
 * it is there. Makes folders as needed.
 * @throws ServiceError DESTINATION_EXISTS; CONFLICT; EXDEV where the place is on another disk
 */
export function placeFile(from: string, at: MirrorPath, options: CommitOptions): Promise<void> {
  return onDisk(at.path, async () => {
    await using folder = await HeldFolder.of(at, { create: true });
    await place(from, { at, folder }, options);
  });
}

/** The place where a file is to be, with its folder. */
interface Place {
  readonly at: MirrorPath;
  readonly folder: HeldFolder;
}

async function place(from: string, to: Place, { replaces, besides = '' }: CommitOptions): Promise<void> {
  const { at, folder } = to;
  if (replaces) {
    const there = await lstat(folder.at(lastName(at)), { bigint: true });
    if (!isSame(there, replaces.expected)) throw changedMeanwhile(at.path);
    await chmod(from, Number(there.mode) & 0o777);
    exchangeFile(from, to, replaces);
  } else await putNew(folder, { from, to: lastName(at), besides });
  await removeIfThere(from);
  await folder.sync();
}

/**
 * Gives a file the name of another one, which is taken aside, when that is the expected one.
 * @throws ServiceError CONFLICT; EXDEV
 */
export function exchangeFile(from: string, { at, folder }: Place, { expected, asides }: Replaced): void {
  const taking = { folder, name: lastName(at), id: asides.next(at) };
  const taken = takeAside(taking);
  try {
    if (!isSame(taken, expected)) throw changedMeanwhile(at.path);
    nameOrRename(from, folder.at(taking.name));
  } catch (error) {
    bringBack(taking);
    throw diskCode(error) === 'EEXIST' ? changedMeanwhile(at.path) : error;
  }
}

/** Whether a file is the one that was seen and was not edited, whatever name it has now. */
export function isSame(found: BigIntStats, { stamp, inode }: Pick<SeenContent, 'stamp' | 'inode'>): boolean {
  if (!found.isFile() || stamp === null) return false;
  return editOf(stampOf(found)) === editOf(stamp) && (inode === null || inodeOf(found) === inode);
}

export function changedMeanwhile(path: string): ServiceError {
  return new ServiceError('CONFLICT', `The file ${path} has been changed.`, { path });
}

export interface NewName {
  /** Where the file is reached now. */
  readonly from: string;
  readonly to: string;
  /** Name in the folder that does not count as a twin. */
  readonly besides: string;
  /** True: where there are no hard links, their error is thrown instead of giving the old name up. */
  readonly keep?: boolean;
}

/** Gives a file a name in a folder, under which nothing lies, no twin either. */
export async function putNew(folder: HeldFolder, { from, to, besides, keep = false }: NewName): Promise<void> {
  await mustBeFree(folder, to, besides);
  if (keep) await link(from, folder.at(to));
  else nameOrRename(from, folder.at(to));
}

/** @throws ServiceError DESTINATION_EXISTS when a name of a folder is taken, or a twin of it other than `besides` */
export async function mustBeFree(folder: HeldFolder, name: string, besides: string): Promise<void> {
  const others = (await folder.names()).filter((other) => other !== besides);
  const twin = others.includes(name) ? name : twinIn(others, name);
  if (twin !== null) throw occupied(twin);
}

export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** Writes a new file, to the disk. */
export async function fill(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  options: StageOptions,
): Promise<{ digest: ContentDigest; found: BigIntStats }> {
  await using handle = await open(path, MAKE_FLAGS, options.mode ?? 0o666);
  const digest = new ContentDigest(options.text ?? false, options.hash);
  const writes = new GatheredWrites(handle);
  for await (const chunk of bytes) {
    options.signal?.throwIfAborted();
    digest.update(chunk);
    if (digest.sizeBytes > (options.maxBytes ?? Number.POSITIVE_INFINITY)) throw tooLarge(options.maxBytes);
    await writes.write(chunk);
  }
  await writes.end();
  options.signal?.throwIfAborted();
  const { modified, mode } = options;
  if (mode !== undefined) await permit(handle, mode);
  if (modified) await handle.utimes(modified.atimeMs / 1_000, modified.mtimeMs / 1_000);
  await handle.sync();
  return { digest, found: await handle.stat({ bigint: true }) };
}

/** Options for a file that is to look like an open one. */
export async function copied(handle: FileHandle): Promise<StageOptions> {
  const { atimeMs, mtimeMs, mode } = await handle.stat();
  return { modified: { atimeMs, mtimeMs }, mode: mode & 0o777 };
}

/** Gives a file all of these permissions, also those that new files are not given by themselves. */
async function permit(handle: FileHandle, mode: number): Promise<void> {
  if ((Number((await handle.stat()).mode) & 0o777) === mode) return;
  await handle.chmod(mode).catch((error: unknown) => {
    // Disks without permissions have none to give.
    if (diskCode(error) !== 'EPERM' && diskCode(error) !== 'ENOTSUP') throw error;
  });
}

function tooLarge(limitBytes: number | undefined): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', `A file may have at most ${limitBytes} bytes here.`, {
    limit_bytes: limitBytes,
  });
}
