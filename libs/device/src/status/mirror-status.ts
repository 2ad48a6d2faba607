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
export interface MirrorToReport {
  readonly row: MirrorRow;
  readonly state: FolderState;
  /** The folder as the caller is told it; null to who is told no paths on disk. */
  readonly folder: string | null;
  /** Whether files that are not tracked are looked for. */
  readonly discovers: boolean;
}

export interface ReportTarget {
  readonly store: DeviceStore;
  readonly buckets: StatusBuckets;
  readonly signal: AbortSignal;
}

const STATES: Readonly<Record<Exclude<FolderState, 'ready'>, string>> = {
  missing: 'The folder of the node is missing; this is the last known state.',
  unreadable: 'The folder of the node cannot be read; this is the last known state.',
};
const BEFORE_FIRST_SCAN = 'It was not found, and the first scan of the folder has not finished yet.';
const UNREADABLE = 'The folder cannot be read, so its content is unknown.';
const BELOW_UNREADABLE = 'Its folder cannot be read; this is the last known state.';
const BELOW_LINK = 'Its folder is a symbolic link, which is not followed; this is the last known state.';
const LINK = 'It is a symbolic link, which is not followed.';
/** What is read for a name whose bytes are no text. */
const NO_TEXT = '\u{fffd}';

/** Adds the files of one mirror to the buckets: what is known of them against the names on disk. */
export async function reportMirror(mirror: MirrorToReport, to: ReportTarget): Promise<void> {
  const teller = new MirrorTeller(mirror, to);
  if (mirror.state !== 'ready') return teller.reportLastKnown(STATES[mirror.state]);
  const isWalked = await walkSections(mirror.row.path, teller, to.signal);
  if (isWalked) teller.end();
  else teller.reportLastKnown(STATES.unreadable);
}

/** Goes through the tracked files and the names on disk side by side, both by path. */
class MirrorTeller implements SectionVisitor {
  private readonly tracked: Iterator<TrackedPath, void>;
  private readonly store: DeviceStore;
  private readonly buckets: StatusBuckets;
  private next: TrackedPath | null = null;

  constructor(
    private readonly mirror: MirrorToReport,
    { store, buckets }: ReportTarget,
  ) {
    this.store = store;
    this.buckets = buckets;
    this.tracked = store.trackedPaths(mirror.row.nodeId);
    this.advance();
  }

  file(path: string, onDisk: string, rules: IgnoreRules | null): void {
    this.passTo(path);
    if (this.next?.path === path) this.reportPresent(this.next, onDisk, null);
    else if (this.isDiscovered(path, rules)) this.reportUntracked(path, onDisk, () => this.whyUntracked(path));
  }

  link(path: string, onDisk: string, rules: IgnoreRules | null): void {
    this.passTo(path);
    if (this.next?.path === path) this.reportAbsent(this.next, LINK);
    else if (this.isDiscovered(path, rules)) this.reportUntracked(path, onDisk, () => LINK);
  }

  enters(path: string, isIgnored: boolean): boolean {
    this.passTo(`${path}/`);
    return this.nextBelow(path) !== null || (this.mirror.discovers && !isIgnored);
  }

  unreadable(path: string, isIgnored: boolean): void {
    this.reportBelow(path, BELOW_UNREADABLE);
    if (this.mirror.discovers && !isIgnored) this.reportUntracked(path, path, () => UNREADABLE);
  }

  linkAsFolder(path: string): void {
    this.passTo(`${path}/`);
    this.reportBelow(path, BELOW_LINK);
  }

  end(): void {
    while (this.next) this.reportAbsent(this.next, null);
  }

  reportLastKnown(problem: string): void {
    while (this.next) {
      if (this.next.isDeleted) this.reportAbsent(this.next, problem);
      else this.reportPresent(this.next, this.next.path, problem);
    }
  }

  /** What is tracked before this path was not met on disk. */
  private passTo(path: string): void {
    while (this.next && comparePaths(this.next.path, path) < 0) this.reportAbsent(this.next, null);
  }

  private reportBelow(path: string, problem: string): void {
    for (let file = this.nextBelow(path); file; file = this.nextBelow(path))
      this.reportPresent(file, file.path, problem);
  }

  private nextBelow(path: string): TrackedPath | null {
    return this.next?.path.startsWith(`${path}/`) === true ? this.next : null;
  }

  private isDiscovered(path: string, rules: IgnoreRules | null): boolean {
    return this.mirror.discovers && rules?.ignores(path, false) === false;
  }

  private reportPresent(file: TrackedPath, onDisk: string, problem: string | null): void {
    // Somebody may have changed the content since it was read.
    this.reportTracked(file, { sha256: null }, { onDisk, problem });
  }

  private reportAbsent(file: TrackedPath, problem: string | null): void {
    const isProven = file.isDeleted || this.mirror.row.scannedAt !== null;
    if (isProven) this.reportTracked(file, 'gone', { onDisk: null, problem });
    else this.reportTracked(file, { sha256: null }, { onDisk: null, problem: problem ?? BEFORE_FIRST_SCAN });
  }

  private reportTracked(
    file: TrackedPath,
    disk: FileFacts['disk'],
    { onDisk, problem }: { onDisk: string | null; problem: string | null },
  ): void {
    const { path, fileId, sizeBytes } = file;
    this.report(path, { record: 'tracked', pushed: file.wasPushed, disk }, async () => ({
      ...this.entry(path, onDisk),
      file_id: fileId,
      size_bytes: sizeBytes,
      problem,
    }));
    this.advance();
  }

  private reportUntracked(path: string, onDisk: string, problem: () => string | null): void {
    this.report(path, { record: 'none', pushed: false, disk: { sha256: null } }, async () => ({
      ...this.entry(path, onDisk),
      file_id: null,
      size_bytes: await sizeOf(join(this.mirror.row.path, onDisk)),
      problem: problem(),
    }));
  }

  private report(
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
    if (path.includes(NO_TEXT)) return 'Its name is not valid Unicode text.';
    const parsed = parseFilePath(path);
    if ('problem' in parsed) return `Its path ${parsed.problem}.`;
    const twin = this.store.fileAt(this.mirror.row.nodeId, pathKey(path));
    return twin ? `The tracked file ${twin.path} has the same name except for case or Unicode form.` : null;
  }

  private advance(): void {
    this.next = this.tracked.next().value ?? null;
  }
}

function sectionOf(path: string): Section {
  const [first = ''] = path.split('/', 1);
  if (!isSection(first)) throw new Error(`The path ${JSON.stringify(path)} is not in a section`);
  return first;
}

/** Null for what is no file, or vanished meanwhile. */
async function sizeOf(path: string): Promise<number | null> {
  const found = await lstat(path).catch(() => null);
  return found?.isFile() ? found.size : null;
}
