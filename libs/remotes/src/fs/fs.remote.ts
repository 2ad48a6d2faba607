import { type BigIntStats, createReadStream } from 'node:fs';
import { type FileHandle, rmdir } from 'node:fs/promises';
import {
  diskCode,
  editOf,
  HeldFolder,
  inodeOf,
  isAbsent,
  locate,
  type MirrorPath,
  moveFile,
  openForReading,
  placeFile,
  type Replaced,
  removeFile,
  type SeenContent,
  StagedFile,
  stampOf,
  statOrNull,
} from '@workspace-graph/disk';
import { segmentProblem } from '@workspace-graph/domain';
import { abortable } from '@workspace-graph/platform';
import {
  type CallOptions,
  changed,
  folderPath,
  joinPath,
  type ListOptions,
  listTree,
  markTwins,
  type ReadOptions,
  type Remote,
  type RemoteCapabilities,
  type RemoteContent,
  type RemoteEntry,
  RemoteFailure,
  type RemoteFile,
  remotePath,
  type TransferOptions,
  type WriteOptions,
} from '../port/index.js';
import { FsAsides } from './asides.js';
import { DraftNotes } from './draft-notes.js';
import { onRemote } from './fs-failure.js';
import { FsTogether } from './fs-together.js';
import { FsUploads, type Grown } from './fs-uploads.js';
import { removeIfThere } from './notes.js';

const PAGE = 1_000;
const CHUNK_BYTES = 256 * 1_024;
/** Names under which the product writes for a moment, and its notes. */
const OURS = '.svc-';

/**
 * A folder of this machine, such as a mounted share. Whatever other programs do in it meanwhile, nothing of theirs is
 * overwritten: what a call displaces is taken aside, compared, and given back when it is not what was expected. No symbolic
 * link is followed below the root. A revision is size, time of the last edit in nanoseconds, and inode.
 */
export class FsRemote implements Remote {
  readonly capabilities: RemoteCapabilities = {
    conditions: 'captured',
    atomicWrite: true,
    atomicMove: true,
    serverSideCopy: false,
    ranges: true,
    recursiveListing: false,
    emptyFolders: true,
    listedHashes: [],
    caseSensitive: true,
    maxNameBytes: 255,
    readsLocally: true,
    keepsModified: true,
  };

  readonly uploads: FsUploads;
  readonly together: FsTogether;

  private constructor(private readonly root: string) {
    const checked = this.checked.bind(this);
    this.together = new FsTogether(root, { checked, fileOf });
    this.uploads = new FsUploads(root, { checked, place: this.place.bind(this) });
  }

  /**
   * Opens a folder, given by its absolute path, and gives back what a killed process had taken aside in it.
   * @throws RemoteFailure `unavailable` when there is no such folder
   */
  static async open(root: string): Promise<FsRemote> {
    const remote = new FsRemote(root);
    await onRemote('', async () => {
      await using _folder = await HeldFolder.of(inRoot(root));
      await FsAsides.recover(root, Date.now());
      await DraftNotes.recover(root, Date.now());
      await remote.uploads.recover(Date.now());
    });
    return remote;
  }

  stat(path: string, options: CallOptions = {}): Promise<RemoteEntry | null> {
    return this.on(path, options, async (at) => {
      if (!at.exists) return null;
      await using folder = await HeldFolder.of(at);
      const found = await statOrNull(folder.at(lastName(at)));
      return found && entryOf(at.path, found);
    });
  }

  list(folder: string, options: ListOptions = {}): AsyncGenerator<readonly RemoteEntry[]> {
    return listTree(folder, options.recursive === true, (path) => this.entriesOf(path, options));
  }

  async read(path: string, options: ReadOptions = {}): Promise<RemoteContent> {
    return this.on(path, options, async (at) => {
      const handle = await openForReading(at);
      try {
        const found = await handle.stat({ bigint: true });
        const file = fileOf(at.path, found);
        if (options.expected !== undefined && options.expected !== file.revision) throw changed(file);
        const { offset = 0, length = file.sizeBytes } = options.range ?? {};
        if (offset > file.sizeBytes) throw new RemoteFailure('range', { path: at.path, sizeBytes: file.sizeBytes });
        const end = Math.min(offset + length, file.sizeBytes);
        const bytes = abortable(settledChunks(handle, file, { offset, end }), options.signal);
        return { file, bytes, [Symbol.asyncDispose]: () => handle.close() };
      } catch (error) {
        await handle.close();
        throw error;
      }
    });
  }

  write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    return this.on(path, options, async (at) => {
      const { expected, signal, modifiedAt } = options;
      mayReplace(at, expected);
      const modified = modifiedAt === undefined ? {} : { modified: timesAt(Date.parse(modifiedAt)) };
      await using _noted = DraftNotes.begin(this.root, at.path);
      await using staged = await StagedFile.of(at, abortable(bytes, signal), { ...modified, hash: false });
      signal?.throwIfAborted();
      return await this.taking(async (asides) => {
        await staged.commit({ replaces: replacedBy(expected, asides) });
        return this.fileAt(at.path);
      });
    });
  }

  /** Gives a content that was uploaded its name. */
  private async place({ file, path }: Grown, options: WriteOptions): Promise<RemoteFile> {
    const at = await this.target(path);
    mayReplace(at, options.expected);
    try {
      return await this.taking(async (asides) => {
        await placeFile(file, at, { replaces: replacedBy(options.expected, asides) });
        return this.fileAt(at.path);
      });
    } catch (error) {
      if (diskCode(error) !== 'EXDEV') throw error;
      // A folder of another disk is mounted there.
      const written = await this.write(path, createReadStream(file), options);
      await removeIfThere(file);
      return written;
    }
  }

  makeFolder(path: string, options: CallOptions = {}): Promise<void> {
    return this.on(path, options, async (at) => {
      await using _folder = await HeldFolder.of(inFolder(at), { create: true });
    });
  }

  move(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    return this.on(from, options, async (source) => {
      const target = await this.target(to);
      await this.mustBe(source, options.expected);
      return this.taking(async (asides) => {
        await moveFile(source, target, { asides, expected: seenAs(options.expected) });
        return this.fileAt(target.path);
      });
    });
  }

  async copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    await using content = await this.read(from, options);
    const { modifiedAt } = content.file;
    return await this.write(to, content.bytes, { ...options, expected: null, modifiedAt });
  }

  remove(path: string, options: TransferOptions): Promise<void> {
    return this.on(path, options, async (at) => {
      await this.mustBe(at, options.expected);
      await this.taking(async (asides) => {
        await removeFile(at, seenAs(options.expected), asides);
        // Another call was first.
        if (asides.isEmpty) throw new RemoteFailure('not_found', { path: at.path });
      });
    });
  }

  removeFolder(path: string, options: CallOptions = {}): Promise<void> {
    return this.on(path, options, async (at) => {
      if (!at.exists) return;
      await using folder = await HeldFolder.of(at);
      await rmdir(folder.at(lastName(at))).catch((error: unknown) => {
        if (diskCode(error) !== 'ENOENT') throw error;
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Each call closes what it opens.
  }

  private on<T>(path: string, { signal }: CallOptions, work: (at: MirrorPath) => Promise<T>): Promise<T> {
    return onRemote(path, async () => {
      signal?.throwIfAborted();
      return work(await this.target(path));
    });
  }

  private target(path: string): Promise<MirrorPath> {
    return locate(this.root, this.checked(path));
  }

  private checked(path: string): string {
    const checked = remotePath(path, this.capabilities.maxNameBytes);
    if (checked.split('/').some(isOurs)) throw new RemoteFailure('name_refused', { path });
    return checked;
  }

  /** What is taken aside is removed when the work is done, and given back when it is not. */
  private async taking<T>(work: (asides: FsAsides) => Promise<T>): Promise<T> {
    const asides = new FsAsides(this.root);
    try {
      const result = await work(asides);
      await asides.done();
      return result;
    } catch (error) {
      await asides.undone();
      throw error;
    }
  }

  private async fileAt(path: string): Promise<RemoteFile> {
    const entry = await this.stat(path);
    if (entry?.kind !== 'file') throw new RemoteFailure('changed', { path, current: null });
    return entry;
  }

  private async mustBe(at: MirrorPath, expected: string): Promise<void> {
    const entry = await this.stat(at.path);
    if (entry?.kind !== 'file') throw new RemoteFailure('not_found', { path: at.path });
    if (entry.revision !== expected) throw changed(entry);
  }

  /** Null where there is no such folder. */
  private entriesOf(path: string, { signal }: ListOptions): Promise<RemoteEntry[] | null> {
    return onRemote(path, async () => {
      signal?.throwIfAborted();
      const at = path === '' ? inRoot(this.root) : inFolder(await locate(this.root, this.folder(path)));
      await using folder = await holdFolder(at);
      return folder && markTwins(await entriesIn(folder, at.path, signal));
    });
  }

  private folder(path: string): string {
    return folderPath(path, this.capabilities.maxNameBytes);
  }
}

async function entriesIn(folder: HeldFolder, path: string, signal: AbortSignal | undefined): Promise<RemoteEntry[]> {
  const entries: RemoteEntry[] = [];
  const names = (await folder.names()).filter((name) => !isOurs(name));
  for (let start = 0; start < names.length; start += PAGE) {
    signal?.throwIfAborted();
    const found = names.slice(start, start + PAGE).map((name) => entryIn(folder, path, name));
    for (const entry of await Promise.all(found)) if (entry) entries.push(entry);
  }
  return entries;
}

async function holdFolder(at: MirrorPath): Promise<HeldFolder | null> {
  try {
    return await HeldFolder.of(at);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Null for what is gone by now. A name that no path can hold is told, and never read. */
async function entryIn(folder: HeldFolder, path: string, name: string): Promise<RemoteEntry | null> {
  const place = joinPath(path, name.normalize('NFC'));
  const found = await statOrNull(folder.at(name));
  // What is no UTF-8 on the disk is not found under the name that was made of it.
  if (!found) return name.includes('\ufffd') ? { kind: 'other', path: place, hasTwin: false } : null;
  return segmentProblem(name) === null ? entryOf(place, found) : { kind: 'other', path: place, hasTwin: false };
}

function entryOf(path: string, found: BigIntStats): RemoteEntry {
  if (found.isFile()) return fileOf(path, found);
  return { kind: found.isDirectory() ? 'folder' : 'other', path, hasTwin: false };
}

function fileOf(path: string, found: BigIntStats): RemoteFile {
  const revision = `${editOf(stampOf(found))}:${inodeOf(found)}`;
  const modifiedAt = new Date(Number(found.mtimeMs)).toISOString();
  return { kind: 'file', path, sizeBytes: Number(found.size), revision, modifiedAt, hashes: {}, hasTwin: false };
}

/** @throws RemoteFailure `changed`, `exists` */
function mayReplace({ path, exists }: MirrorPath, expected: string | null): void {
  if (expected !== null && !exists) throw new RemoteFailure('changed', { path, current: null });
  if (expected === null && exists) throw new RemoteFailure('exists', { path });
}

function replacedBy(expected: string | null, asides: FsAsides): Replaced | null {
  return expected === null ? null : { expected: seenAs(expected), asides };
}

/** A revision as what `isSame` of the disk compares. */
function seenAs(revision: string): Pick<SeenContent, 'stamp' | 'inode'> {
  const [size, modified, inode = null] = revision.split(':');
  return { stamp: `${size}:${modified}:0`, inode };
}

/** @throws RemoteFailure `changed` when the file is not the one that was opened any more */
async function* settledChunks(
  handle: FileHandle,
  { path, revision }: RemoteFile,
  { offset, end }: { readonly offset: number; readonly end: number },
): AsyncGenerator<Uint8Array> {
  for (let position = offset; position < end; ) {
    // New memory for each chunk: whoever reads may hold several.
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  const now = fileOf(path, await handle.stat({ bigint: true }));
  if (now.revision !== revision) throw changed(now);
}

function timesAt(ms: number): { atimeMs: number; mtimeMs: number } {
  return { atimeMs: ms, mtimeMs: ms };
}

function isOurs(name: string): boolean {
  return name.startsWith(OURS);
}

function lastName({ names }: MirrorPath): string {
  return names.at(-1) ?? '';
}

/** A path whose folder is the one at `at`. */
function inFolder(at: MirrorPath): MirrorPath {
  return { ...at, names: [...at.names, ''] };
}

/** A path whose folder is the root. */
function inRoot(root: string): MirrorPath {
  return { mirrorRoot: root, path: '', absolute: root, exists: true, names: [''], found: 0 };
}
