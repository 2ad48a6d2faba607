import type { HashKind } from '@workspace-graph/contracts';
import type { ChangeFeed, NativeDocuments, ResumableUploads, SmallContents, TextSearch, Trash } from './abilities.js';
import type { RemoteEntry, RemoteFile } from './entries.js';
import type { CallOptions, ListOptions, ReadOptions, TransferOptions, WriteOptions } from './options.js';

/** What a backend really does. Callers ask for these, never for the name of a backend. */
export interface RemoteCapabilities {
  /**
   * Who makes sure that a write, move or removal finds what it expects: `atomic`, the backend itself; `captured`, it looks
   * before and compares what it displaced, which gets its place back; `checked`, it looks before and not again, so that
   * callers must let one writer at a time to a path.
   */
  readonly conditions: 'atomic' | 'captured' | 'checked';
  /** Whether readers see the old content or the new one, never half of it. */
  readonly atomicWrite: boolean;
  /** Whether `move` gives the object another name; else it is copied and removed, which a break may leave half done. */
  readonly atomicMove: boolean;
  /** Whether `copy` moves no bytes through this process. */
  readonly serverSideCopy: boolean;
  /** Whether `read` takes a range without reading what lies before it. */
  readonly ranges: boolean;
  /** Whether one listing answers a whole tree; else each folder is asked for. */
  readonly recursiveListing: boolean;
  /** Whether folders exist without anything in them. */
  readonly emptyFolders: boolean;
  /** Hashes that `stat` and `list` tell without reading the content. */
  readonly listedHashes: readonly HashKind[];
  /** Whether names that differ only by case are two objects. */
  readonly caseSensitive: boolean;
  /** Longest name of one file or folder, in bytes of UTF-8. */
  readonly maxNameBytes: number;
  /** Whether contents are read without a network between, so that many can be looked through. */
  readonly readsLocally: boolean;
  /** Whether `write` keeps the time of the last edit that it is given. */
  readonly keepsModified: boolean;
}

/** An open content. It must be read to its end or disposed of. */
export interface RemoteContent extends AsyncDisposable {
  readonly file: RemoteFile;
  /** Once; each part has memory of its own. Ends with `changed` when the file was changed while it was read, with `unavailable` when it was cut short. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * A storage of an organisation. Paths have no leading slash, and '' is the root. Every call throws `RemoteFailure`
 * `forbidden`, `unavailable` and, for a path that the backend cannot hold, `name_refused`; and the reason of its signal.
 */
export interface Remote extends AsyncDisposable {
  readonly capabilities: RemoteCapabilities;
  /** Abilities that only some backends have; each is absent where the backend has it not. */
  readonly uploads?: ResumableUploads;
  readonly together?: SmallContents;
  readonly changes?: ChangeFeed;
  readonly search?: TextSearch;
  readonly documents?: NativeDocuments;
  readonly trash?: Trash;

  /** What lies under a path; null for nothing. `hasTwin` is false here: only a listing sees the other names. */
  stat(path: string, options?: CallOptions): Promise<RemoteEntry | null>;

  /**
   * What lies in a folder, in pages and in no order. Names that the product writes under for a moment are left out.
   * A listing that cannot be completed throws: it never ends early.
   * @throws RemoteFailure `not_found` when there is no such folder
   */
  list(folder: string, options?: ListOptions): AsyncIterable<readonly RemoteEntry[]>;

  /** @throws RemoteFailure `not_found`, `changed`, `range` */
  read(path: string, options?: ReadOptions): Promise<RemoteContent>;

  /**
   * Streams a content, each part in memory of its own, with constant memory, and makes the folders above it. When it answers, the content is there to
   * stay; when it throws, the path holds what it held before, unless `unavailable` leaves that open.
   * @throws RemoteFailure `changed` for another content than the expected one, or none; `exists` where nothing was
   * expected; `full`; whatever the stream throws
   */
  write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile>;

  /** Makes a folder and those above it. One that is there is no error. @throws RemoteFailure `exists` for a file */
  makeFolder(path: string, options?: CallOptions): Promise<void>;

  /** @throws RemoteFailure `not_found`, `changed`, `exists`, `full` */
  move(from: string, to: string, options: TransferOptions): Promise<RemoteFile>;

  /** @throws RemoteFailure `not_found`, `changed`, `exists`, `full` */
  copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile>;

  /**
   * Removes a file. @throws RemoteFailure `changed` for another content than the expected one; `not_found`
   */
  remove(path: string, options: TransferOptions): Promise<void>;

  /** Removes a folder with nothing in it; one that is not there is no error. @throws RemoteFailure `exists` for one that holds something */
  removeFolder(path: string, options?: CallOptions): Promise<void>;
}
