import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileRecord, Section, StatusEntry } from '@workspace-graph/contracts';
import {
  classifyFile,
  type EntryMaker,
  type FileFacts,
  isSection,
  parseFilePath,
  pathKey,
  type StatusBuckets,
} from '@workspace-graph/domain';
import type { IgnoreRules } from '../ignore/ignore-rules.js';
import type { FolderState } from '../mirrors/mirrors.js';
import type { DeviceStore, MirrorRow, TrackedPath } from '../store/device-store.js';
import type { CentralFacts } from './central-facts.js';
import { comparePaths } from './path-order.js';
import { type SectionVisitor, walkSections } from './walk-sections.js';

/** One mirror whose files are told. */
export interface MirrorToReport {
  readonly row: MirrorRow;
  readonly state: FolderState;
  /** The folder as the caller is told it; null to who is told no paths on disk. */
  readonly folder: string | null;
  /** Whether files that are not tracked are looked for. */
  readonly discovers: boolean;
  /** What the centre tells of its files; null in a local workspace. */
  readonly facts: CentralFacts | null;
  /** Only files that are kept on this remote; null for all. */
  readonly remoteName: string | null;
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
/** Of what nobody tells anything else. */
const NEVER_ASKED = { native: false, pushed: false, remote: 'unasked' } as const;
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
  /** What was met here, so that it is not told of again as lying elsewhere. */
  private readonly toldIds = new Set<string>();
  private readonly toldPaths = new Set<string>();

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
    this.reportElsewhere();
  }

  reportLastKnown(problem: string): void {
    while (this.next) {
      if (this.next.isDeleted) this.reportAbsent(this.next, problem);
      else this.reportPresent(this.next, this.next.path, problem);
    }
    this.reportElsewhere();
  }

  /** What lies on remotes or other workstations, and not here. */
  private reportElsewhere(): void {
    const { facts } = this.mirror;
    if (!facts) return;
    for (const record of facts.records?.values() ?? []) {
      if (this.toldIds.has(record.id)) continue;
      const state = { ...facts.ofRecord(record), record: 'tracked', disk: 'never', synced: null } as const;
      this.add(state, record, async () => ({
        ...this.entry(record.path, null),
        file_id: record.id,
        size_bytes: record.size_bytes,
        problem: facts.problemOf(record.id),
      }));
    }
    for (const { path, size_bytes } of facts.survey?.untracked ?? []) {
      if (this.toldPaths.has(path)) continue;
      const remote = { sha256: null };
      const state = { ...NEVER_ASKED, record: 'none', disk: 'never', synced: null, remote } as const;
      this.add(state, { path, remote_name: null }, async () => ({
        ...this.entry(path, null),
        file_id: null,
        size_bytes,
        problem: null,
      }));
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
    this.reportTracked(file, { sha256: file.sha256 }, { onDisk, problem });
  }

  private reportAbsent(file: TrackedPath, problem: string | null): void {
    const isProven = file.isDeleted || this.mirror.row.scannedAt !== null;
    if (isProven) this.reportTracked(file, 'gone', { onDisk: null, problem });
    else this.reportTracked(file, { sha256: file.sha256 }, { onDisk: null, problem: problem ?? BEFORE_FIRST_SCAN });
  }

  private reportTracked(
    file: TrackedPath,
    disk: FileFacts['disk'],
    { onDisk, problem }: { onDisk: string | null; problem: string | null },
  ): void {
    const { path, fileId, sizeBytes } = file;
    const { facts } = this.mirror;
    const isGone = facts?.isGone(file) === true;
    if (facts) this.toldIds.add(fileId);
    if (isGone) this.toldPaths.add(path);
    const told = facts?.of(file) ?? { ...NEVER_ASKED, pushed: file.wasPushed };
    const there = typeof told.remote === 'object' ? told.remote.sha256 : null;
    const synced = this.store.sent.inCommon(file, there);
    const remote_name = facts?.records?.get(fileId)?.remote_name ?? null;
    this.add({ ...told, record: isGone ? 'tombstone' : 'tracked', disk, synced }, { path, remote_name }, async () => ({
      ...this.entry(path, onDisk),
      file_id: fileId,
      size_bytes: sizeBytes,
      problem: problem ?? facts?.problemOf(fileId) ?? null,
    }));
    this.advance();
  }

  private reportUntracked(path: string, onDisk: string, problem: () => string | null): void {
    if (this.mirror.facts) this.toldPaths.add(path);
    const state = { ...NEVER_ASKED, record: 'none', disk: { sha256: null }, synced: null } as const;
    this.add(state, { path, remote_name: null }, async () => ({
      ...this.entry(path, onDisk),
      file_id: null,
      size_bytes: await sizeOf(join(this.mirror.row.path, onDisk)),
      problem: problem(),
    }));
  }

  private add(
    facts: Omit<FileFacts, 'workspace'>,
    { path, remote_name }: Pick<FileRecord, 'path' | 'remote_name'>,
    entry: EntryMaker,
  ): void {
    const { remoteName } = this.mirror;
    const verdict = classifyFile({ ...facts, workspace: this.mirror.facts ? 'central' : 'local' });
    if (verdict !== null)
      this.buckets.add(verdict, path, remoteName === null || remoteName === remote_name ? entry : null);
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
