import { randomUUID } from 'node:crypto';
import { abortable } from '@workspace-graph/platform';
import {
  ABANDONED_DRAFT_MS,
  ABANDONED_UPLOAD_MS,
  type CallOptions,
  changed,
  cleared,
  folderOf,
  folderPath,
  type ListOptions,
  listTree,
  mayPut,
  NotedStream,
  type ReadOptions,
  type Remote,
  type RemoteCapabilities,
  type RemoteContent,
  type RemoteEntry,
  RemoteFailure,
  type RemoteFile,
  remotePath,
  type TransferOptions,
  Turns,
  type Unless,
  unlessAborted,
  type WriteOptions,
} from '../port/index.js';
import { type SftpConfig, SftpConnection } from './sftp-connection.js';
import { failureOf, STATUS, statusOf } from './sftp-failure.js';
import { SftpFiles, type SftpHandle } from './sftp-files.js';
import { entryOf, fileOf, isDots, OURS, type Place, SftpTree } from './sftp-tree.js';
import { SftpUploads } from './sftp-uploads.js';

/**
 * A folder of an SSH server with the extensions of OpenSSH. A new file is given its name by a hard link, which replaces
 * nothing; an old one is looked at and then replaced at once. What another program saves between the look and the
 * replacement is lost, so conditions are `checked`; calls of one path wait for each other there.
 */
export class SftpRemote implements Remote {
  readonly capabilities: RemoteCapabilities = {
    conditions: 'checked',
    atomicWrite: true,
    atomicMove: true,
    serverSideCopy: false,
    ranges: true,
    recursiveListing: false,
    emptyFolders: true,
    listedHashes: [],
    caseSensitive: true,
    maxNameBytes: 255,
    readsLocally: false,
    keepsModified: true,
  };

  private readonly files: SftpFiles;
  private readonly tree: SftpTree;
  private readonly turns = new Turns();
  /** Where contents are written before they get their names. */
  private readonly drafts: string;
  readonly uploads: SftpUploads;

  private constructor(
    private readonly connection: SftpConnection,
    root: string,
  ) {
    this.files = new SftpFiles(connection);
    this.tree = new SftpTree(this.files, root);
    this.drafts = `${root}/${OURS}drafts`;
    this.uploads = new SftpUploads(this.files, `${root}/${OURS}uploads`, {
      begun: async (path, options) => (await this.placeFor(path, options)).path,
      make: this.openDraft.bind(this),
      give: (file, path, options) =>
        this.run(path, {}, () => this.turns.take(() => this.give(path, file, options), path)),
      writeFailure: this.writeFailure.bind(this),
    });
  }

  /** @throws RemoteFailure `unavailable`, also for a root that is not there; `forbidden` for a login or a server's key */
  static async open(config: SftpConfig): Promise<SftpRemote> {
    const connection = new SftpConnection(config);
    const remote = new SftpRemote(connection, config.root);
    try {
      await remote.tree.locate('');
      await remote.clear(remote.drafts, Date.now() - ABANDONED_DRAFT_MS);
      await remote.clear(`${config.root}/${OURS}uploads`, Date.now() - ABANDONED_UPLOAD_MS);
      return remote;
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw failureOf(error, '');
    }
  }

  stat(path: string, options: CallOptions = {}): Promise<RemoteEntry | null> {
    return this.on(path, options, async (at) => at.found && entryOf(at.path, at.found));
  }

  list(folder: string, options: ListOptions = {}): AsyncGenerator<readonly RemoteEntry[]> {
    return listTree(folder, options.recursive === true, (path) => this.entriesOf(path, options));
  }

  async read(path: string, options: ReadOptions = {}): Promise<RemoteContent> {
    const reading = this.on(path, { ...options, unused: dispose }, async (at) => {
      if (!at.found?.isFile()) throw new RemoteFailure('not_found', { path: at.path });
      const handle = await this.files.open(at.absolute, 'r');
      try {
        return await this.content(at, handle, options);
      } catch (error) {
        await this.files.close(handle).catch(ignore);
        throw error;
      }
    });
    return await reading;
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    const place = await this.placeFor(path, options, (at) => mayPut(occupiedAt(at), options.expected));
    const draft = `${this.drafts}/${randomUUID()}`;
    try {
      await unlessAborted(options, () => this.fill(place.path, draft, abortable(bytes, options.signal)));
      options.signal?.throwIfAborted();
      // From here on it is carried out or refused: whoever broke it off now would not know which.
      return await this.run(place.path, {}, () =>
        this.turns.take(() => this.give(place.path, draft, options), place.path),
      );
    } catch (error) {
      await cleared(() => this.files.unlink(draft));
      throw error;
    }
  }

  makeFolder(path: string, options: CallOptions = {}): Promise<void> {
    return this.on(path, options, ({ path: at }) => this.turns.take(() => this.tree.makeFolders(at)));
  }

  move(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    const target = this.checked(to);
    return this.on(from, options, ({ path }) =>
      this.turns.take(async () => {
        const source = await this.held(path, options.expected);
        mayPut(occupiedAt(await this.tree.locate(target)), null);
        await this.tree.makeFolders(folderOf(target));
        const { absolute } = await this.tree.locate(target);
        await this.unlessTaken(target, () => this.files.rename(source.absolute, absolute));
        return this.fileAt(target);
      }),
    );
  }

  async copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    await using content = await this.read(from, options);
    const { modifiedAt } = content.file;
    return await this.write(to, content.bytes, { ...options, expected: null, modifiedAt });
  }

  remove(path: string, options: TransferOptions): Promise<void> {
    return this.on(path, options, ({ path: at }) =>
      this.turns.take(async () => {
        const { absolute } = await this.held(at, options.expected);
        await this.files.unlink(absolute);
      }, at),
    );
  }

  removeFolder(path: string, options: CallOptions = {}): Promise<void> {
    return this.on(path, options, async (at) => {
      if (!at.found) return;
      if (!at.found.isDirectory()) throw new RemoteFailure('exists', { path: at.path });
      try {
        await this.files.removeFolder(at.absolute);
      } catch (error) {
        const held = await this.files.names(at.absolute);
        throw held.some(({ filename }) => !isDots(filename))
          ? new RemoteFailure('exists', { path: at.path }, { cause: error })
          : error;
      }
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.connection[Symbol.asyncDispose]();
  }

  private on<T>(path: string, options: Unless<T>, work: (at: Place) => Promise<T>): Promise<T> {
    return this.run(path, options, async () => work(await this.tree.locate(this.checked(path))));
  }

  private run<T>(path: string, options: Unless<T>, work: () => Promise<T>): Promise<T> {
    return unlessAborted(options, () =>
      work().catch((error: unknown) => {
        throw failureOf(error, path);
      }),
    );
  }

  private checked(path: string): string {
    const checked = remotePath(path, this.capabilities.maxNameBytes);
    if (checked.split('/').some((name) => name.startsWith(OURS))) throw new RemoteFailure('name_refused', { path });
    return checked;
  }

  /** Null where there is no such folder. */
  private entriesOf(folder: string, options: ListOptions): Promise<RemoteEntry[] | null> {
    return this.run(folder, options, async () => {
      const path = folderPath(folder, this.capabilities.maxNameBytes);
      return this.tree.entriesOf(await this.tree.locate(path));
    });
  }

  private async content(at: Place, handle: SftpHandle, options: ReadOptions): Promise<RemoteContent> {
    const file = fileOf(at.path, await this.files.fstat(handle));
    if (options.expected !== undefined && options.expected !== file.revision) throw changed(file);
    const { offset = 0, length = file.sizeBytes } = options.range ?? {};
    if (offset > file.sizeBytes) throw new RemoteFailure('range', { path: at.path, sizeBytes: file.sizeBytes });
    const bytes = this.settled(handle, file, { offset, end: Math.min(offset + length, file.sizeBytes) });
    // A broken connection has closed it.
    const close = (): Promise<void> => this.files.close(handle).then(ignore, ignore);
    return { file, bytes: abortable(bytes, options.signal), [Symbol.asyncDispose]: close };
  }

  private async *settled(
    handle: SftpHandle,
    file: RemoteFile,
    { offset, end }: { readonly offset: number; readonly end: number },
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* this.files.read(handle, offset, end);
      const now = fileOf(file.path, await this.files.fstat(handle));
      if (now.revision !== file.revision) throw changed(now);
    } catch (error) {
      throw failureOf(error, file.path);
    }
  }

  /** Faults of the stream are passed on as they are. */
  private async fill(path: string, draft: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const noted = new NotedStream(bytes);
    try {
      const handle = await this.openDraft(draft);
      try {
        await this.files.write(handle, noted.passing());
        await this.files.sync(handle);
      } catch (error) {
        await this.files.close(handle).catch(ignore);
        throw error;
      }
      await this.files.close(handle);
    } catch (error) {
      noted.rethrow();
      throw await this.writeFailure(error, path, draft);
    }
  }

  /** A place for a content, with the folders above it. */
  private placeFor(path: string, options: CallOptions, look: (at: Place) => void = ignore): Promise<Place> {
    return this.on(path, { signal: options.signal }, async (at) => {
      look(at);
      await this.tree.makeFolders(folderOf(at.path));
      return this.tree.locate(at.path);
    });
  }

  private async openDraft(draft: string): Promise<SftpHandle> {
    try {
      return await this.files.open(draft, 'wx');
    } catch (error) {
      if (statusOf(error) !== STATUS.noSuchFile) throw error;
      // Another call may have been first; what is wrong else is told by the next line.
      await this.files.makeFolder(folderOf(draft)).catch(ignore);
      return this.files.open(draft, 'wx');
    }
  }

  /** Removes what writes left that did not live to end. */
  private async clear(folder: string, beforeMs: number): Promise<void> {
    const left = await this.files.names(folder).catch((error: unknown) => {
      if (statusOf(error) === STATUS.noSuchFile) return [];
      throw error;
    });
    const old = left.filter(({ attrs }) => attrs.mtime * 1_000 <= beforeMs);
    for (const { filename } of old)
      if (!isDots(filename)) await this.files.unlink(`${folder}/${filename}`).catch(ignore);
  }

  /** The protocol has no status for a full disk. */
  private async writeFailure(error: unknown, path: string, draft: string): Promise<RemoteFailure> {
    const failure = failureOf(error, path);
    if (failure.reason !== 'unavailable' || statusOf(error) === undefined) return failure;
    const hasRoom = await this.files.hasRoom(folderOf(draft)).catch(() => true);
    return hasRoom ? failure : new RemoteFailure('full', { path }, { cause: error });
  }

  private async give(path: string, draft: string, { expected, modifiedAt }: WriteOptions): Promise<RemoteFile> {
    const at = await this.tree.locate(path);
    mayPut(occupiedAt(at), expected);
    const wanted = modifiedAt === undefined ? null : Math.floor(Date.parse(modifiedAt) / 1_000);
    await this.setDistinctTime(draft, at, wanted);
    if (expected !== null) await this.files.replace(draft, at.absolute);
    else {
      await this.unlessTaken(path, () => this.files.link(draft, at.absolute));
      await this.files.unlink(draft);
    }
    return this.fileAt(path);
  }

  /** Whole seconds are all there is: a content that replaces one of the same size is given a later one. */
  private async setDistinctTime(draft: string, { found }: Place, wanted: number | null): Promise<void> {
    const made = await this.files.lstat(draft);
    const time = wanted ?? Math.max(made?.mtime ?? 0, (found?.mtime ?? -1) + 1);
    const isTaken = found?.mtime === time && found.size === made?.size;
    if (isTaken || time !== made?.mtime) await this.files.setTimes(draft, isTaken ? time + 1 : time);
  }

  private async unlessTaken(path: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const isTaken = statusOf(error) !== STATUS.permissionDenied && (await this.tree.locate(path)).found !== null;
      throw isTaken ? new RemoteFailure('exists', { path }, { cause: error }) : error;
    }
  }

  private async held(path: string, expected: string): Promise<Place> {
    const at = await this.tree.locate(path);
    if (!at.found?.isFile()) throw new RemoteFailure('not_found', { path });
    const file = fileOf(path, at.found);
    if (file.revision !== expected) throw changed(file);
    return at;
  }

  private async fileAt(path: string): Promise<RemoteFile> {
    const { found } = await this.tree.locate(path);
    if (!found?.isFile()) throw new RemoteFailure('changed', { path, current: null });
    return fileOf(path, found);
  }
}

function dispose(content: RemoteContent): PromiseLike<void> {
  return content[Symbol.asyncDispose]();
}

function ignore(): void {
  // Nothing hangs on it.
}

function occupiedAt({ path, found, occupant }: Place): Parameters<typeof mayPut>[0] {
  return { path, file: found?.isFile() ? fileOf(path, found) : null, by: found ? path : occupant };
}
