import type { BigIntStats } from 'node:fs';
import { chmod, type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises';
import { ServiceError } from '@workspace-graph/contracts';
import type { SeenContent } from '../records/tracked-files.js';
import { ContentDigest, deviceOf, inodeOf, lastName, seenContent, stampOf } from './content.js';
import { diskCode, isAbsent, occupied, onDisk } from './disk-errors.js';
import { HeldFolder, MAKE_FLAGS } from './held-folder.js';
import { type MirrorPath, twinIn } from './mirror-path.js';
import { temporaryName } from './temporary.js';

/** What disks answer that know no hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES']);

export interface StageOptions {
  /** More bytes are refused with PAYLOAD_TOO_LARGE. */
  readonly maxBytes?: number;
  /** Whether to tell if the content is UTF-8 text. */
  readonly text?: boolean;
  readonly signal?: AbortSignal;
  /** Time of the last change that the file is to have; now without it. */
  readonly modified?: { readonly atimeMs: number; readonly mtimeMs: number };
  readonly mode?: number;
}

export interface CommitOptions {
  readonly replace: boolean;
  /** The file that is replaced: another one, or a changed one, is refused with CONFLICT. */
  readonly expected?: Pick<SeenContent, 'stamp' | 'inode'>;
  /** Name that does not count as a twin of the new one, such as the old one of a file that is renamed. */
  readonly besides?: string;
}

/** Content that lies complete on the disk, beside the place where it is to be. Disposing of it leaves nothing. */
export class StagedFile implements AsyncDisposable {
  private constructor(
    private readonly at: MirrorPath,
    private readonly folder: HeldFolder,
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
        await removeIfThere(folder.at(name));
        await folder[Symbol.asyncDispose]();
        throw error;
      }
    });
  }

  /**
   * Puts the content in its place, at once: whoever reads sees the old content or the new one.
   * @throws ServiceError DESTINATION_EXISTS; CONFLICT
   */
  commit(options: CommitOptions): Promise<SeenContent> {
    return onDisk(this.at.path, async () => {
      await this.folder.mustBeInside();
      const to = lastName(this.at);
      if (options.replace) await this.replace(to, options);
      else await putNew(this.folder, { from: this.folder.at(this.name), to, besides: options.besides ?? this.name });
      await removeIfThere(this.folder.at(this.name));
      await this.folder.sync();
      return this.content.seen;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeIfThere(this.folder.at(this.name));
    await this.folder[Symbol.asyncDispose]();
  }

  private async replace(to: string, { expected }: CommitOptions): Promise<void> {
    const there = await lstat(this.folder.at(to), { bigint: true });
    if (!there.isFile() || (expected && !isSame(there, expected)))
      throw new ServiceError('CONFLICT', `The file ${this.at.path} was changed meanwhile.`, { path: this.at.path });
    await chmod(this.folder.at(this.name), Number(there.mode) & 0o777);
    await rename(this.folder.at(this.name), this.folder.at(to));
  }
}

/** Writes a file as a whole: temporary file, sync, rename. @throws ServiceError as `StagedFile` */
export async function writeAtomically(
  at: MirrorPath,
  bytes: AsyncIterable<Uint8Array>,
  options: StageOptions & CommitOptions,
): Promise<SeenContent> {
  await using staged = await StagedFile.of(at, bytes, options);
  return await staged.commit({ ...options, replace: options.replace && at.exists });
}

/** Whether a file is the one that was seen, unchanged. */
export function isSame(found: BigIntStats, { stamp, inode }: Pick<SeenContent, 'stamp' | 'inode'>): boolean {
  return stampOf(found) === stamp && (inode === null || inodeOf(found) === inode);
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
  const others = (await folder.names()).filter((name) => name !== besides);
  const twin = others.includes(to) ? to : twinIn(others, to);
  if (twin !== null) throw occupied(twin);
  try {
    await link(from, folder.at(to));
  } catch (error) {
    if (keep || !NO_LINKS.has(diskCode(error) ?? '')) throw error;
    // The name is taken first, so that nothing is overwritten where there are no hard links.
    await using _taken = await open(folder.at(to), MAKE_FLAGS);
    await rename(from, folder.at(to));
  }
}

export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

async function fill(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  options: StageOptions,
): Promise<{ digest: ContentDigest; found: BigIntStats }> {
  await using handle = await open(path, MAKE_FLAGS, options.mode ?? 0o666);
  const digest = new ContentDigest(options.text ?? false);
  for await (const chunk of bytes) {
    options.signal?.throwIfAborted();
    digest.update(chunk);
    if (digest.sizeBytes > (options.maxBytes ?? Number.POSITIVE_INFINITY)) throw tooLarge(options.maxBytes);
    await writeWhole(handle, chunk);
  }
  options.signal?.throwIfAborted();
  const { modified } = options;
  if (modified) await handle.utimes(modified.atimeMs / 1_000, modified.mtimeMs / 1_000);
  await handle.sync();
  return { digest, found: await handle.stat({ bigint: true }) };
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let done = 0; done < chunk.byteLength; ) {
    const { bytesWritten } = await handle.write(chunk, done);
    done += bytesWritten;
  }
}

function tooLarge(limitBytes: number | undefined): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', `A file may have at most ${limitBytes} bytes here.`, {
    limit_bytes: limitBytes,
  });
}
