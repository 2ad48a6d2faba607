import { only, twinIn } from '@workspace-graph/disk';
import { abortable } from '@workspace-graph/platform';
import {
  type CallOptions,
  folderOf,
  folderPath,
  foldersAbove,
  type ListOptions,
  markTwins,
  type ReadOptions,
  type Remote,
  type RemoteCapabilities,
  type RemoteContent,
  type RemoteEntry,
  RemoteFailure,
  type RemoteFailureReason,
  type RemoteFile,
  remotePath,
  type SmallContents,
  type TransferOptions,
  type WriteOptions,
} from '../port/index.js';
import { MemoryUploads } from './memory-uploads.js';

const PAGE = 1_000;
const CHUNK_BYTES = 65_536;

interface Stored {
  readonly bytes: Buffer;
  readonly revision: string;
  readonly modifiedAt: string;
}

/** A remote in the memory of this process: what the others are compared with, and what tests of callers use. */
export class MemoryRemote implements Remote {
  readonly capabilities: RemoteCapabilities = {
    conditions: 'atomic',
    atomicWrite: true,
    atomicMove: true,
    serverSideCopy: true,
    ranges: true,
    recursiveListing: true,
    emptyFolders: true,
    listedHashes: [],
    caseSensitive: true,
    maxNameBytes: 255,
    readsLocally: true,
    keepsModified: true,
  };

  readonly uploads = new MemoryUploads(
    (...given) => this.write(...given),
    (path, options) => this.begin(path, options),
  );
  readonly together: SmallContents = {
    write: async (contents, options) => {
      options?.signal?.throwIfAborted();
      return await Promise.allSettled(
        contents.map(async ({ path, bytes, modifiedAt }) => {
          const given = { ...options, expected: null, ...(modifiedAt === undefined ? {} : { modifiedAt }) };
          return (await this.write(path, only(bytes), given)).revision;
        }),
      );
    },
    read: async (files, options) =>
      files.map(({ path, maxBytes }) => {
        const stored = this.files.get(this.begin(path, options ?? {}));
        return stored && stored.bytes.length <= maxBytes ? { file: this.fileAt(path), bytes: stored.bytes } : null;
      }),
  };
  private readonly files = new Map<string, Stored>();
  private readonly folders = new Set<string>(['']);
  private revisions = 0;
  private failing: { reason: RemoteFailureReason; retryAfterSeconds?: number } | null = null;

  /** From now on every call fails like this; null: none. */
  failWith(reason: RemoteFailureReason | null, retryAfterSeconds?: number): void {
    this.failing = reason && { reason, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
  }

  /** Puts a content where it is, whatever lies there, as another program would. */
  plant(path: string, content: Uint8Array): void {
    for (const folder of foldersAbove(path)) this.folders.add(folder);
    this.keep(path, Buffer.from(content), new Date().toISOString());
  }

  async stat(path: string, options: CallOptions = {}): Promise<RemoteEntry | null> {
    const at = this.begin(path, options);
    if (this.files.has(at)) return this.fileAt(at);
    return this.folders.has(at) ? { kind: 'folder', path: at, hasTwin: false } : null;
  }

  async *list(folder: string, options: ListOptions = {}): AsyncGenerator<readonly RemoteEntry[]> {
    const at = folderPath(folder, this.capabilities.maxNameBytes);
    this.mayGoOn(at, options);
    if (!this.folders.has(at)) throw new RemoteFailure('not_found', { path: at });
    const isListed = (path: string): boolean => path !== '' && this.isBelow(path, at, options.recursive ?? false);
    const folders = [...this.folders]
      .filter(isListed)
      .map((path) => ({ kind: 'folder' as const, path, hasTwin: false }));
    const files = [...this.files.keys()].filter(isListed).map((path) => this.fileAt(path));
    const entries = markTwins([...folders, ...files]);
    for (let start = 0; start < entries.length; start += PAGE) {
      this.mayGoOn(at, options);
      yield entries.slice(start, start + PAGE);
    }
  }

  async read(path: string, options: ReadOptions = {}): Promise<RemoteContent> {
    const at = this.begin(path, options);
    const { bytes } = this.storedAt(at, options.expected);
    const { offset = 0, length = bytes.length } = options.range ?? {};
    if (offset > bytes.length) throw new RemoteFailure('range', { path: at, sizeBytes: bytes.length });
    const part = bytes.subarray(offset, offset + length);
    return {
      file: this.fileAt(at),
      bytes: abortable(chunks(part), options.signal),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    const at = this.begin(path, options);
    this.mayPut(at, options.expected);
    const parts: Uint8Array[] = [];
    for await (const chunk of abortable(bytes, options.signal)) parts.push(Uint8Array.from(chunk));
    this.mayGoOn(at, options);
    this.mayPut(at, options.expected);
    return this.put(at, Buffer.concat(parts), options.modifiedAt ?? new Date().toISOString());
  }

  async makeFolder(path: string, options: CallOptions = {}): Promise<void> {
    const at = this.begin(path, options);
    this.makeFolders([...foldersAbove(at), at]);
  }

  async move(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    const source = this.begin(from, options);
    const moved = await this.copy(from, to, options);
    this.files.delete(source);
    return moved;
  }

  async copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    const source = this.begin(from, options);
    const target = this.begin(to, options);
    const { bytes, modifiedAt } = this.storedAt(source, options.expected);
    this.mayPut(target, null);
    return this.put(target, bytes, modifiedAt);
  }

  async remove(path: string, options: TransferOptions): Promise<void> {
    const at = this.begin(path, options);
    this.storedAt(at, options.expected);
    this.files.delete(at);
  }

  async removeFolder(path: string, options: CallOptions = {}): Promise<void> {
    const at = this.begin(path, options);
    const isInside = (other: string): boolean => this.isBelow(other, at, true);
    if (this.files.has(at) || [...this.files.keys(), ...this.folders].some(isInside))
      throw new RemoteFailure('exists', { path: at });
    this.folders.delete(at);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.files.clear();
  }

  private begin(path: string, options: CallOptions): string {
    this.mayGoOn(path, options);
    return remotePath(path, this.capabilities.maxNameBytes);
  }

  private mayGoOn(path: string, { signal }: CallOptions): void {
    signal?.throwIfAborted();
    if (!this.failing) return;
    const { reason, ...facts } = this.failing;
    throw new RemoteFailure(reason, { path, ...facts });
  }

  private isBelow(path: string, folder: string, recursive: boolean): boolean {
    if (!recursive) return folderOf(path) === folder;
    return folder === '' || path.startsWith(`${folder}/`);
  }

  private storedAt(path: string, expected: string | undefined): Stored {
    const stored = this.files.get(path);
    if (!stored) throw new RemoteFailure('not_found', { path });
    if (expected !== undefined && stored.revision !== expected)
      throw new RemoteFailure('changed', { path, current: this.fileAt(path) });
    return stored;
  }

  private mayPut(path: string, expected: string | null): void {
    const stored = this.files.get(path);
    if (expected === null) return this.mustBeFree(path);
    if (stored?.revision !== expected)
      throw new RemoteFailure('changed', { path, current: stored ? this.fileAt(path) : null });
  }

  private mustBeFree(path: string): void {
    const folder = folderOf(path);
    const others = [...this.files.keys(), ...this.folders].filter(
      (other) => other !== '' && folderOf(other) === folder,
    );
    const occupant = others.includes(path) ? path : twinIn(others, path);
    if (occupant === null) return;
    const current = this.files.has(occupant) ? { current: this.fileAt(occupant) } : {};
    throw new RemoteFailure('exists', { path: occupant, ...current });
  }

  private put(path: string, bytes: Buffer, modifiedAt: string): RemoteFile {
    this.makeFolders(foldersAbove(path));
    this.keep(path, bytes, modifiedAt);
    return this.fileAt(path);
  }

  private makeFolders(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.folders.has(path)) continue;
      this.mustBeFree(path);
      this.folders.add(path);
    }
  }

  private keep(path: string, bytes: Buffer, modifiedAt: string): void {
    this.revisions += 1;
    this.files.set(path, { bytes, revision: String(this.revisions), modifiedAt });
  }

  private fileAt(path: string): RemoteFile {
    const { bytes, revision, modifiedAt } = this.storedAt(path, undefined);
    return { kind: 'file', path, sizeBytes: bytes.length, revision, modifiedAt, hashes: {}, hasTwin: false };
  }
}

async function* chunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
}
