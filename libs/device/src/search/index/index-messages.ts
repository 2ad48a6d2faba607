import type { NotedFile, Term } from '@workspace-graph/domain';
import type { ExtractionState } from '../text/extraction.js';

/** What was read of a file. */
export interface ReadFile {
  readonly fileId: string;
  /** Of the content that was read. */
  readonly sha256: string;
  readonly state: ExtractionState;
  /** As of `Extraction`. */
  readonly text: Uint8Array | null;
  readonly words: Uint8Array | null;
}

export interface FoundFile {
  readonly fileId: string;
  readonly nodeId: string;
}

export interface IndexSearch {
  readonly terms: readonly Term[];
  readonly nodeId?: string;
  readonly limit: number;
  readonly offset: number;
}

export type IndexRequest =
  /** Files that are there and files that are not any more. */
  | { readonly kind: 'note'; readonly files: readonly NotedFile[]; readonly removed: readonly string[] }
  /** As `SearchIndex.put`. */
  | { readonly kind: 'put'; readonly files: readonly ReadFile[]; readonly comesMore: boolean }
  /** Between both, all files there are are noted; those that were not are removed. */
  | { readonly kind: 'begin-census' }
  | { readonly kind: 'end-census' }
  | { readonly kind: 'remove-node'; readonly nodeId: string }
  | { readonly kind: 'search'; readonly search: IndexSearch }
  | { readonly kind: 'snippets'; readonly fileIds: readonly string[]; readonly terms: readonly Term[] };

export interface IndexReply {
  /** True when the index was damaged and is a new, empty one since. */
  readonly rebuilt: boolean;
  /** Of a note: files whose text is to be read. */
  readonly toRead: readonly string[];
  /** Of a search, the best first. */
  readonly found: readonly FoundFile[];
  /** Of snippets, in the order of the files; null when the text has none of the words. */
  readonly snippets: readonly (string | null)[];
}
