import { type BigIntStats, constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ServiceError } from '@workspace-graph/contracts';
import { diskCode, fileNotFound, isAbsent, occupied } from './disk-errors.js';
import { folderGone, type MirrorPath, throughLink, twinIn } from './mirror-path.js';

/** Names under an open folder are reached through it, whatever becomes of the path that led there. */
const OPEN_FOLDERS = process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : null;
const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

interface HoldOptions {
  /** True: folders that are not there are made. */
  readonly create?: boolean;
  /** A path whose folders are given up: a new folder may be the twin of one of them. */
  readonly leaving?: MirrorPath | undefined;
}

interface Makes {
  readonly create: boolean;
  /** Name that may be there although the new one differs from it by case or form only. */
  readonly twin: string | null;
}

/**
 * The folder of a path, held open, so that nobody can put a symbolic link in its way between a check and its use. Where
 * the system has no such thing, every folder on the way is checked right before it is used.
 */
export class HeldFolder implements AsyncDisposable {
  private constructor(
    private handle: FileHandle | null,
    /** Where the names of this folder are reached. */
    private readonly base: string,
    private readonly realRoot: string,
  ) {}

  /**
   * Holds the folder in which the last name of `at` lies.
   * @throws ServiceError NO_MIRROR, VALIDATION_FAILED for a symbolic link; errors of the file system, such as ENOENT
   */
  static async of(at: MirrorPath, { create = false, leaving }: HoldOptions = {}): Promise<HeldFolder> {
    let folder = await HeldFolder.root(at.mirrorRoot);
    for (const [depth, name] of at.names.slice(0, -1).entries()) {
      const makes = { create, twin: leaving?.names[depth] ?? null };
      await using above = folder;
      folder = await above.enter(name, makes);
    }
    return folder;
  }

  /** Where a name of this folder is reached; only for names that were checked. */
  at(name: string): string {
    return join(this.base, name);
  }

  /** Whether both are one folder. */
  async isSame(other: HeldFolder): Promise<boolean> {
    const [one, two] = await Promise.all([stat(this.base, { bigint: true }), stat(other.base, { bigint: true })]);
    return one.ino === two.ino && one.dev === two.dev;
  }

  /** Device on which it lies. */
  async device(): Promise<number> {
    return (await stat(this.base)).dev;
  }

  names(): Promise<string[]> {
    return readdir(this.base);
  }

  /** @throws ServiceError CONFLICT when the folder was moved out of the mirror meanwhile */
  async mustBeInside(): Promise<void> {
    const real = await realpath(this.base).catch((error: unknown) => {
      if (isAbsent(error)) return null;
      throw error;
    });
    if (real !== this.realRoot && !real?.startsWith(this.realRoot + sep))
      throw new ServiceError('CONFLICT', 'The folder has been moved away.');
  }

  /** Writes to the disk that names were added or removed. */
  async sync(): Promise<void> {
    if (process.platform === 'win32') return;
    if (this.handle) return this.handle.sync();
    await using handle = await open(this.base, FOLDER);
    await handle.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { handle } = this;
    this.handle = null;
    await handle?.close();
  }

  private static async root(mirrorRoot: string): Promise<HeldFolder> {
    try {
      const realRoot = await realpath(mirrorRoot);
      return await HeldFolder.hold(realRoot, realRoot, FOLDER);
    } catch (error) {
      throw isAbsent(error) ? folderGone() : error;
    }
  }

  private static async hold(path: string, realRoot: string, flags: number): Promise<HeldFolder> {
    if (OPEN_FOLDERS === null) {
      const found = await lstat(path);
      if (found.isSymbolicLink() || !found.isDirectory()) throw Object.assign(new Error(path), { code: 'ENOTDIR' });
      return new HeldFolder(null, path, realRoot);
    }
    const handle = await open(path, flags);
    return new HeldFolder(handle, `${OPEN_FOLDERS}/${handle.fd}`, realRoot);
  }

  private async enter(name: string, makes: Makes): Promise<HeldFolder> {
    try {
      return await HeldFolder.hold(this.at(name), this.realRoot, FOLDER | NO_FOLLOW);
    } catch (error) {
      if (diskCode(error) === 'ENOENT' && makes.create) return this.make(name, makes);
      const isLink = await lstat(this.at(name)).then(
        (found) => found.isSymbolicLink(),
        () => false,
      );
      throw isLink ? throughLink(name) : error;
    }
  }

  private async make(name: string, makes: Makes): Promise<HeldFolder> {
    const twin = twinIn(await this.names(), name);
    // A second folder that other disks cannot tell from the first would be merged with it there.
    if (twin !== null && twin !== makes.twin) throw occupied(twin);
    await mkdir(this.at(name)).catch((error: unknown) => {
      if (diskCode(error) !== 'EEXIST') throw error;
    });
    await this.sync();
    return HeldFolder.hold(this.at(name), this.realRoot, FOLDER | NO_FOLLOW);
  }
}

/** Flags with which the content of a file is opened: no link is followed and nothing waits for the other end of a pipe. */
export const READ_FLAGS = constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0);
/** The same for a file that is written on. */
export const WRITE_FLAGS = constants.O_RDWR | NO_FOLLOW | (constants.O_NONBLOCK ?? 0);
/** Flags with which a file is made that must not be there. */
export const MAKE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

/** What lies under the last name of a path. @throws ServiceError FILE_NOT_FOUND for anything but a file */
export async function mustBeFile(at: MirrorPath, folder: HeldFolder): Promise<BigIntStats> {
  const found = await statOrNull(folder.at(at.names.at(-1) ?? ''));
  if (!found?.isFile()) throw fileNotFound({ path: at.path });
  return found;
}

/** Whether an ordinary file lies at a path; a link is none. */
export async function isFile({ absolute, exists }: MirrorPath): Promise<boolean> {
  return exists && (await statOrNull(absolute))?.isFile() === true;
}

/** What lies at a path, a link as itself; null for nothing. */
export async function statOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
