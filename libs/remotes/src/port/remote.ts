import type { HashKind } from '@workspace-graph/contracts';
import type { ChangeFeed, NativeDocuments, PresignedUrls, ResumableUploads, TextSearch, Trash } from './abilities.js';

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
  /** Whether `write` keeps the time of the last edit that it is given. */
  readonly keepsModified: boolean;
}

/** A file, with what the backend tells about its content. */
export interface RemoteFile {
  readonly kind: 'file';
  /** From the root of the remote, names joined by `/`, in NFC. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Opaque; another one means that the content may be another. */
  readonly revision: string;
  /** What the backend calls the file whatever its path; a move keeps it. Absent where there is no such name. */
  readonly id?: string;
  /** Time of the last edit, ISO 8601 in UTC. */
  readonly modifiedAt: string;
  /** Of `listedHashes`; in hexadecimal. */
  readonly hashes: Partial<Record<HashKind, string>>;
  /** Whether another name of its folder differs from this one only by case or normal form. */
  readonly hasTwin: boolean;
}

/** A folder, or something that is neither file nor folder (a link, a socket): that is never read nor replaced. */
export interface RemotePlace {
  readonly kind: 'folder' | 'other';
  readonly path: string;
  readonly hasTwin: boolean;
}

/** A document of the backend's own format: it has no bytes, can be exported, moved and removed, and is never read nor replaced. */
export interface RemoteDocument {
  readonly kind: 'document';
  readonly path: string;
  readonly id: string;
  readonly revision: string;
  readonly modifiedAt: string;
  readonly mediaType: string;
  readonly hasTwin: boolean;
}

export type RemoteEntry = RemoteFile | RemoteDocument | RemotePlace;

export interface CallOptions {
  /** Ends the call with its reason; what was begun leaves nothing under the path. */
  readonly signal?: AbortSignal;
}

export interface ListOptions extends CallOptions {
  /** True: all that lies below, folders before their content. */
  readonly recursive?: boolean;
}

export interface ReadOptions extends CallOptions {
  /** Bytes to leave out before the first one, and how many to give at most. */
  readonly range?: { readonly offset: number; readonly length?: number };
  /** Another revision is refused with `changed`. */
  readonly expected?: string;
}

/** An open content. It must be read to its end or disposed of. */
export interface RemoteContent extends AsyncDisposable {
  readonly file: RemoteFile;
  /** Once. Ends with `changed` when the file was changed while it was read, with `unavailable` when it was cut short. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The revision that is replaced, moved or removed; null: nothing may lie there. There is no way to overwrite blindly. */
export interface Expecting extends CallOptions {
  readonly expected: string | null;
}

export interface WriteOptions extends Expecting {
  /** Time of the last edit that the file is to have, where `keepsModified`; ISO 8601 in UTC. */
  readonly modifiedAt?: string;
}

export interface TransferOptions extends CallOptions {
  /** The revision of the file that is moved or copied. Nothing may lie at the new path. */
  readonly expected: string;
}

/**
 * A storage of an organisation. Paths have no leading slash, and '' is the root. Every call throws `RemoteFailure`
 * `forbidden`, `unavailable` and, for a path that the backend cannot hold, `name_refused`; and the reason of its signal.
 */
export interface Remote extends AsyncDisposable {
  readonly capabilities: RemoteCapabilities;
  /** Abilities that only some backends have; each is absent where the backend has it not. */
  readonly presigned?: PresignedUrls;
  readonly uploads?: ResumableUploads;
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
   * Streams a content, with constant memory, and makes the folders above it. When it answers, the content is there to
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
