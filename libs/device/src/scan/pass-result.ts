import type { WholeScan } from '../mirrors/mirrors.js';
import type { MirrorRow } from '../store/device-store.js';
import type { AbsentSections } from './absent-sections.js';

/** Files that are to hold still before they are read. */
export interface Settle {
  /** Age in which nothing may have changed. */
  readonly windowMs: number;
  /** Stamps that were seen at least that long ago: the same stamp again means that the file holds still. */
  readonly before: ReadonlyMap<string, string>;
}

export interface PassOptions {
  readonly row: MirrorRow;
  /** Paths within the node with what lies under them; null for all. */
  readonly scope: readonly string[] | null;
  readonly settle: Settle | null;
  readonly progress: Pick<WholeScan, 'seen' | 'toRead'>;
  /** Told once it is known that there is something to be taken in. */
  readonly onNews: () => void;
  readonly absences: AbsentSections;
}

export interface PassResult {
  /** Paths to be looked at again soon, with the stamp they had: they were being written, or changed meanwhile. */
  readonly again: ReadonlyMap<string, string>;
  /** Those of them whose content is not known yet. */
  readonly unread: ReadonlySet<string>;
  /** By path, what could not be taken in and why. */
  readonly failures: ReadonlyMap<string, string>;
  /** What was looked at, with what lies under it; null for all. */
  readonly looked: ReadonlySet<string> | null;
  /** True when the file service refused work that is to be tried again. */
  readonly isIncomplete: boolean;
  /** When to look at all of it again, in milliseconds of `performance.now()`: then an absence counts. Null for no such time. */
  readonly recheckAt: number | null;
  /** Names that were read from the disk to compare it with what was known. */
  readonly entries: number;
  /** Files that were looked at and have other names, under which they may be changed, as they stand on disk. */
  readonly linked: readonly string[];
  /** Of those among them that had changed: their other names, by node, that were not looked at. */
  readonly otherNames: ReadonlyMap<string, readonly string[]>;
}
