import type { ExportFormat } from '@workspace-graph/contracts';
import type { RemoteDocument, RemoteFile } from './entries.js';
import type { CallOptions, WriteOptions } from './options.js';

/** Some of what is there of an upload, in bytes. */
export interface UploadedRange {
  readonly offset: number;
  readonly length: number;
}

/** Uploads in parts that outlive the process that began them. Nothing is seen under the path before `finish`. */
export interface ResumableUploads {
  /** Bytes of each part but the last. */
  readonly partBytes: number;
  /** @returns what names the upload, to be kept: plain text without credentials, at most 4 KiB */
  begin(path: string, options?: CallOptions): Promise<string>;
  /** How many bytes are there to stay. @throws RemoteFailure `not_found` for an upload that ended or that the backend forgot */
  received(upload: string, options?: CallOptions): Promise<number>;
  /**
   * Goes on from `offset`: the end of a part, of those that are there. What lies after it is dropped where the backend can, and
   * `changed` else. @returns how many bytes are there now. @throws whatever the stream throws; parts that were sent before then stay
   */
  append(upload: string, offset: number, bytes: AsyncIterable<Uint8Array>, options?: CallOptions): Promise<number>;
  /**
   * What is there of it; missing where the backend gives nothing back before a content is whole. The memory of a chunk is good
   * until the next is asked for. @throws RemoteFailure `not_found`; `changed` when less is there than is asked for
   */
  read?(upload: string, range: UploadedRange, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Gives the content its name. @throws RemoteFailure as `write` does; the upload then stays for another try */
  finish(upload: string, options: WriteOptions): Promise<RemoteFile>;
  /** One that is gone is no error. */
  abandon(upload: string, options?: CallOptions): Promise<void>;
}

/** A content that is in memory, and is to lie where nothing does. */
export interface NewContent {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** As of `write`. */
  readonly modifiedAt?: string;
}

/** What was read of one of several files. */
export interface WholeContent {
  readonly file: RemoteFile;
  readonly bytes: Uint8Array;
}

/** Small contents, many in one call, for what each of them would cost by itself. */
export interface SmallContents {
  /**
   * Writes them as `write` would with nothing expected. What became of each, in their order: its revision, or what `write` would
   * throw. One that is out of the ordinary may be refused with `exists`, whatever stands in its way.
   */
  write(contents: readonly NewContent[], options?: CallOptions): Promise<PromiseSettledResult<string>[]>;
  /**
   * Reads them whole, in the order of the paths. Null for whatever is out of the ordinary, such as one that is not there or larger
   * than it may be: `read` tells what it is.
   */
  read(
    files: readonly { readonly path: string; readonly maxBytes: number }[],
    options?: CallOptions,
  ): Promise<(WholeContent | null)[]>;
}

/** What changed since a moment, without a listing. */
export interface ChangeFeed {
  /** The moment from which on `since` tells. */
  now(options?: CallOptions): Promise<string>;
  /**
   * Paths that may hold something else now, each page with the moment to go on from. `everything` stands for a feed that
   * was lost: only a listing tells.
   */
  since(moment: string, options?: CallOptions): AsyncIterable<ChangePage>;
}

export interface ChangePage {
  readonly paths: readonly string[] | 'everything';
  readonly moment: string;
}

/** Search in contents by the backend itself. */
export interface TextSearch {
  /** Paths of files below a folder that hold these whole words, best first, at most `limit`. */
  find(
    words: string,
    options: CallOptions & { readonly folder: string; readonly limit: number },
  ): Promise<readonly string[]>;
}

/** Documents of the backend's own format, which have no bytes until they are exported. */
export interface NativeDocuments {
  /** Where a document lies; null for what is no such document, is in the trash or lies outside of the remote. */
  find(documentId: string, options?: CallOptions): Promise<RemoteDocument | null>;
  /** In one of its formats. @throws RemoteFailure `not_found` for a document that lies elsewhere by now */
  export(document: RemoteDocument, format: ExportFormat, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>;
}

/** What was removed and can be had back. */
export interface Trash {
  /** Days for which the backend keeps what was removed. */
  readonly keptDays: number;
  /** Gives the file that was removed last from this path its place back. @throws RemoteFailure `not_found`, `exists` */
  restore(path: string, options?: CallOptions): Promise<RemoteFile>;
}
