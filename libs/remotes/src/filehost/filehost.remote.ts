import { abortable } from '@workspace-graph/platform';
import { contentOf, rangeHeader } from '../http/http-content.js';
import {
  type CallOptions,
  changed,
  folderOf,
  folderPath,
  type ListOptions,
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
  type WriteOptions,
} from '../port/index.js';
import { DROPBOX, DropboxApi, type DropboxCredentials, type DropboxOrigins } from './dropbox-api.js';
import { DropboxPaths, schemas } from './dropbox-metadata.js';
import { DropboxChanges, DropboxSearch, DropboxTrash } from './filehost-abilities.js';
import { PART_BYTES, UploadSessions } from './upload-sessions.js';

export interface FilehostConfig extends DropboxCredentials {
  /** The folder of Dropbox that is the root: '' for all of it, else with a leading slash. */
  readonly rootPath: string;
}

const MAX_NAME_BYTES = 255;
const PAGE = 1_000;
const REVISION = /^[0-9a-f]{9,}$/;

/**
 * A folder of Dropbox. Writes and removals name the revision to Dropbox itself. It moves and copies without a condition:
 * what was moved is compared by its hash, and goes back when it is not what was expected.
 */
export class FilehostRemote implements Remote {
  readonly capabilities: RemoteCapabilities = {
    conditions: 'captured',
    atomicWrite: true,
    atomicMove: true,
    serverSideCopy: true,
    ranges: true,
    recursiveListing: true,
    emptyFolders: true,
    listedHashes: ['dropbox'],
    caseSensitive: false,
    maxNameBytes: MAX_NAME_BYTES,
    readsLocally: false,
    keepsModified: true,
  };

  readonly uploads: UploadSessions;
  readonly changes: DropboxChanges;
  readonly search: DropboxSearch;
  readonly trash: DropboxTrash;

  private constructor(
    private readonly api: DropboxApi,
    private readonly paths: DropboxPaths,
  ) {
    this.uploads = new UploadSessions(api, this.commit.bind(this), checked);
    this.changes = new DropboxChanges(api, paths);
    this.search = new DropboxSearch(api, paths, (folder) => folderPath(folder, MAX_NAME_BYTES));
    this.trash = new DropboxTrash(api, paths, checked);
  }

  /** @throws RemoteFailure `unavailable` when the root is no folder, `forbidden` for credentials that are refused */
  static async open(config: FilehostConfig, origins: DropboxOrigins = DROPBOX): Promise<FilehostRemote> {
    const remote = new FilehostRemote(new DropboxApi(config, origins), new DropboxPaths(config.rootPath));
    await remote.mustHaveRoot({});
    return remote;
  }

  async stat(path: string, options: CallOptions = {}): Promise<RemoteEntry | null> {
    const entry = await this.entryAt(checked(path), options);
    if (!entry) await this.mustHaveRoot(options);
    return entry;
  }

  async *list(folder: string, { recursive = false, signal }: ListOptions = {}): AsyncGenerator<readonly RemoteEntry[]> {
    const at = folderPath(folder, MAX_NAME_BYTES);
    const argument = { path: this.paths.absolute(at), recursive, include_deleted: false, limit: PAGE };
    const call = { path: at, signal, isRead: true };
    let answer = await this.api.rpc('files/list_folder', argument, call).catch(async (error: unknown) => {
      if (isReason(error, 'not_found')) await this.mustHaveRoot({ signal });
      throw error;
    });
    for (;;) {
      const page = schemas.page.parse(answer);
      // A recursive listing holds the folder itself.
      yield page.entries.flatMap((found) => this.paths.entryOf(found) ?? []).filter((entry) => entry.path !== at);
      if (!page.has_more) return;
      answer = await this.api.rpc('files/list_folder/continue', { cursor: page.cursor }, call);
    }
  }

  async read(path: string, options: ReadOptions = {}): Promise<RemoteContent> {
    const at = checked(path);
    const { signal, range, expected } = options;
    const call = { path: at, signal, range: rangeHeader(range) };
    const response = await this.api.download({ path: this.paths.absolute(at) }, call);
    if (response.status === 416) return this.readNothing(at, response, options);
    const file = this.paths.fileOf(schemas.file.parse(JSON.parse(response.headers.get('dropbox-api-result') ?? '')));
    const content = contentOf(file, response, options);
    if (expected === undefined || expected === file.revision) return content;
    await content[Symbol.asyncDispose]();
    throw changed(file);
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    const at = checked(path);
    options.signal?.throwIfAborted();
    const parts = partsOf(abortable(bytes, options.signal), PART_BYTES);
    try {
      const first = await parts.next();
      const part = first.done ? new Uint8Array() : first.value;
      if (part.byteLength === PART_BYTES) return await this.writeLarge(at, part, parts, options);
      const call = { path: at, signal: options.signal };
      return await this.commit(at, options, (commit) => this.api.upload('files/upload', commit, part, call));
    } finally {
      await parts.return(undefined);
    }
  }

  async makeFolder(path: string, options: CallOptions = {}): Promise<void> {
    const at = checked(path);
    await this.mustSpellAsIs(at, options);
    const argument = { path: this.paths.absolute(at), autorename: false };
    const call = { path: at, signal: options.signal };
    await this.api.rpc('files/create_folder_v2', argument, call).catch(async (error: unknown) => {
      const isThere = isReason(error, 'exists') && (await this.entryAt(at, options))?.kind === 'folder';
      if (!isThere) throw error;
    });
  }

  async move(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    const [source, target] = [checked(from), checked(to)];
    const before = await this.holding(source, options);
    const moved = await this.transfer('files/move_v2', [source, target], options);
    const same = sameContent(moved, before);
    if (same) return same;
    await this.transfer('files/move_v2', [target, source], {});
    throw await this.changedAt(source, {});
  }

  async copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    const [source, target] = [checked(from), checked(to)];
    const before = await this.holding(source, options);
    const copied = await this.transfer('files/copy_v2', [source, target], options);
    const same = sameContent(copied, before);
    if (same) return same;
    await this.delete(target, copied?.kind === 'file' ? copied.revision : undefined, {});
    throw new RemoteFailure('changed', { path: source });
  }

  async remove(path: string, options: TransferOptions): Promise<void> {
    const at = checked(path);
    await this.holding(at, options);
    await this.delete(at, options.expected, options).catch(async (error: unknown) => {
      throw isReason(error, 'exists') ? await this.changedAt(at, options) : error;
    });
  }

  /** Dropbox deletes folders with all that is in them: what comes in after the look is restorable for 30 days. */
  async removeFolder(path: string, options: CallOptions = {}): Promise<void> {
    const at = checked(path);
    const entry = await this.stat(at, options);
    if (!entry) return;
    if (entry.kind !== 'folder') throw new RemoteFailure('exists', { path: at });
    for await (const page of this.list(at, options))
      if (page.length > 0) throw new RemoteFailure('exists', { path: at });
    await this.delete(at, undefined, options).catch((error: unknown) => {
      if (!isReason(error, 'not_found')) throw error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Each call closes what it opens.
  }

  private async writeLarge(
    path: string,
    first: Uint8Array,
    rest: AsyncIterable<Uint8Array>,
    options: WriteOptions,
  ): Promise<RemoteFile> {
    const upload = await this.uploads.begin(path, options);
    const all = async function* (): AsyncGenerator<Uint8Array> {
      yield first;
      yield* rest;
    };
    await this.uploads.append(upload, 0, all(), options);
    return this.uploads.finish(upload, options);
  }

  /** Gives a content its name, on the condition of the caller. */
  private async commit(
    path: string,
    options: WriteOptions,
    send: (commit: object) => Promise<unknown>,
  ): Promise<RemoteFile> {
    await this.mustSpellAsIs(path, options);
    // Dropbox takes no other text for a revision.
    if (options.expected !== null && !REVISION.test(options.expected)) throw await this.changedAt(path, options);
    try {
      return this.paths.fileOf(schemas.file.parse(await send(commitOf(this.paths.absolute(path), options))));
    } catch (error) {
      if (isReason(error, 'exists') && options.expected !== null) throw await this.changedAt(path, options);
      throw error;
    }
  }

  /** Dropbox would take a folder under another spelling for this one. */
  private async mustSpellAsIs(path: string, options: CallOptions): Promise<void> {
    for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) {
      const entry = await this.entryAt(folder, options);
      if (!entry) continue;
      if (entry.kind !== 'folder' || entry.path !== folder) throw new RemoteFailure('exists', { path: entry.path });
      return;
    }
  }

  private async entryAt(path: string, { signal }: CallOptions): Promise<RemoteEntry | null> {
    const call = { path, signal, isRead: true };
    try {
      const answer = await this.api.rpc('files/get_metadata', { path: this.paths.absolute(path) }, call);
      return this.paths.entryOf(schemas.metadata.parse(answer));
    } catch (error) {
      if (isReason(error, 'not_found')) return null;
      throw error;
    }
  }

  private async holding(path: string, options: TransferOptions): Promise<RemoteFile> {
    const entry = await this.stat(path, options);
    if (entry?.kind !== 'file') throw new RemoteFailure('not_found', { path });
    if (entry.revision !== options.expected) throw changed(entry);
    return entry;
  }

  private async transfer(
    endpoint: 'files/move_v2' | 'files/copy_v2',
    [from, to]: readonly [string, string],
    options: CallOptions,
  ): Promise<RemoteEntry | null> {
    await this.mustSpellAsIs(to, options);
    const argument = { from_path: this.paths.absolute(from), to_path: this.paths.absolute(to), autorename: false };
    const answer = schemas.moved.parse(await this.api.rpc(endpoint, argument, { path: from, signal: options.signal }));
    return this.paths.entryOf(answer.metadata);
  }

  private async delete(path: string, rev: string | undefined, { signal }: CallOptions): Promise<void> {
    const argument = { path: this.paths.absolute(path), ...(rev === undefined ? {} : { parent_rev: rev }) };
    await this.api.rpc('files/delete_v2', argument, { path, signal });
  }

  private async changedAt(path: string, options: CallOptions): Promise<RemoteFailure> {
    const entry = await this.entryAt(path, options);
    if (entry?.kind === 'file') return changed(entry);
    return new RemoteFailure('changed', { path, current: null });
  }

  /** A range that begins at the end holds nothing, one that begins behind it is an error. */
  private async readNothing(path: string, response: Response, options: ReadOptions): Promise<RemoteContent> {
    await response.body?.cancel();
    const file = await this.stat(path, options);
    if (file?.kind !== 'file') throw new RemoteFailure('not_found', { path });
    if (options.expected !== undefined && options.expected !== file.revision) throw changed(file);
    if ((options.range?.offset ?? 0) > file.sizeBytes)
      throw new RemoteFailure('range', { path, sizeBytes: file.sizeBytes });
    return contentOf(file, null, options);
  }

  private async mustHaveRoot({ signal }: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    const call = { path: '', signal, isRead: true };
    await this.api.rpc('files/list_folder', { path: this.paths.root, limit: 1 }, call).catch((error: unknown) => {
      throw isReason(error, 'not_found') ? new RemoteFailure('unavailable', { path: '' }, { cause: error }) : error;
    });
  }
}

/** The entry, where it is a file that holds what was looked at before. */
function sameContent(entry: RemoteEntry | null, before: RemoteFile): RemoteFile | null {
  return entry?.kind === 'file' && isSame(entry, before) ? entry : null;
}

function isSame({ hashes: { dropbox: one } }: RemoteFile, { hashes: { dropbox: other } }: RemoteFile): boolean {
  return one !== undefined && one === other;
}

function checked(path: string): string {
  return remotePath(path, MAX_NAME_BYTES);
}

/** How a condition is spelt: no other name, and a conflict also for equal contents and for removed files. */
function commitOf(path: string, { expected, modifiedAt }: WriteOptions): object {
  return {
    path,
    mode: expected === null ? 'add' : { '.tag': 'update', update: expected },
    autorename: false,
    strict_conflict: true,
    mute: true,
    ...(modifiedAt === undefined ? {} : { client_modified: `${modifiedAt.slice(0, 19)}Z` }),
  };
}

function isReason(error: unknown, reason: RemoteFailure['reason']): boolean {
  return error instanceof RemoteFailure && error.reason === reason;
}
