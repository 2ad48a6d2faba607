import type { ExportFormat } from '@workspace-graph/contracts';
import type { RemoteDocument, RemoteFile } from './entries.js';
import type { CallOptions, WriteOptions } from './options.js';

/** Whole URLs that carry their own permission. Whoever has one may do what it says, until it ends. */
export interface PresignedUrls {
  /** To read exactly this revision; where the backend cannot promise that, the reader compares the hash. */
  read(path: string, options: PresignOptions & { readonly expected: string }): Promise<PresignedRequest>;
  /** To write a content of exactly this size. A backend whose URLs cannot carry the condition offers no such call. */
  write?(
    path: string,
    options: PresignOptions & { readonly expected: string | null; readonly sizeBytes: number },
  ): Promise<PresignedRequest>;
}

export interface PresignOptions extends CallOptions {
  readonly validForSeconds: number;
}

export interface PresignedRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly url: string;
  /** Headers that the request must carry, none of them a credential. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Uploads in parts that outlive the process that began them. Nothing is seen under the path before `finish`. */
export interface ResumableUploads {
  /** Bytes of which each part but the last is a whole multiple. */
  readonly partBytes: number;
  /** @returns what names the upload, to be kept: plain text without credentials, at most 4 KiB */
  begin(path: string, options: WriteOptions & { readonly sizeBytes: number }): Promise<string>;
  /** How many bytes are there to stay. @throws RemoteFailure `not_found` for an upload that ended or that the backend forgot */
  received(upload: string, options?: CallOptions): Promise<number>;
  /** Goes on from `offset`, which is what `received` tells. @returns how many bytes are there now. @throws RemoteFailure `changed` for another offset; whatever the stream throws, and what was sent before then stays */
  append(upload: string, offset: number, bytes: AsyncIterable<Uint8Array>, options?: CallOptions): Promise<number>;
  /** Gives the content its name. @throws RemoteFailure as `write` does; the upload then stays for another try */
  finish(upload: string, options: WriteOptions): Promise<RemoteFile>;
  /** One that is gone is no error. */
  abandon(upload: string, options?: CallOptions): Promise<void>;
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
