import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { SECTIONS } from '@workspace-graph/contracts';
import {
  type Collision,
  isSection,
  isWithinAny,
  outermost,
  parseFilePath,
  pathKey,
  pickNames,
  planScan,
  separateInterdependent,
} from '@workspace-graph/domain';
import type { DeviceParts } from '../device-parts.js';
import type { FileState } from '../store/device-store.js';
import { readContents, type Scanned } from './content-reader.js';
import type { WalkEnd, WalkedFile, WalkOrder, WalkPart } from './disk-walk.js';
import type { Findings } from './findings.js';
import type { PassOptions, PassResult } from './pass-result.js';
import type { ScanThreads } from './scan-threads.js';
import { type ScanStepOf, StepWriter } from './step-writer.js';

interface Survey {
  readonly found: WalkedFile[];
  readonly linked: string[];
  readonly entries: number;
  readonly missing: FileState[];
  readonly absences: Absences;
}

interface Absences {
  /** What may come back: nothing in it counts as deleted. */
  readonly held: ReadonlySet<string>;
  readonly recheckAt: number | null;
}

interface Selection {
  readonly candidates: readonly WalkedFile[];
  /** Inodes of files that do not hold still yet. */
  readonly restless: ReadonlySet<string | null>;
  /** Of what was found, the known files that are on disk under their own paths, by key. */
  readonly present: ReadonlyMap<string, FileState>;
}

const ATTEMPTS = 3;
const ABSENT_SECTION = 'The folder is missing. Its files count as deleted unless it is back within ten seconds.';
/** Stands for the stamp of a file that was absent. */
const ABSENT = 'absent';
const STEPS_AT_ONCE = 1_000;
const LOOKUPS_AT_ONCE = 1_000;
const PRINTABLE_ASCII = /^[ -~]+$/;

/** One look at a mirror, or at some paths of it, and what follows from it. */
export class ScanPass {
  private readonly again = new Map<string, string>();
  private readonly racy = new Map<string, string>();
  private readonly failures = new Map<string, string>();
  private readonly doubted = new Set<string>();
  private settled: ReadonlySet<string> = new Set();
  private readonly writer: StepWriter;
  private readonly nodeId: string;
  /** What is looked at, as it stands on disk; null for all. What was in doubt is looked at every time. */
  private scopes: readonly string[] | null = null;
  private scope: ReadonlySet<string> = new Set();

  constructor(
    private readonly parts: DeviceParts,
    private readonly threads: ScanThreads,
    private readonly options: PassOptions,
  ) {
    this.nodeId = options.row.nodeId;
    this.writer = new StepWriter(parts, threads, options.row);
  }

  /** @throws Error when a thread was ended or the root vanished */
  async run(): Promise<PassResult> {
    const doubts = await this.writer.settleDoubts();
    this.note(doubts);
    if (!('looked' in doubts)) return this.nothing();
    this.settled = doubts.looked;
    const { scope } = this.options;
    this.scopes = scope && outermost([...scope, ...doubts.looked]);
    this.scope = new Set(this.scopes?.map((path) => path.normalize('NFC')));
    const { found, missing, linked, entries, absences } = await this.survey();
    const { candidates, restless, present } = await this.select(found, missing);
    this.noteWork(candidates.length, missing.length);
    const { interdependent, plain } = separateInterdependent(candidates, missing, present);
    const steps = await this.planInterdependent(interdependent, missing, restless);
    const certain = steps.filter((step) => this.isCertain(step, absences));
    const isComplete = (await this.writeAll(certain)) && (await this.registerPlain(plain));
    if (isComplete) this.writer.doubts.drop(doubts.looked, this.doubted);
    for (const path of this.doubted) this.again.set(path, '');
    return {
      again: new Map([...this.racy, ...this.again]),
      unread: new Set(this.again.keys()),
      failures: this.failures,
      isIncomplete: !isComplete,
      looked: this.scopes && this.scope,
      recheckAt: absences.recheckAt,
      entries,
      linked,
      otherNames: this.otherNames(found, linked),
    };
  }

  private note({ again = [], racy = [], failures = [], doubted = [] }: Findings): void {
    for (const [path, stamp] of again) this.again.set(path, stamp);
    for (const [path, stamp] of racy) this.racy.set(path, stamp);
    for (const [path, message] of failures) this.failures.set(path, message);
    for (const path of doubted) this.doubted.add(path);
  }

  private noteWork(toRead: number, missing: number): void {
    const { progress, onNews } = this.options;
    progress.toRead = toRead;
    if (toRead + missing > 0) onNews();
  }

  private nothing(): PassResult {
    const nothing = { again: new Map(), unread: new Set<string>(), looked: new Set<string>(), otherNames: new Map() };
    return { ...nothing, failures: this.failures, isIncomplete: true, recheckAt: null, entries: 0, linked: [] };
  }

  // What is on disk

  private async survey(): Promise<Survey> {
    const orders = this.walkOrders();
    for (let attempt = 1; ; attempt += 1) {
      const { found, ends } = await this.walk(orders);
      if (attempt < ATTEMPTS && ends.some(({ isRestless }) => isRestless)) continue;
      const problems = ends.flatMap((end) => end.problems);
      this.note({ failures: problems.map(({ path, message }) => [path, message]) });
      const missing = ends.flatMap((end) => end.missing).flatMap((path) => this.knownFile(path) ?? []);
      const linked = ends.flatMap((end) => end.linked);
      const entries = ends.reduce((sum, end) => sum + end.entries, 0);
      const absences = this.absencesIn(ends);
      return { found, linked, entries, absences, missing: [...missing, ...(await this.missingElsewhere(found))] };
    }
  }

  /** Links and sections that are away may be somebody's work of a moment. */
  private absencesIn(ends: readonly WalkEnd[]): Absences {
    const { absences } = this.options;
    const absent = new Set(ends.flatMap(({ absentSections }) => absentSections));
    for (const section of SECTIONS)
      if (!absent.has(section) && this.isInScope(section)) absences.isBack(this.nodeId, section);
    const dues = [...absent].map((section) => ({ section, dueAt: absences.dueAt(this.nodeId, section) }));
    const waiting = dues.filter(({ dueAt }) => dueAt > performance.now());
    this.note({ failures: waiting.map(({ section }) => [section, ABSENT_SECTION]) });
    return {
      held: new Set([...ends.flatMap(({ links }) => links), ...waiting.map(({ section }) => section)]),
      recheckAt: waiting.length === 0 ? null : Math.min(...waiting.map(({ dueAt }) => dueAt)),
    };
  }

  private async walk(orders: readonly WalkOrder[]): Promise<{ found: WalkedFile[]; ends: WalkEnd[] }> {
    const found: WalkedFile[] = [];
    const seen = orders.map(() => 0);
    const take =
      (index: number) =>
      (part: WalkPart): void => {
        for (const file of part.found) found.push(file);
        seen[index] = part.seen;
        this.options.progress.seen = seen.reduce((a, b) => a + b);
      };
    const walks = orders.map((order, index) =>
      index === 0 ? this.threads.walk(order, take(index)) : this.threads.walkBeside(order, take(index)),
    );
    const ends = await Promise.allSettled(walks);
    return { found, ends: ends.map((end) => resultOf(end)) };
  }

  /** Of a large mirror each half is an order of its own. */
  private walkOrders(): WalkOrder[] {
    const pages = this.packedKnown();
    const { path: root } = this.options.row;
    const scope = this.scopes ?? SECTIONS;
    const half = Math.floor(pages.length / 2);
    const middle = pages[half]?.split('\t', 1)[0] ?? '';
    // Other characters have another order in the database than here.
    const isSplit = this.scopes === null && half > 0 && PRINTABLE_ASCII.test(middle);
    if (!isSplit) return [{ root, scope, known: pages.join('\n') }];
    return [
      { root, scope, known: pages.slice(0, half).join('\n'), range: { from: null, to: middle } },
      { root, scope, known: pages.slice(half).join('\n'), range: { from: middle, to: null } },
    ];
  }

  private packedKnown(): string[] {
    const { scans } = this.parts.store;
    const scopes = this.scopes?.map((scope) => scope.normalize('NFC')) ?? [undefined];
    return scopes.flatMap((scope) => [...scans.knownLines(this.nodeId, scope)].map(({ text }) => text));
  }

  /** Known files outside the scope whose name or inode was found inside of it: they may have moved here. */
  private async missingElsewhere(found: readonly WalkedFile[]): Promise<FileState[]> {
    if (!this.scopes) return [];
    const { store } = this.parts;
    const suspects = new Map<string, FileState>();
    for (const { path, inode } of found) {
      const same = inode === null ? [] : store.filesByInode(this.nodeId, inode);
      const twin = store.fileAt(this.nodeId, pathKey(path));
      for (const file of twin ? [...same, twin] : same)
        if (!file.isDeleted && !this.isInScope(file.path)) suspects.set(file.path, file);
    }
    const paths = [...suspects.keys()];
    const stats = paths.length === 0 ? [] : await this.threads.stat(this.options.row.path, paths);
    return [...suspects.values()].filter((_, index) => stats[index] === null);
  }

  /** An edit under one name is one under the others, of which the system does not tell. */
  private otherNames(found: readonly WalkedFile[], linked: readonly string[]): Map<string, string[]> {
    const { store } = this.parts;
    const names = new Map<string, string[]>();
    const areLinked = new Set(linked);
    const inodes = new Set(found.flatMap(({ onDisk, inode }) => (areLinked.has(onDisk) ? (inode ?? []) : [])));
    if (inodes.size === 0 || inodes.size > LOOKUPS_AT_ONCE) return names;
    const [device] = this.options.row.identity.split(':');
    for (const { nodeId, identity } of store.mirrors()) {
      if (identity.split(':')[0] !== device) continue;
      const files = [...inodes].flatMap((inode) => store.filesByInode(nodeId, inode));
      const paths = files.filter((file) => !file.isDeleted && !(nodeId === this.nodeId && this.isInScope(file.path)));
      if (paths.length > 0)
        names.set(
          nodeId,
          paths.map(({ path }) => path),
        );
    }
    return names;
  }

  private knownFile(path: string): FileState | null {
    const file = this.parts.store.fileNamed(this.nodeId, path);
    return file?.isDeleted === false ? file : null;
  }

  private isInScope(path: string): boolean {
    return this.scopes === null || isWithinAny(path, this.scope);
  }

  // What of it is to be read

  private async select(found: readonly WalkedFile[], missing: readonly FileState[]): Promise<Selection> {
    const { store } = this.parts;
    const absent = new Set(missing.map(({ path }) => path));
    const leftOut = store.untrackedKeys(this.nodeId);
    const named: WalkedFile[] = [];
    const present = new Map<string, FileState>();
    for (let start = 0; start < found.length; start += LOOKUPS_AT_ONCE) {
      await yieldToEventLoop();
      const part = found.slice(start, start + LOOKUPS_AT_ONCE).filter((file) => this.hasValidName(file));
      const keys = part.map(({ path }) => pathKey(path));
      const known = store.filesAt(this.nodeId, keys);
      // What is tracked counts, whatever was left out under its name before.
      named.push(...part.filter((_, at) => isTracked(known.get(keys[at] ?? '')) || !leftOut.has(keys[at] ?? '')));
      for (const file of known.values()) if (isTracked(file) && !absent.has(file.path)) present.set(file.pathKey, file);
    }
    const { picked, collisions } = pickNames(named, (key) => present.get(key) ?? null);
    this.note({ failures: collisions.map((collision) => [collision.path, collisionMessage(collision)]) });
    const candidates = picked.filter((file) => this.isSettled(file));
    const settled = new Set(candidates);
    const restless = new Set(picked.flatMap((file) => (settled.has(file) ? [] : [file.inode])));
    return { candidates, restless, present };
  }

  private hasValidName({ path }: WalkedFile): boolean {
    const parsed = parseFilePath(path);
    if (!('problem' in parsed)) return true;
    if (isSection(path.split('/')[0] ?? '')) this.note({ failures: [[path, `Its path ${parsed.problem}.`]] });
    return false;
  }

  private isSettled({ path, stamp, mtimeMs }: WalkedFile): boolean {
    const { settle } = this.options;
    const ageMs = Date.now() - mtimeMs;
    // A time in the future tells nothing about when the file was changed.
    if (!settle || ageMs >= settle.windowMs || settle.before.get(path) === stamp) return true;
    this.note({ again: [[path, stamp]] });
    return false;
  }

  // What follows from it

  private async planInterdependent(
    interdependent: readonly WalkedFile[],
    missing: readonly FileState[],
    restless: ReadonlySet<string | null>,
  ): Promise<ScanStepOf[]> {
    const read: Scanned[] = [];
    for await (const part of this.readAll(interdependent)) read.push(...part);
    const unread = this.inodesOfAgain(interdependent, read);
    const found = new Set(read.map(({ seen }) => seen.inode));
    const isWaiting = (file: FileState): boolean =>
      file.inode !== null && (unread.has(file.inode) || restless.has(file.inode) || this.mayBeElsewhere(file, found));
    this.note({ again: missing.filter(isWaiting).map(({ path }) => [path, ABSENT]) });
    const gone = missing.filter((file) => !isWaiting(file));
    return this.plan(read, gone);
  }

  /** Of a file that was moved, the system may report the new name after the old one. */
  private mayBeElsewhere({ path, inode }: FileState, found: ReadonlySet<string | null>): boolean {
    const { settle } = this.options;
    return settle !== null && this.scopes !== null && !found.has(inode) && settle.before.get(path) !== ABSENT;
  }

  /** Before a folder was scanned once, nobody knows whether all of it is there. */
  private isCertain(step: ScanStepOf, { held }: Absences): boolean {
    if (step.kind !== 'remove' && step.kind !== 'gone') return true;
    const { path } = step.file;
    if (isWithinAny(path, held)) return false;
    return this.options.row.scannedAt !== null || this.settled.has(path);
  }

  /** A file that is not read yet may be the one that is missing elsewhere. */
  private inodesOfAgain(
    interdependent: readonly WalkedFile[],
    read: readonly { readonly path: string }[],
  ): ReadonlySet<string | null> {
    const done = new Set(read.map(({ path }) => path));
    return new Set(interdependent.filter(({ path }) => !done.has(path)).map(({ inode }) => inode));
  }

  private async registerPlain(plain: readonly WalkedFile[]): Promise<boolean> {
    let waiting: Scanned[] = [];
    for await (const part of this.readAll(plain)) {
      waiting.push(...part);
      if (waiting.length < STEPS_AT_ONCE) continue;
      if (!(await this.write(this.plan(waiting, [])))) return false;
      waiting = [];
    }
    return waiting.length === 0 || this.write(this.plan(waiting, []));
  }

  private async *readAll(files: readonly WalkedFile[]): AsyncGenerator<readonly Scanned[]> {
    for await (const part of readContents(this.threads, this.options.row.path, files)) {
      this.options.progress.toRead -= part.looked;
      this.note(part);
      yield part.read;
    }
  }

  private async writeAll(steps: readonly ScanStepOf[]): Promise<boolean> {
    for (let start = 0; start < steps.length; start += STEPS_AT_ONCE)
      if (!(await this.write(steps.slice(start, start + STEPS_AT_ONCE)))) return false;
    return true;
  }

  private async write(steps: readonly ScanStepOf[]): Promise<boolean> {
    const written = await this.writer.write(steps, { settled: this.settled, open: this.doubted });
    this.note(written);
    return written.isDone;
  }

  private plan(read: readonly Scanned[], missing: readonly FileState[]): ScanStepOf[] {
    const { store } = this.parts;
    const keys = new Set(read.map(({ path }) => pathKey(path)));
    const known = store.filesAt(this.nodeId, [...keys]);
    const knownAt = (key: string): FileState | null =>
      keys.has(key) ? (known.get(key) ?? null) : store.fileAt(this.nodeId, key);
    return planScan({ read, missing, knownAt });
  }
}

function resultOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

function isTracked(file: FileState | undefined): boolean {
  return file !== undefined && !file.isDeleted;
}

function collisionMessage({ taken }: Collision): string {
  return `Its name differs from ${taken} only by case or Unicode form, which not every disk distinguishes; rename one of them.`;
}
