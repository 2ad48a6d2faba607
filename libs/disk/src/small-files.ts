import {
  type BigIntStats,
  closeSync,
  fstatSync,
  fsync,
  futimesSync,
  lstatSync,
  open,
  read,
  unlinkSync,
  write,
} from 'node:fs';
import { promisify } from 'node:util';
import { pathKey } from '@workspace-graph/domain';
import { nameOrRename } from './aside.js';
import { diskError, occupied, onDisk } from './disk-errors.js';
import { HeldFolder, MAKE_FLAGS, READ_FLAGS } from './held-folder.js';
import { type MirrorPath, twinKeyOf } from './mirror-path.js';
import { inodeOf, stampOf } from './stamp.js';
import { temporaryName } from './temporary.js';
import { isSame, removeIfThere } from './write.js';

// Plain descriptors: of many small files, handles would cost more than their contents.
const [openFile, readFrom, writeTo, syncFile] = [promisify(open), promisify(read), promisify(write), promisify(fsync)];

/** What a small file held at one moment. */
export interface SmallContent {
  readonly found: BigIntStats;
  readonly bytes: Uint8Array;
}

/**
 * Reads a file of a folder as a whole. Null for whatever is out of the ordinary: no file, one with more than `maxBytes`, one
 * that cannot be opened or is being written. Whether the folder is still in its mirror is for the caller to ask afterwards.
 */
export async function readSmall(folder: HeldFolder, name: string, maxBytes: number): Promise<SmallContent | null> {
  const descriptor = await openFile(folder.at(name), READ_FLAGS).catch(() => null);
  if (descriptor === null) return null;
  try {
    const found = fstatSync(descriptor, { bigint: true });
    if (!found.isFile() || found.size > maxBytes) return null;
    const bytes = Buffer.allocUnsafe(Number(found.size));
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await readFrom(descriptor, bytes, done, bytes.length - done, done);
      if (bytesRead === 0) return null;
      done += bytesRead;
    }
    return stampOf(fstatSync(descriptor, { bigint: true })) === stampOf(found) ? { found, bytes } : null;
  } finally {
    closeSync(descriptor);
  }
}

/** A content that is to be a new file. */
export interface NewFile {
  /** Within the mirror, in NFC; of the folder into which all of them come. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Time of the last edit that the file is to have; now without it. */
  readonly modifiedMs?: number | undefined;
}

/** A new file that has its name. */
export interface NamedFile {
  readonly found: BigIntStats;
  /** False when somebody wrote into it before it had its name. */
  readonly isAsWritten: boolean;
}

/**
 * New files that come into one folder together: each is written and synced by itself, then all are named after one look at the
 * folder, and that is synced once. Disposing of it leaves nothing but what has its name.
 */
export class NewFiles implements AsyncDisposable {
  /** By path: the name that each has until then, and what it was when it was written. */
  private readonly written = new Map<string, { readonly name: string; readonly found: BigIntStats }>();

  private readonly writing = new Set<Promise<void>>();

  private constructor(private readonly folder: HeldFolder) {}

  /** For files of the folder of a path, which is made as needed. @throws ServiceError as `StagedFile.of` */
  static of(at: MirrorPath): Promise<NewFiles> {
    return onDisk(at.path, async () => new NewFiles(await HeldFolder.of(at, { create: true })));
  }

  /** Writes a content, to the disk. @throws ServiceError STORAGE_FULL, SERVICE_UNAVAILABLE */
  async write(file: NewFile): Promise<void> {
    const writing = this.writeOne(file);
    this.writing.add(writing);
    try {
      await writing;
    } finally {
      this.writing.delete(writing);
    }
  }

  /**
   * Gives those of the paths their names that were written, where nothing lies, no twin either. What became of each, by path: of
   * one that is refused the error. @throws ServiceError CONFLICT for a folder that was moved out of the mirror
   */
  async name(paths: Iterable<string>): Promise<Map<string, PromiseSettledResult<NamedFile>>> {
    await this.folder.mustBeInside();
    const names = await this.folder.names();
    const taken = new Map(names.map((name) => [twinKeyOf(name), name]));
    const outcomes = new Map<string, PromiseSettledResult<NamedFile>>();
    for (const path of paths) {
      try {
        outcomes.set(path, { status: 'fulfilled', value: this.nameOne(path, taken) });
      } catch (error) {
        outcomes.set(path, { status: 'rejected', reason: diskError(error, path) });
      }
    }
    await this.folder.sync();
    return outcomes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using folder = this.folder;
    // Whoever gave up one may not have waited for the others.
    await Promise.allSettled([...this.writing]);
    for (const { name } of this.written.values()) await removeIfThere(folder.at(name));
  }

  private writeOne({ path, bytes, modifiedMs }: NewFile): Promise<void> {
    return onDisk(path, async () => {
      const name = temporaryName();
      const descriptor = await openFile(this.folder.at(name), MAKE_FLAGS, 0o666);
      try {
        for (let done = 0; done < bytes.length; )
          done += (await writeTo(descriptor, bytes, done, bytes.length - done)).bytesWritten;
        if (modifiedMs !== undefined) futimesSync(descriptor, modifiedMs / 1_000, modifiedMs / 1_000);
        await syncFile(descriptor);
        this.written.set(path, { name, found: fstatSync(descriptor, { bigint: true }) });
      } catch (error) {
        await removeIfThere(this.folder.at(name));
        throw error;
      } finally {
        closeSync(descriptor);
      }
    });
  }

  private nameOne(path: string, taken: Map<string, string>): NamedFile {
    const written = this.written.get(path);
    if (!written) throw new Error(`${path} was not written`);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const key = pathKey(name);
    const other = taken.get(key);
    if (other !== undefined) throw occupied(other === name ? path : other);
    const temporary = this.folder.at(written.name);
    if (nameOrRename(temporary, this.folder.at(name))) unlinkSync(temporary);
    this.written.delete(path);
    taken.set(key, name);
    const found = lstatSync(this.folder.at(name), { bigint: true });
    const expected = { stamp: stampOf(written.found), inode: inodeOf(written.found) };
    return { found, isAsWritten: isSame(found, expected) };
  }
}
