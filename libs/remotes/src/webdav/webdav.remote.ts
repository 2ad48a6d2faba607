import { randomUUID } from 'node:crypto';
import { abortable } from '@workspace-graph/platform';
import { openContent, rangeHeader } from '../http/http-content.js';
import { listOverHttp } from '../http/http-listing.js';
import { askAgain, callOf, type HttpCall } from '../http/network.js';
import {
  ABANDONED_DRAFT_MS,
  type CallOptions,
  changed,
  cleared,
  folderOf,
  type ListOptions,
  mayPut,
  nameOf,
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
import { type DavCall, type DavConfig, DavHttp, type DavPath } from './dav-http.js';
import { type DavPlace, DavTree, entryOf, fileOf, OURS, strongTagOf } from './dav-tree.js';

/** Where contents are written before they get their names. */
const DRAFTS: DavPath = [`${OURS}drafts`];

/**
 * A folder of a WebDAV server. A content goes to a draft, which then gets its name: a new one only where nothing lies, an old
 * one after a look, with the tag of what is replaced for servers that compare it. Many take no notice of it, so conditions
 * are `checked`; calls of one remote wait for each other there.
 */
export class WebdavRemote implements Remote {
  readonly capabilities: RemoteCapabilities = {
    conditions: 'checked',
    atomicWrite: true,
    atomicMove: true,
    serverSideCopy: true,
    ranges: true,
    recursiveListing: false,
    emptyFolders: true,
    listedHashes: [],
    caseSensitive: true,
    maxNameBytes: 255,
    readsLocally: false,
    keepsModified: false,
  };

  private readonly http: DavHttp;
  private readonly tree: DavTree;
  private readonly turns = new Turns();
  private drafts: Promise<void> | null = null;

  private constructor(config: DavConfig) {
    this.http = new DavHttp(config);
    this.tree = new DavTree(this.http);
  }

  /** @throws RemoteFailure `unavailable`, also for a root that is not there; `forbidden` */
  static async open(config: DavConfig): Promise<WebdavRemote> {
    const remote = new WebdavRemote(config);
    const { found } = await remote.tree.locate('', { path: '' });
    if (found?.kind !== 'folder') throw new RemoteFailure('unavailable', { path: '' });
    await remote.clearDrafts(Date.now());
    return remote;
  }

  stat(path: string, options: CallOptions = {}): Promise<RemoteEntry | null> {
    return this.on(path, options, async ({ path: at, found }) => found && entryOf(at, found));
  }

  list(folder: string, options: ListOptions = {}): AsyncGenerator<readonly RemoteEntry[]> {
    const { maxNameBytes } = this.capabilities;
    return listOverHttp(folder, { ...options, maxNameBytes }, (path, call) => this.tree.entriesOf(path, call));
  }

  read(path: string, options: ReadOptions = {}): Promise<RemoteContent> {
    return this.on(path, options, (place) =>
      openContent({ path: place.path, file: fileAt(place) }, options, (file) => this.get(place, file, options)),
    );
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    await this.on(path, options, async (place) => {
      mayPut(occupiedAt(place), options.expected);
      await this.tree.makeFolders(folderOf(place.path), callOf(place.path, options));
      await this.draftsMade();
    });
    const target = this.checked(path);
    const draft = [...DRAFTS, randomUUID()];
    const call = callOf(target, options);
    try {
      await unlessAborted(options, () =>
        this.http.done('PUT', draft, { ...call, body: abortable(bytes, options.signal) }),
      );
      options.signal?.throwIfAborted();
      // From here on it is carried out or refused: whoever broke it off now would not know which.
      return await this.turns.take(() => this.give(target, draft, options.expected), target);
    } catch (error) {
      this.drafts = null;
      await cleared(() => this.http.done('DELETE', draft, { path: target, accept: [404] }));
      throw error;
    }
  }

  async makeFolder(path: string, options: CallOptions = {}): Promise<void> {
    const checked = this.checked(path);
    await unlessAborted(options, () =>
      this.turns.take(async () => {
        await this.tree.makeFolders(checked, callOf(checked, options));
      }),
    );
  }

  move(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    return this.transfer('MOVE', { from, to }, options);
  }

  copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    return this.transfer('COPY', { from, to }, options);
  }

  remove(path: string, options: TransferOptions): Promise<void> {
    return this.on(path, options, ({ path: at }) =>
      this.turns.take(async () => {
        const place = await this.held(at, options.expected);
        const tag = place.found && strongTagOf(place.found);
        const sends = (headers: Record<string, string>) => this.http.done('DELETE', place.at, { path: at, headers });
        await this.withTag(place, tag === null ? {} : { 'if-match': tag }, sends);
      }, at),
    );
  }

  /** A server removes a folder with all that is in it, so the folder is taken aside first. */
  removeFolder(path: string, options: CallOptions = {}): Promise<void> {
    return this.on(path, options, (place) =>
      this.turns.take(async () => {
        if (!place.found) return;
        const call = { path: place.path };
        if (place.found.kind !== 'folder' || (await this.holdsAnything(place.at, call)))
          throw new RemoteFailure('exists', call);
        const aside = [...place.at.slice(0, -1), `${OURS}${randomUUID()}`];
        await this.rename(place.at, aside, call);
        if (await this.holdsAnything(aside, call)) {
          await this.rename(aside, place.at, call);
          throw new RemoteFailure('exists', call);
        }
        await this.http.done('DELETE', [...aside, ''], call);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Connections are shared by all of this process, and end by themselves.
  }

  private async on<T>(path: string, options: CallOptions, work: (place: DavPlace) => Promise<T>): Promise<T> {
    const checked = this.checked(path);
    return await unlessAborted(options, async () => work(await this.tree.locate(checked, callOf(checked, options))));
  }

  private checked(path: string): string {
    const checked = remotePath(path, this.capabilities.maxNameBytes);
    if (checked.split('/').some((name) => name.startsWith(OURS))) throw new RemoteFailure('name_refused', { path });
    return checked;
  }

  /** The folder is made once, by the first one who writes, and again when a write has failed. */
  private draftsMade(): Promise<void> {
    // Without the signal of one caller, because others wait for the same folder.
    this.drafts ??= this.makeDrafts();
    return this.drafts;
  }

  private async makeDrafts(): Promise<void> {
    try {
      await this.tree.made(DRAFTS, { path: '' });
    } catch (error) {
      this.drafts = null;
      throw error;
    }
  }

  /** Removes what writes left that did not live to end. */
  private async clearDrafts(nowMs: number): Promise<void> {
    const call = { path: '' };
    for (const { name, kind, modified } of (await this.http.children(DRAFTS, call)) ?? []) {
      const isOld = Date.parse(modified) <= nowMs - ABANDONED_DRAFT_MS;
      if (isOld && name !== null && kind === 'file')
        await cleared(() => this.http.done('DELETE', [...DRAFTS, name], call));
    }
  }

  private async get({ at, found }: DavPlace, file: RemoteFile, options: ReadOptions): Promise<Response> {
    const call = callOf(file.path, options);
    const tag = found && strongTagOf(found);
    const range = rangeHeader(options.range);
    const headers = { ...(tag === null ? {} : { 'if-match': tag }), ...(range === undefined ? {} : { range }) };
    const response = await askAgain(call, () => this.http.send('GET', at, { ...call, headers }));
    const told = response.headers.get('etag')?.replace(/^W\//, '');
    const isAnother = found?.etag !== null && told !== undefined && told !== file.revision;
    // A server without ranges would send what lies before, too.
    const isWhole = range !== undefined && response.status !== 206;
    if (!isAnother && !isWhole) return response;
    await response.body?.cancel();
    throw isAnother ? new RemoteFailure('changed', { path: file.path }) : new RemoteFailure('unavailable', call);
  }

  private async give(path: string, draft: DavPath, expected: string | null): Promise<RemoteFile> {
    const place = await this.tree.locate(path, { path });
    mayPut(occupiedAt(place), expected);
    const tag = place.found && strongTagOf(place.found);
    const sends = (headers: Record<string, string>) =>
      this.rename(draft, place.at, { path, headers: { ...headers, overwrite: expected === null ? 'F' : 'T' } });
    await this.withTag(place, tag === null ? {} : { if: `<${this.http.headerOf(place.at)}> ([${tag}])` }, sends);
    return this.settled(path, place.at);
  }

  private async transfer(
    method: 'MOVE' | 'COPY',
    { from, to }: { readonly from: string; readonly to: string },
    options: TransferOptions,
  ): Promise<RemoteFile> {
    const target = this.checked(to);
    return await this.on(from, options, ({ path }) =>
      this.turns.take(async () => {
        const source = await this.held(path, options.expected);
        const there = await this.tree.locate(target, { path: target });
        mayPut(occupiedAt(there), null);
        const folder = await this.tree.makeFolders(folderOf(target), { path: target });
        const at = [...folder.at, nameOf(target)];
        const tag = source.found && strongTagOf(source.found);
        const depth: Record<string, string> = method === 'COPY' ? { depth: '0' } : {};
        const sends = (headers: Record<string, string>) =>
          this.http.done(method, source.at, {
            path: target,
            headers: { ...headers, destination: this.http.urlOf(at).href, overwrite: 'F', ...depth },
          });
        await this.withTag(source, tag === null ? {} : { if: `<${this.http.headerOf(source.at)}> ([${tag}])` }, sends);
        return this.settled(target, at);
      }),
    );
  }

  /**
   * Sends a condition on the tag of what is there. A server that refuses although the content is the same does not compare
   * tags: our own look is all there is then. One that says that something lies at the other end has said so.
   */
  private async withTag(
    place: DavPlace,
    condition: Record<string, string>,
    sends: (headers: Record<string, string>) => Promise<unknown>,
  ): Promise<void> {
    try {
      await sends(condition);
    } catch (error) {
      if (!(error instanceof RemoteFailure) || error.reason !== 'changed') throw error;
      await this.mustBeAsSeen(place, error);
      if (Object.keys(condition).length === 0)
        throw new RemoteFailure('exists', { path: place.path }, { cause: error });
      await this.withTag(place, {}, sends);
    }
  }

  /** @throws RemoteFailure that tells what is there now, when that is something else than what was seen */
  private async mustBeAsSeen(seen: DavPlace, cause: RemoteFailure): Promise<void> {
    const { path } = seen;
    const found = await this.http.look(seen.at, { path });
    if (!seen.found) throw found ? new RemoteFailure('exists', { path }, { cause }) : cause;
    const now = fileAt({ ...seen, found });
    if (!now) throw new RemoteFailure('changed', { path, current: null }, { cause });
    if (now.revision !== fileOf(path, seen.found).revision) throw changed(now);
  }

  private rename(from: DavPath, to: DavPath, { headers, ...call }: DavCall): Promise<number> {
    const destination = this.http.urlOf(to).href;
    return this.http.done('MOVE', from, { ...call, headers: { overwrite: 'F', ...headers, destination } });
  }

  private async held(path: string, expected: string): Promise<DavPlace> {
    const place = await this.tree.locate(path, { path });
    const file = fileAt(place);
    if (!file) throw new RemoteFailure('not_found', { path });
    if (file.revision !== expected) throw changed(file);
    return place;
  }

  private async settled(path: string, at: DavPath): Promise<RemoteFile> {
    const found = await this.http.look(at, { path });
    if (found?.kind !== 'file') throw new RemoteFailure('changed', { path, current: null });
    return fileOf(path, found);
  }

  private async holdsAnything(at: DavPath, call: HttpCall): Promise<boolean> {
    return ((await this.http.children(at, call)) ?? []).length > 0;
  }
}

function fileAt({ path, found }: DavPlace): RemoteFile | null {
  return found?.kind === 'file' ? fileOf(path, found) : null;
}

function occupiedAt(place: DavPlace): Parameters<typeof mayPut>[0] {
  return { path: place.path, file: fileAt(place), by: place.found ? place.path : place.occupant };
}
