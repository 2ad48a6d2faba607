import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Section, StatusEntry } from '@workspace-graph/contracts';
import { classifyFile, type FileFacts, isSection, parseFilePath, pathKey } from '@workspace-graph/domain';
import type { IgnoreRules } from '../ignore/ignore-rules.js';
import type { FolderState } from '../mirrors/mirrors.js';
import type { DeviceStore, MirrorRow, TrackedPath } from '../store/device-store.js';
import { comparePaths } from './path-order.js';
import type { StatusBuckets } from './status-buckets.js';
import { type SectionVisitor, walkSections } from './walk-sections.js';

/** One mirror whose files are told. */
export interface MirrorToTell {
  readonly row: MirrorRow;
  readonly state: FolderState;
  /** The folder as the caller is told it; null to who is told no paths on disk. */
  readonly folder: string | null;
  /** Whether files that are not tracked are looked for. */
  readonly discovers: boolean;
}

export interface TellingTo {
  readonly store: DeviceStore;
  readonly buckets: StatusBuckets;
  readonly signal: AbortSignal;
}

const STATES: Readonly<Record<Exclude<FolderState, 'ready'>, string>> = {
  missing: 'The folder of the node is not there; this is the state that was last known.',
  unreadable: 'The folder of the node cannot be read; this is the state that was last known.',
};
const BEFORE_FIRST_SCAN = 'It was not found, and the first scan of the folder has not ended yet.';
const UNREADABLE = 'The folder cannot be read, so what lies in it is not known.';
const BELOW_UNREADABLE = 'Its folder cannot be read; this is the state that was last known.';
const BELOW_LINK = 'Its folder is a symbolic link, which is not followed; this is the state that was last known.';
const LINK = 'It is a symbolic link, which is not followed.';
/** What is read for a name whose bytes are no text. */
const NO_TEXT = '\u{fffd}';

/** Adds the files of one mirror to the buckets: what is known of them against the names on disk. */
export async function tellMirror(mirror: MirrorToTell, to: TellingTo): Promise<void> {
  const teller = new MirrorTeller(mirror, to);
  if (mirror.state !== 'ready') return teller.tellLastKnown(STATES[mirror.state]);
  const isWalked = await walkSections(mirror.row.path, teller, to.signal);
  if (isWalked) teller.end();
  else teller.tellLastKnown(STATES.unreadable);
}

/** Goes through the tracked files and the names on disk side by side, both by path. */
class MirrorTeller implements SectionVisitor {
  private readonly tracked: Iterator<TrackedPath, void>;
  private readonly store: DeviceStore;
  private readonly buckets: StatusBuckets;
  private next: TrackedPath | null = null;

  constructor(
    private readonly mirror: MirrorToTell,
    { store, buckets }: TellingTo,
  ) {
    this.store = store;
    this.buckets = buckets;
    this.tracked = store.trackedPaths(mirror.row.nodeId);
    this.advance();
  }

  file(path: string, onDisk: string, rules: IgnoreRules | null): void {
    this.passTo(path);
    if (this.next?.path === path) this.tellPresent(this.next, onDisk, null);
    else if (this.isDiscovered(path, rules)) this.tellUntracked(path, onDisk, () => this.whyUntracked(path));
  }

  link(path: string, onDisk: string, rules: IgnoreRules | null): void {
    this.passTo(path);
    if (this.next?.path === path) this.tellAbsent(this.next, LINK);
    else if (this.isDiscovered(path, rules)) this.tellUntracked(path, onDisk, () => LINK);
  }

  enters(path: string, isIgnored: boolean): boolean {
    this.passTo(`${path}/`);
    return this.nextBelow(path) !== null || (this.mirror.discovers && !isIgnored);
  }

  unreadable(path: string, isIgnored: boolean): void {
    this.tellBelow(path, BELOW_UNREADABLE);
    if (this.mirror.discovers && !isIgnored) this.tellUntracked(path, path, () => UNREADABLE);
  }

  linkAsFolder(path: string): void {
    this.passTo(`${path}/`);
    this.tellBelow(path, BELOW_LINK);
  }

  end(): void {
    while (this.next) this.tellAbsent(this.next, null);
  }

  tellLastKnown(problem: string): void {
    while (this.next) {
      if (this.next.isDeleted) this.tellAbsent(this.next, problem);
      else this.tellPresent(this.next, this.next.path, problem);
    }
  }

  /** What is tracked before this path was not met on disk. */
  private passTo(path: string): void {
    while (this.next && comparePaths(this.next.path, path) < 0) this.tellAbsent(this.next, null);
  }

  private tellBelow(path: string, problem: string): void {
    for (let file = this.nextBelow(path); file; file = this.nextBelow(path)) this.tellPresent(file, file.path, problem);
  }

  private nextBelow(path: string): TrackedPath | null {
    return this.next?.path.startsWith(`${path}/`) === true ? this.next : null;
  }

  private isDiscovered(path: string, rules: IgnoreRules | null): boolean {
    return this.mirror.discovers && rules?.ignores(path, false) === false;
  }

  private tellPresent(file: TrackedPath, onDisk: string, problem: string | null): void {
    // Somebody may have changed the content since it was read.
    this.tellTracked(file, { sha256: null }, { onDisk, problem });
  }

  private tellAbsent(file: TrackedPath, problem: string | null): void {
    const isProven = file.isDeleted || this.mirror.row.scannedAt !== null;
    if (isProven) this.tellTracked(file, 'gone', { onDisk: null, problem });
    else this.tellTracked(file, { sha256: null }, { onDisk: null, problem: problem ?? BEFORE_FIRST_SCAN });
  }

  private tellTracked(
    file: TrackedPath,
    disk: FileFacts['disk'],
    { onDisk, problem }: { onDisk: string | null; problem: string | null },
  ): void {
    const { path, fileId, sizeBytes } = file;
    this.tell(path, { record: 'tracked', pushed: file.wasPushed, disk }, async () => ({
      ...this.entry(path, onDisk),
      file_id: fileId,
      size_bytes: sizeBytes,
      problem,
    }));
    this.advance();
  }

  private tellUntracked(path: string, onDisk: string, problem: () => string | null): void {
    this.tell(path, { record: 'none', pushed: false, disk: { sha256: null } }, async () => ({
      ...this.entry(path, onDisk),
      file_id: null,
      size_bytes: await sizeOf(join(this.mirror.row.path, onDisk)),
      problem: problem(),
    }));
  }

  private tell(
    path: string,
    facts: Pick<FileFacts, 'record' | 'pushed' | 'disk'>,
    entry: () => Promise<StatusEntry>,
  ): void {
    const verdict = classifyFile({ ...facts, workspace: 'local', native: false, synced: null, remote: 'unasked' });
    if (verdict !== null) this.buckets.add(verdict, path, entry);
  }

  private entry(path: string, onDisk: string | null): Pick<StatusEntry, 'node_id' | 'path' | 'section' | 'local_path'> {
    const { row, folder } = this.mirror;
    const local_path = onDisk !== null && folder !== null ? join(folder, onDisk) : null;
    return { node_id: row.nodeId, path, section: sectionOf(path), local_path };
  }

  /** Null for a file that only waits for the next scan, or that somebody took out of tracking. */
  private whyUntracked(path: string): string | null {
    if (path.includes(NO_TEXT)) return 'Its name is no valid text.';
    const parsed = parseFilePath(path);
    if ('problem' in parsed) return `Its path ${parsed.problem}.`;
    const twin = this.store.fileAt(this.mirror.row.nodeId, pathKey(path));
    return twin ? `The tracked file ${twin.path} has the same name, but for case or the form of characters.` : null;
  }

  private advance(): void {
    this.next = this.tracked.next().value ?? null;
  }
}

function sectionOf(path: string): Section {
  const [first = ''] = path.split('/', 1);
  if (!isSection(first)) throw new Error(`The path ${JSON.stringify(path)} lies in no section`);
  return first;
}

/** Null for what is no file, or vanished meanwhile. */
async function sizeOf(path: string): Promise<number | null> {
  const found = await lstat(path).catch(() => null);
  return found?.isFile() ? found.size : null;
}
