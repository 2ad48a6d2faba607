import type { Envelope } from '../caller.js';
import type { TrackedFile } from './file.js';

/** Positions of the first and the last byte. */
export interface ByteRange {
  /** Position of the first byte, from 0. */
  readonly start: number;
  /** Position of the last byte, inclusive. */
  readonly end: number;
}

/** The location of a file. */
export interface ContentTarget {
  /** Id of the node of the file. */
  readonly nodeId: string;
  /** Within the node, as somebody wrote it. */
  readonly path: string;
}

/** Content that is held open until it is closed. */
export interface OpenContent {
  /** `preview` is the page in a presentation bundle; `no-preview` is a bundle without one, and has no bytes. */
  readonly kind: 'file' | 'preview' | 'no-preview';
  /** Name of the file, without its folders. */
  readonly filename: string;
  /** Media type of the bytes; of a preview, that of the page. */
  readonly mimeType: string;
  /** Size of all bytes, regardless of the range; 0 for `no-preview`. */
  readonly sizeBytes: number;
  /** SHA-256 of the bytes in hexadecimal, from which the ETag is made; '' for `no-preview`. */
  readonly sha256: string;
  /** Last change of the file on disk. */
  readonly modifiedAt: Date;
  /**
   * The bytes of a range, or all of them. @throws ServiceError SERVICE_UNAVAILABLE, before the last bytes, when the
   * file has changed since it was opened
   */
  bytes(range?: ByteRange): AsyncIterable<Uint8Array>;
  /** Releases the file. Call it in every case, also when `bytes` failed or was never called. */
  close(): Promise<void>;
}

/** Options of `FileContent.open`. */
export interface OpenContentOptions {
  /** True: the bytes of a presentation bundle instead of its preview. */
  readonly raw: boolean;
  /** Aborted when the caller cancels the request. */
  readonly signal?: AbortSignal;
}

/** Options of `FileContent.create` and `replace`. */
export interface WriteContentOptions {
  /** True: the new content, and the content that it replaces, must be UTF-8 text; otherwise NOT_EDITABLE. */
  readonly text: boolean;
}

/**
 * The bytes of files, as streams: they never pass over the bus and are never held in memory as a whole. All methods
 * check the access of the caller in the envelope and refuse as the operations do: NODE_NOT_FOUND, FORBIDDEN,
 * NO_MIRROR, VALIDATION_FAILED, FILE_NOT_FOUND, NATIVE_FORMAT.
 */
export interface FileContent {
  /** Resolves when the caller may read, or write, the content of the node. Surfaces call it again while bytes move. */
  confirm(nodeId: string, level: 'read' | 'write', envelope: Envelope): Promise<void>;

  /**
   * Opens a file.
   * @throws ServiceError also UNSUPPORTED_MEDIA_TYPE, for a bundle that cannot be read
   */
  open(target: ContentTarget, options: OpenContentOptions, envelope: Envelope): Promise<OpenContent>;

  /**
   * Creates a file at a free path. @throws ServiceError also DESTINATION_EXISTS, NOT_EDITABLE, PAYLOAD_TOO_LARGE,
   * STORAGE_FULL
   */
  create(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions,
    envelope: Envelope,
  ): Promise<TrackedFile>;

  /**
   * Replaces content that has the hash `ifMatch`.
   * @throws ServiceError also CONFLICT with `details.current.sha256`, NOT_EDITABLE, PAYLOAD_TOO_LARGE, STORAGE_FULL
   */
  replace(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions & { readonly ifMatch: string },
    envelope: Envelope,
  ): Promise<TrackedFile>;
}
