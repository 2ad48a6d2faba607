import { createHash } from 'node:crypto';
import { abortable } from '@workspace-graph/platform';
import { openContent, rangeHeader } from '../http/http-content.js';
import { listOverHttp } from '../http/http-listing.js';
import { callOf } from '../http/network.js';
import {
  type CallOptions,
  changed,
  folderOf,
  type ListOptions,
  mayPut,
  passingParts,
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
import { clearUploads, Multipart, PART_BYTES } from './multipart.js';
import { type ObjstoreConfig, S3Http } from './s3-http.js';
import { fileOf, objectOf, S3Keys, type S3Object, type S3Place } from './s3-keys.js';
import { S3Uploads } from './s3-uploads.js';
import { SmallObjects } from './small-objects.js';

type Condition = Readonly<Record<string, string>>;

/** Of a key, with the root in it. */
const KEY_BYTES = 1_024;
/** Folders that are kept in mind. */
const KNOWN_FOLDERS = 10_000;
/** The largest object that one request copies. */
const COPIED_AT_ONCE = 5 * 1_024 ** 3;

/**
 * A bucket of an object storage that speaks S3, or what has one prefix in it. Writes name what they replace to the server; many
 * servers compare it for contents of one part alone, and none for all of removing, copying and completing. So all calls look
 * first, and those of one path wait for each other there: conditions are `checked`.
 */
export class ObjstoreRemote implements Remote {
  readonly capabilities: RemoteCapabilities = {
    conditions: 'checked',
    atomicWrite: true,
    atomicMove: false,
    serverSideCopy: true,
    ranges: true,
    recursiveListing: false,
    emptyFolders: false,
    listedHashes: ['md5'],
    caseSensitive: true,
    maxNameBytes: 255,
    readsLocally: false,
    keepsModified: false,
  };

  private readonly http: S3Http;
  private readonly keys: S3Keys;
  private readonly bucket: string;
  private readonly turns = new Turns();
  /** Folders into which something was written from here. */
  private readonly folders = new Set<string>();

  readonly uploads: S3Uploads;
  readonly together: SmallObjects;

  private constructor(config: ObjstoreConfig) {
    this.http = new S3Http(config);
    this.keys = new S3Keys(this.http, config.root);
    this.bucket = config.bucket;
    this.uploads = new S3Uploads(this.http, {
      checked: this.checked.bind(this),
      keyOf: (path) => this.keys.keyOf(path),
      confirmBucket: async (options) => {
        await this.keys.holdsAnything(config.root, callOf('', options));
      },
      complete: (path, upload, { expected }) => this.inTurn(() => this.complete(path, upload, expected), path),
    });
    this.together = new SmallObjects(this.http, this.keys, {
      checked: this.checked.bind(this),
      inTurn: this.inTurn.bind(this),
      put: this.put.bind(this),
    });
  }

  /** @throws RemoteFailure `unavailable`, also for a bucket that is not there; `forbidden` */
  static async open(config: ObjstoreConfig): Promise<ObjstoreRemote> {
    const remote = new ObjstoreRemote(config);
    await remote.keys.entriesOf('', { path: '' });
    // Not every credential may see them, and nothing hangs on it.
    const prefix = config.root === '' ? '' : `${config.root}/`;
    await clearUploads(remote.http, prefix, Date.now()).catch((error: unknown) => {
      if (!(error instanceof RemoteFailure)) throw error;
    });
    return remote;
  }

  stat(path: string, options: CallOptions = {}): Promise<RemoteEntry | null> {
    return this.on(path, options, async (place) => fileAt(place) ?? folderAt(place));
  }

  list(folder: string, options: ListOptions = {}): AsyncGenerator<readonly RemoteEntry[]> {
    const { maxNameBytes } = this.capabilities;
    return listOverHttp(folder, { ...options, maxNameBytes }, (path, call) => this.keys.entriesOf(path, call));
  }

  read(path: string, options: ReadOptions = {}): Promise<RemoteContent> {
    return this.on(path, options, (place) =>
      openContent({ path: place.path, file: fileAt(place) }, options, (file) => this.get(place, file, options)),
    );
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    const checked = this.checked(path);
    const call = callOf(checked, options);
    const { expected, signal } = options;
    // Faults of the stream are passed on as they are.
    const parts = passingParts(abortable(bytes, signal), PART_BYTES);
    let upload: Multipart | null = null;
    try {
      for await (const part of parts) {
        if (!upload && part.byteLength < PART_BYTES)
          return await this.inTurn(() => this.putWhole(checked, part, expected), checked);
        // Before the rest is on its way.
        if (!upload) await this.on(checked, options, async (place) => mayPut(occupiedAt(place), expected));
        upload ??= await unlessAborted(options, () => Multipart.begin(this.http, this.keys.keyOf(checked), call));
        await upload.add(part, call);
      }
      signal?.throwIfAborted();
      // From here on it is carried out or refused: whoever broke it off now would not know which.
      const whole = upload;
      return await this.inTurn(
        () => (whole ? this.complete(checked, whole, expected) : this.putWhole(checked, new Uint8Array(), expected)),
        checked,
      );
    } catch (error) {
      if (upload) await upload.abandon(checked);
      throw error;
    }
  }

  /** An empty object with a slash at the end of its key stands for a folder that holds nothing yet. */
  async makeFolder(path: string, options: CallOptions = {}): Promise<void> {
    await this.on(path, options, (place) =>
      this.turns.take(async () => {
        if (place.found === 'folder') return;
        mayPut(occupiedAt(place), null);
        await this.http.done('PUT', `${place.key}/`, { path: place.path, body: '' });
      }),
    );
  }

  async move(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    const target = this.checked(to);
    return await this.on(from, options, ({ path }) =>
      this.inTurn(
        async () => {
          const source = await this.held(path, options.expected);
          const made = await this.copied(source, target);
          await this.removed(source);
          return made;
        },
        target,
        path,
      ),
    );
  }

  async copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    const target = this.checked(to);
    return await this.on(from, options, ({ path }) =>
      this.inTurn(async () => this.copied(await this.held(path, options.expected), target), target, path),
    );
  }

  async remove(path: string, options: TransferOptions): Promise<void> {
    await this.on(path, options, ({ path: at }) =>
      this.turns.take(async () => this.removed(await this.held(at, options.expected)), at),
    );
  }

  async removeFolder(path: string, options: CallOptions = {}): Promise<void> {
    await this.on(path, options, (place) =>
      this.turns.take(async () => {
        if (place.found === null) return;
        if (place.found !== 'folder' || (await this.keys.holdsAnything(place.key, { path: place.path })))
          throw new RemoteFailure('exists', { path: place.path });
        // The mark alone: whatever comes into the folder meanwhile has a key of its own.
        await this.http.done('DELETE', `${place.key}/`, { path: place.path, accept: [404] });
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Connections are shared by all of this process, and end by themselves.
  }

  private async on<T>(path: string, options: CallOptions, work: (place: S3Place) => Promise<T>): Promise<T> {
    const checked = this.checked(path);
    return await unlessAborted(options, async () => work(await this.keys.locate(checked, callOf(checked, options))));
  }

  /**
   * Writes to a path while nobody else changes the others. Where its folder is not known to be there, it may come to be by this: nobody
   * else changes anything then, so that no twin of it is made.
   */
  private async inTurn<T>(work: () => Promise<T>, target: string, ...others: readonly string[]): Promise<T> {
    const folder = folderOf(target);
    const done = await this.turns.take(work, ...(this.folders.has(folder) ? [target, ...others] : []));
    this.folders.add(folder);
    const [first] = this.folders;
    if (this.folders.size > KNOWN_FOLDERS && first !== undefined) this.folders.delete(first);
    return done;
  }

  private checked(path: string): string {
    const checked = remotePath(path, this.capabilities.maxNameBytes);
    if (Buffer.byteLength(this.keys.keyOf(checked)) >= KEY_BYTES) throw new RemoteFailure('name_refused', { path });
    return checked;
  }

  private async get({ key }: S3Place, file: RemoteFile, options: ReadOptions): Promise<Response> {
    const { path, revision } = file;
    const range = rangeHeader(options.range);
    const headers = { 'if-match': `"${revision}"`, ...(range === undefined ? {} : { range }) };
    const response = await this.http.send('GET', key, { ...callOf(path, options), headers });
    const told = fileOf(path, objectOf(response.headers));
    // A server without ranges would send what lies before, too.
    const isPart = range === undefined || response.status === 206;
    if (told.revision === revision && isPart) return response;
    await response.body?.cancel();
    throw told.revision === revision ? new RemoteFailure('unavailable', { path }) : changed(told);
  }

  private async putWhole(path: string, content: Uint8Array, expected: string | null): Promise<RemoteFile> {
    const place = await this.keys.locate(path, { path });
    await this.put(place, content, expected);
    return this.settled(place);
  }

  /** Writes to a place that was looked at, and answers what the server tells of it. @throws RemoteFailure `changed`, `exists` */
  private async put(place: S3Place, content: Uint8Array, expected: string | null): Promise<Headers> {
    mayPut(occupiedAt(place), expected);
    const { path } = place;
    const md5 = createHash('md5').update(content).digest('base64');
    return await this.withCondition(place, conditionOn(place.found), async (condition) => {
      const headers = { 'content-md5': md5, ...condition };
      return (await this.http.done('PUT', place.key, { path, body: content, headers })).headers;
    });
  }

  private async complete(path: string, upload: Multipart, expected: string | null): Promise<RemoteFile> {
    const place = await this.keys.locate(path, { path });
    mayPut(occupiedAt(place), expected);
    await this.withCondition(place, conditionOn(place.found), (condition) => upload.complete(condition, { path }));
    return this.settled(place);
  }

  private async copied(source: S3Place & { readonly found: S3Object }, target: string): Promise<RemoteFile> {
    const place = await this.keys.locate(target, { path: target });
    mayPut(occupiedAt(place), null);
    const { etag, sizeBytes } = source.found;
    const from = { source: this.http.sourceOf(this.bucket, source.key), etag, sizeBytes };
    const call = { path: target };
    if (sizeBytes > COPIED_AT_ONCE) await this.copiedInParts(place, from);
    else {
      const headers = { 'x-amz-copy-source': from.source, 'x-amz-copy-source-if-match': etag };
      await this.withCondition(place, conditionOn(null), (condition) =>
        this.http.xml('PUT', place.key, { ...call, headers: { ...headers, ...condition } }),
      );
    }
    return this.settled(place);
  }

  private async copiedInParts(place: S3Place, from: Parameters<Multipart['copy']>[0]): Promise<void> {
    const call = { path: place.path };
    const upload = await Multipart.begin(this.http, place.key, call);
    try {
      await upload.copy(from, call);
      await this.withCondition(place, conditionOn(null), (condition) => upload.complete(condition, call));
    } catch (error) {
      await upload.abandon(place.path);
      throw error;
    }
  }

  private async removed({ key, path, found }: S3Place & { readonly found: S3Object }): Promise<void> {
    await this.http.done('DELETE', key, { path, headers: { 'if-match': found.etag } });
  }

  /** A server that knows no such condition, or that refuses although all is as it was seen, leaves our own look. */
  private async withCondition<T>(
    place: S3Place,
    condition: Condition,
    sends: (condition: Condition) => Promise<T>,
  ): Promise<T> {
    try {
      return await sends(condition);
    } catch (error) {
      if (!(error instanceof RemoteFailure) || Object.keys(condition).length === 0) throw error;
      if (error.reason === 'changed') {
        const now = await this.keys.look(place.key, { path: place.path });
        mayPut(occupiedAt({ ...place, found: now }), fileAt(place)?.revision ?? null);
      } else if (!isNotImplemented(error)) throw error;
      return await this.withCondition(place, {}, sends);
    }
  }

  private async held(path: string, expected: string): Promise<S3Place & { readonly found: S3Object }> {
    const place = await this.keys.locate(path, { path });
    const file = fileAt(place);
    if (!file || place.found === null || place.found === 'folder') throw new RemoteFailure('not_found', { path });
    if (file.revision !== expected) throw changed(file);
    return { ...place, found: place.found };
  }

  private async settled({ path, key }: S3Place): Promise<RemoteFile> {
    const found = await this.keys.look(key, { path });
    if (!found) throw new RemoteFailure('changed', { path, current: null });
    return fileOf(path, found);
  }
}

function fileAt({ path, found }: S3Place): RemoteFile | null {
  return found === null || found === 'folder' ? null : fileOf(path, found);
}

function folderAt({ path, found }: S3Place): RemoteEntry | null {
  return found === 'folder' ? { kind: 'folder', path, hasTwin: false } : null;
}

function conditionOn(found: S3Place['found']): Condition {
  return found === null || found === 'folder' ? { 'if-none-match': '*' } : { 'if-match': found.etag };
}

function isNotImplemented({ cause }: RemoteFailure): boolean {
  return cause instanceof Error && /\b501\b/.test(cause.message);
}

function occupiedAt(place: S3Place): Parameters<typeof mayPut>[0] {
  return { path: place.path, file: fileAt(place), by: place.found ? place.path : place.occupant };
}
