import { mimeTypeOf } from '@workspace-graph/disk';
import { abortable } from '@workspace-graph/platform';
import { openContent, rangeHeader } from '../http/http-content.js';
import { listOverHttp } from '../http/http-listing.js';
import { callOf, type HttpCall } from '../http/network.js';
import {
  type CallOptions,
  changed,
  cleared,
  folderOf,
  foldersAbove,
  type ListOptions,
  mayPut,
  nameOf,
  partsOf,
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
  unlessAborted,
  type WriteOptions,
} from '../port/index.js';
import { DriveDocuments, DriveSearch, DriveTrash } from './drive-abilities.js';
import { DriveApi, type DriveMetadata, type DriveOrigins, type DriveUpload, GOOGLE } from './drive-api.js';
import { type DriveFile, entryOf, fileOf, isFolder } from './drive-file.js';
import { type DrivePlace, DriveTree, folderIn } from './drive-tree.js';
import { DrivePartsUpload, PART_BYTES } from './drive-upload.js';
import type { ServiceAccount } from './service-account.js';

export interface DriveConfig {
  readonly driveId: string;
  /** The folder of the drive that is the root; null for all of it. */
  readonly rootFolderId: string | null;
  readonly account: ServiceAccount;
}

/** A long content on its way into a folder. */
interface Begun {
  readonly upload: DrivePartsUpload;
  readonly folderId: string;
}

/** How often folders that others remove meanwhile are made again. */
const ATTEMPTS = 3;

/**
 * A folder of a shared drive of Google. Drive has no conditions: a write looks before, and what it replaces stays among the
 * versions of the file; what a move, a copy or a removal has taken is compared, and goes back when it is not what was
 * expected. Calls that change the same paths wait for each other; conditions are `checked`.
 */
export class DriveRemote implements Remote {
  readonly capabilities: RemoteCapabilities = {
    conditions: 'checked',
    atomicWrite: true,
    atomicMove: true,
    serverSideCopy: true,
    ranges: true,
    recursiveListing: false,
    emptyFolders: true,
    listedHashes: ['md5', 'sha1', 'sha256'],
    caseSensitive: true,
    maxNameBytes: 255,
    readsLocally: false,
    keepsModified: true,
  };

  readonly search: DriveSearch;
  readonly documents: DriveDocuments;
  readonly trash: DriveTrash;

  private readonly api: DriveApi;
  private readonly tree: DriveTree;
  private readonly turns = new Turns();

  private constructor({ driveId, rootFolderId, account }: DriveConfig, origins: DriveOrigins) {
    this.api = new DriveApi(driveId, account, origins);
    this.tree = new DriveTree(this.api, rootFolderId ?? driveId);
    this.search = new DriveSearch(this.api, this.tree);
    this.documents = new DriveDocuments(this.api, this.tree);
    this.trash = new DriveTrash(this.api, this.tree, (path) => this.checked(path));
  }

  /** @throws RemoteFailure `unavailable` when the root is no folder that the account sees; `forbidden` */
  static async open(config: DriveConfig, origins: DriveOrigins = GOOGLE): Promise<DriveRemote> {
    const remote = new DriveRemote(config, origins);
    await remote.tree.folderIds('', { path: '' });
    return remote;
  }

  stat(path: string, options: CallOptions = {}): Promise<RemoteEntry | null> {
    return this.on(path, options, async ({ path: at, found: [first] }) => (first ? entryOf(at, first) : null));
  }

  list(folder: string, options: ListOptions = {}): AsyncGenerator<readonly RemoteEntry[]> {
    const { maxNameBytes } = this.capabilities;
    return listOverHttp(folder, { ...options, maxNameBytes }, (path, call) => this.tree.entriesOf(path, call));
  }

  read(path: string, options: ReadOptions = {}): Promise<RemoteContent> {
    return this.on(path, options, (place) =>
      openContent({ path: place.path, file: fileAt(place) }, options, (file) => this.get(file, options)),
    );
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    const at = this.checked(path);
    options.signal?.throwIfAborted();
    const parts = partsOf(abortable(bytes, options.signal), PART_BYTES);
    try {
      const first = await parts.next();
      const part = first.done ? new Uint8Array() : first.value;
      if (part.byteLength === PART_BYTES) return await this.writeLong(at, { first: part, rest: parts }, options);
      return await this.put(at, options, (upload) => this.api.put(upload, part, { path: at }));
    } finally {
      await parts.return(undefined);
    }
  }

  async makeFolder(path: string, options: CallOptions = {}): Promise<void> {
    const at = this.checked(path);
    await unlessAborted(options, () => this.makeFolders(at, callOf(at, options)));
  }

  async move(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    return this.transfer({ from, to }, options, async (source, folderId, call) => {
      const { id, modifiedTime, name } = source;
      const [before = folderId] = source.parents;
      const target = { name: nameOf(call.path), modifiedTime };
      const moved = await this.api.update(id, target, call, betweenFolders(before, folderId));
      if (moved.headRevisionId !== source.headRevisionId)
        throw changedTo(await this.api.update(id, { name }, call, betweenFolders(folderId, before)), from);
      this.tree.note(from.normalize('NFC'));
      return moved;
    });
  }

  async copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    return this.transfer({ from, to }, options, async ({ id, modifiedTime, md5Checksum }, folderId, call) => {
      const target = { name: nameOf(call.path), parents: [folderId], modifiedTime };
      const copied = await this.api.copy(id, target, call);
      if (copied.md5Checksum === md5Checksum) return copied;
      await this.api.update(copied.id, { trashed: true }, call);
      const now = await this.api.file(id, { path: from });
      throw changedTo(now, from);
    });
  }

  async remove(path: string, options: TransferOptions): Promise<void> {
    const at = this.checked(path);
    await unlessAborted(options, () =>
      this.turns.take(async () => {
        const call = { path: at };
        const { id } = await this.held(at, options.expected);
        const removed = await this.api.update(id, { trashed: true }, call);
        if (removed.headRevisionId === options.expected) return this.tree.note(at);
        throw changedTo(await this.api.update(id, { trashed: false }, call), at);
      }, at),
    );
  }

  async removeFolder(path: string, options: CallOptions = {}): Promise<void> {
    const at = this.checked(path);
    await unlessAborted(options, () =>
      this.turns.take(async () => {
        const { found } = await this.tree.locate(at, { path: at });
        const ids = found.filter(isFolder).map(({ id }) => id);
        if (ids.length < found.length) throw new RemoteFailure('exists', { path: at });
        if (ids.length > 0) await this.removeFolders(ids, { path: at });
        this.tree.note(at);
      }, at),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Connections are shared by all of this process, and end by themselves.
  }

  private async on<T>(path: string, options: CallOptions, work: (place: DrivePlace) => Promise<T>): Promise<T> {
    const checked = this.checked(path);
    return await unlessAborted(options, async () => work(await this.tree.locate(checked, callOf(checked, options))));
  }

  private checked(path: string): string {
    return remotePath(path, this.capabilities.maxNameBytes);
  }

  /** Exactly the revision that was looked at, whatever is saved meanwhile. */
  private async get({ id = '', path, revision }: RemoteFile, options: ReadOptions): Promise<Response> {
    const range = rangeHeader(options.range);
    const response = await this.api.content({ id, revision }, range, callOf(path, options));
    if (range === undefined || response.status === 206) return response;
    // What lies before the range would be sent, too.
    await response.body?.cancel();
    throw new RemoteFailure('unavailable', { path });
  }

  /** The last part waits until the place was looked at again. */
  private async writeLong(
    path: string,
    { first, rest }: { readonly first: Uint8Array; readonly rest: AsyncIterable<Uint8Array> },
    options: WriteOptions,
  ): Promise<RemoteFile> {
    const call = callOf(path, options);
    let begun: Begun | null = null;
    let last = first;
    try {
      begun = await unlessAborted(options, () => this.begin(path, options));
      const { upload, folderId } = begun;
      for await (const part of rest) {
        await upload.add(last, call);
        last = part;
      }
      options.signal?.throwIfAborted();
      // From here on it is carried out or refused: whoever broke it off now would not know which.
      return await this.turns.take(async () => {
        const place = await this.tree.locate(path, { path });
        mayPut(occupiedAt(place), options.expected);
        // It would lie where the folder is by now.
        if (!place.folderIds.includes(folderId)) throw vanishing(path);
        return this.settled(path, await upload.end(last, { path }));
      }, path);
    } catch (error) {
      const left = begun;
      if (left) await cleared(() => left.upload.abandon({ path }));
      throw error;
    }
  }

  private async begin(path: string, options: WriteOptions): Promise<Begun> {
    const call = callOf(path, options);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const place = await this.tree.locate(path, call);
      mayPut(occupiedAt(place), options.expected);
      const [folderId] = place.folderIds;
      if (folderId !== undefined) {
        const upload = await DrivePartsUpload.begin(this.api, uploadTo(place, folderId, options), call);
        return { upload, folderId };
      }
      await this.makeFolders(folderOf(path), call);
    }
    throw vanishing(path);
  }

  /** Looks, and changes what lies under a path by one request. */
  private async put(
    path: string,
    options: WriteOptions,
    send: (upload: DriveUpload) => Promise<DriveFile>,
  ): Promise<RemoteFile> {
    const call = callOf(path, options);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const done = await this.turns.take(async () => {
        const place = await this.tree.locate(path, call);
        mayPut(occupiedAt(place), options.expected);
        const [folderId] = place.folderIds;
        if (folderId === undefined) return null;
        options.signal?.throwIfAborted();
        // From here on it is carried out or refused: whoever broke it off now would not know which.
        return this.settled(path, await send(uploadTo(place, folderId, options)));
      }, path);
      if (done) return done;
      await this.makeFolders(folderOf(path), call);
    }
    throw vanishing(path);
  }

  /** Each folder in a turn of its own: writers of several files make one. @throws RemoteFailure `exists` for what is in the way */
  private async makeFolders(path: string, call: HttpCall): Promise<void> {
    if (path === '') return;
    const there = await this.tree.locate(path, call);
    if (there.found[0] && isFolder(there.found[0])) return;
    for (const folder of [...foldersAbove(path), path])
      await this.turns.take(async () => {
        const { found, occupant, folderIds } = await this.tree.locate(folder, call);
        if (found[0] && isFolder(found[0])) return;
        if (found.length > 0 || occupant !== null) throw new RemoteFailure('exists', { path: occupant ?? folder });
        const [parent] = folderIds;
        if (parent === undefined) throw vanishing(path);
        this.tree.note(folder, await this.api.makeFolder(folderIn(parent, nameOf(folder)), call));
      }, folder);
  }

  private async transfer(
    { from, to }: { readonly from: string; readonly to: string },
    options: TransferOptions,
    carryOut: (source: DriveFile, folderId: string, call: HttpCall) => Promise<DriveFile>,
  ): Promise<RemoteFile> {
    const [source, target] = [this.checked(from), this.checked(to)];
    return await unlessAborted(options, async () => {
      await this.held(source, options.expected);
      await this.makeFolders(folderOf(target), { path: target });
      return this.turns.take(
        async () => {
          const held = await this.held(source, options.expected);
          const place = await this.tree.locate(target, { path: target });
          mayPut(occupiedAt(place), null);
          const [folderId] = place.folderIds;
          if (folderId === undefined) throw vanishing(target);
          options.signal?.throwIfAborted();
          return this.settled(target, await carryOut(held, folderId, { path: target }));
        },
        source,
        target,
      );
    });
  }

  /** The file under a path. @throws RemoteFailure `not_found`, `changed` */
  private async held(path: string, expected: string): Promise<DriveFile> {
    const place = await this.tree.locate(path, { path });
    const [first] = place.found;
    const file = fileAt(place);
    if (!first || !file) throw new RemoteFailure('not_found', { path });
    if (file.revision !== expected) throw changed(file);
    return first;
  }

  /** Drive removes a folder with all that is in it, so it is looked at again in the trash. */
  private async removeFolders(ids: readonly string[], call: HttpCall): Promise<void> {
    if (await this.tree.holdsAnything(ids, false, call)) throw new RemoteFailure('exists', call);
    for (const id of ids) await this.api.update(id, { trashed: true }, call);
    if (!(await this.tree.holdsAnything(ids, true, call))) return;
    for (const id of ids) await this.api.update(id, { trashed: false }, call);
    throw new RemoteFailure('exists', call);
  }

  private settled(path: string, file: DriveFile): RemoteFile {
    const entry = fileOf(path, file);
    if (!entry) throw new RemoteFailure('changed', { path, current: null });
    this.tree.note(path, file);
    return entry;
  }
}

function changedTo(now: DriveFile | null, path: string): RemoteFailure {
  const file = now && fileOf(path, now);
  return file ? changed(file) : new RemoteFailure('changed', { path, current: null });
}

function fileAt({ path, found: [first] }: DrivePlace): RemoteFile | null {
  return first ? fileOf(path, first) : null;
}

function occupiedAt(place: DrivePlace): Parameters<typeof mayPut>[0] {
  return { path: place.path, file: fileAt(place), by: place.found.length > 0 ? place.path : place.occupant };
}

/** What Drive is told of a move; nothing where the folder stays the same. */
function betweenFolders(from: string, to: string): Readonly<Record<string, string>> {
  return from === to ? {} : { addParents: to, removeParents: from };
}

function uploadTo({ path, found: [first] }: DrivePlace, folderId: string, { modifiedAt }: WriteOptions): DriveUpload {
  const metadata: DriveMetadata = {
    ...(first ? {} : { name: nameOf(path), parents: [folderId] }),
    // What Drive searches in, and how it shows a file, hang on it.
    mimeType: mimeTypeOf(path),
    ...(modifiedAt === undefined ? {} : { modifiedTime: modifiedAt }),
  };
  return { id: first?.id ?? null, metadata };
}

/** Somebody else removes the folders that are made. */
function vanishing(path: string): RemoteFailure {
  return new RemoteFailure('unavailable', { path }, { cause: new Error('Its folder is gone again') });
}
