import type { Envelope } from '../caller.js';
import type { TrackedFile } from './file.js';

/** Positions of the first and the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where a file lies. */
export interface ContentTarget {
  readonly nodeId: string;
  /** Within the node, as somebody wrote it. */
  readonly path: string;
}

/** Content that is held open until it is closed. */
export interface OpenContent {
  /** `preview` is the page that a presentation bundle holds; `no-preview` stands for a bundle without one, and has no bytes. */
  readonly kind: 'file' | 'preview' | 'no-preview';
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly modifiedAt: Date;
  /** @throws ServiceError SERVICE_UNAVAILABLE before the last bytes of content that was changed meanwhile */
  bytes(range?: ByteRange): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export interface OpenContentOptions {
  /** True: the bytes of a presentation bundle instead of its preview. */
  readonly raw: boolean;
  readonly signal?: AbortSignal;
}

export interface WriteContentOptions {
  /** True: the content must be UTF-8 text, and so must be what it replaces; else NOT_EDITABLE. */
  readonly text: boolean;
}

/**
 * The bytes of files, as streams: none of them passes over the bus or is held as a whole. All methods look at the access
 * of the caller in the envelope and refuse as the operations do: NODE_NOT_FOUND, FORBIDDEN, NO_MIRROR, VALIDATION_FAILED,
 * FILE_NOT_FOUND, NATIVE_FORMAT.
 */
export interface FileContent {
  /** Resolves while the caller may read, or write, the content of the node; looked at again while bytes move. */
  confirm(nodeId: string, level: 'read' | 'write', envelope: Envelope): Promise<void>;

  /**
   * Opens a file.
   * @throws ServiceError also UNSUPPORTED_MEDIA_TYPE, for a bundle that cannot be read
   */
  open(target: ContentTarget, options: OpenContentOptions, envelope: Envelope): Promise<OpenContent>;

  /** Makes a file where nothing lies. @throws ServiceError also DESTINATION_EXISTS, NOT_EDITABLE, PAYLOAD_TOO_LARGE, STORAGE_FULL */
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
