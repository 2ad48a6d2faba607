import type { FileHandle } from 'node:fs/promises';

/** What one file may cost. Sizes in bytes, durations in milliseconds. */
export const EXTRACTION = {
  fileBytes: 50 * 1_048_576,
  /** Characters of text that are kept; what follows is not searched. */
  textLength: 2_000_000,
  timeoutMs: 20_000,
  /** Bytes of plain text, and of HTML, that are read at once: larger files and all other formats may take long. */
  quickBytes: 1_048_576,
  quickHtmlBytes: 262_144,
  heapMegabytes: 512,
  /** Unpacked bytes that are looked at in one bundle of Office. */
  unpackedBytes: 128 * 1_048_576,
  /** Entries of such a bundle. */
  entries: 10_000,
} as const;

/** A file that is open for reading. Whoever reads it closes it. */
export interface ExtractionRequest {
  readonly handle: FileHandle;
  readonly filename: string;
  /** True: only what is read at once, whatever the file holds, is read; anything else is `slow`. */
  readonly isQuick?: boolean;
}

/** A small tracked file, which is read only while it is the one that was registered. */
export interface TrackedText {
  /** Absolute. */
  readonly path: string;
  readonly filename: string;
  /** As of `FileState`. */
  readonly stamp: string;
  readonly inode: string;
}

/**
 * done: there is text; none: the format has none that is known; failed: reading it failed, and would again;
 * too_large: nobody tried.
 */
export type ExtractionState = 'done' | 'none' | 'failed' | 'too_large';

/** slow: the text may take long to be read, and nobody tried; changed: another file lies there than the tracked one. */
export type ExtractionOutcome = ExtractionState | 'slow' | 'changed';

export interface Extraction {
  readonly state: ExtractionOutcome;
  /** Of the bytes that were read; null when nobody read them. */
  readonly sha256: string | null;
  /** The text, packed by `packText`. */
  readonly text: Uint8Array | null;
  /** The folded text in UTF-8. */
  readonly words: Uint8Array | null;
  /** Why it failed. */
  readonly problem: string | null;
}
