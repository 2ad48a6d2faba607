import { readdir, realpath } from 'node:fs/promises';
import { type AsyncSubscription, type Event, subscribe } from '@parcel/watcher';
import { isSection } from '@workspace-graph/domain';
import type { Logger } from '@workspace-graph/platform';
import { IGNORE_FILE, isIgnoredName } from '../ignore/ignore-rules.js';
import type { Mirrors } from '../mirrors/mirrors.js';
import type { Scanner, ScanOutcome } from '../scan/scanner.js';
import type { MirrorRow } from '../store/device-store.js';

export interface WatchParts {
  readonly scanner: Scanner;
  readonly mirrors: Mirrors;
  readonly logger: Logger;
  readonly debounceMs: number;
  readonly times?: Partial<WatchTimes>;
}

export interface WatchTimes {
  /** Between scans of a whole mirror that look for what was never told; more where they take long. */
  readonly verifyMs: number;
  readonly verifyMaxMs: number;
  /** From an event to such a scan: of what is made and removed at once, the system tells nothing. */
  readonly doubleCheckMs: number;
  /** The same while the system does not tell anything. */
  readonly pollMs: number;
  /** Of quiet after a burst of events, of which the system may have lost some. */
  readonly quietMs: number;
  readonly retryMs: number;
  readonly retryMaxMs: number;
}

const TIMES: WatchTimes = {
  verifyMs: 60_000,
  verifyMaxMs: 600_000,
  doubleCheckMs: 5_000,
  pollMs: 30_000,
  quietMs: 1_000,
  retryMs: 1_000,
  retryMaxMs: 30_000,
};
/** More changed paths than this are not kept apart: the whole mirror is scanned. */
const MOST_PATHS = 5_000;
const BURST_EVENTS = 1_000;
/** Scans that look for what was never told take at most this part of the time. */
const SCAN_SHARE = 0.01;
/** A mirror that never falls quiet is scanned after this many windows all the same. */
const MOST_WINDOWS = 10;
const NOT_WATCHED =
  'Changes are not told by the system at the moment, so the folder is looked through every 30 seconds instead.';
const NO_MORE_WATCHES = `${NOT_WATCHED} Its limit of watched folders is reached; raise fs.inotify.max_user_watches.`;

/** Watches the folder of one mirror and has what changed in it scanned once it holds still. */
export class MirrorWatch {
  private readonly times: WatchTimes;
  private subscription: AsyncSubscription | null = null;
  /** What the system refuses to watch, as it is told to people. */
  private trouble: string | null = null;
  /** When each changed path is due, in the form it has on disk. */
  private dirty = new Map<string, number>();
  /** When all of the mirror is due; the later one, and the one that is not put off. */
  private allAt: number;
  private allAtLatest = Number.POSITIVE_INFINITY;
  /** Stamps of files that were still being written. */
  private stamps = new Map<string, string>();
  private surveyMs = 0;
  private lastEventAt = 0;
  private eventsSinceAll = 0;
  /** What appeared since the last look. */
  private readonly appeared = new Set<string>();
  private isMisled = false;
  private retries = 0;
  private timer: NodeJS.Timeout | null = null;
  private work: Promise<void> | null = null;
  private isStopped = false;
  private isAway = false;
  private watchedIdentity: string | null = null;

  constructor(
    private readonly row: MirrorRow,
    private readonly parts: WatchParts,
  ) {
    this.times = { ...TIMES, ...parts.times };
    this.allAt = Date.now();
  }

  get isWatching(): boolean {
    return this.subscription !== null;
  }

  /** Watches first and scans then, so that nothing falls in between. */
  start(): void {
    this.run(() => this.scanAll());
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.work;
    await this.close();
  }

  /** Finds out whether the folder was taken away, came back, or is another one. */
  async check(): Promise<void> {
    if (this.isStopped || this.work !== null) return;
    const isReady = (await this.parts.mirrors.stateOf(this.row)) === 'ready';
    const identity = this.parts.mirrors.of(this.row.nodeId)?.identity ?? null;
    if (this.isStopped || this.work !== null) return;
    const isOther = isReady && this.subscription !== null && identity !== this.watchedIdentity;
    if (isReady === !this.isAway && !isOther) return;
    this.run(async () => {
      await this.close();
      this.isAway = !isReady;
      await this.scanAll();
    });
  }

  private run(work: () => Promise<void>): void {
    this.work = work()
      .catch((error: unknown) => {
        this.parts.logger.error({ err: error, node: this.row.nodeId }, 'a folder could not be watched');
        this.retryAll();
      })
      .finally(() => {
        this.work = null;
        this.schedule();
      });
  }

  // What the system tells

  private async open(): Promise<void> {
    const { path, nodeId } = this.row;
    try {
      const root = await realpath(path);
      this.watchedIdentity = this.parts.mirrors.of(nodeId)?.identity ?? null;
      const nested = this.parts.mirrors.all().map((mirror) => mirror.path);
      const ignore = ['**/.git', '**/.git/**', ...nested.filter((other) => other.startsWith(`${root}/`))];
      this.subscription = await subscribe(root, (error, events) => this.told(root, error, events), { ignore });
      this.trouble = null;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.trouble = /no space left|ENOSPC|max_user_watches|limit/i.test(text) ? NO_MORE_WATCHES : NOT_WATCHED;
      this.parts.logger.warn({ err: error, node: nodeId }, 'the system does not watch a folder');
    }
  }

  private async close(): Promise<void> {
    const { subscription } = this;
    this.subscription = null;
    try {
      await subscription?.unsubscribe();
    } catch (error) {
      // The folder may be gone, and the watch with it.
      this.parts.logger.debug({ err: error, node: this.row.nodeId }, 'a folder was watched no more already');
    }
  }

  private told(root: string, error: Error | null, events: readonly Event[]): void {
    if (this.isStopped) return;
    if (error) {
      this.parts.logger.warn({ err: error, node: this.row.nodeId }, 'changes were lost; the folder is scanned');
      this.allAt = Math.min(this.allAt, Date.now() + this.parts.debounceMs);
    }
    for (const { path, type } of events ?? []) {
      this.mark(path.slice(root.length + 1));
      if (type === 'create' && this.appeared.size < MOST_PATHS) this.appeared.add(path);
    }
    this.schedule();
  }

  private mark(path: string): void {
    const due = dirtyPathOf(path);
    if (due === null) return;
    const now = Date.now();
    this.eventsSinceAll += 1;
    if (due === '' || this.dirty.size >= MOST_PATHS) this.putOffAll(now + this.parts.debounceMs, now);
    else this.dirty.set(due, now + this.parts.debounceMs);
    this.lastEventAt = now;
    this.allAt = Math.min(this.allAt, now + this.doubleCheckInMs());
    if (this.isMisled || this.eventsSinceAll >= BURST_EVENTS) this.putOffAll(now + this.times.quietMs, now);
  }

  private putOffAll(at: number, now: number): void {
    const isNew = this.allAtLatest === Number.POSITIVE_INFINITY;
    if (isNew) this.allAtLatest = now + Math.max(MOST_WINDOWS * this.parts.debounceMs, MOST_WINDOWS * 500);
    this.allAt = Math.min(at, this.allAtLatest);
  }

  // What follows from it

  private schedule(): void {
    if (this.isStopped || this.work !== null) return;
    if (this.timer) clearTimeout(this.timer);
    let at = this.allAt;
    for (const due of this.dirty.values()) at = Math.min(at, due);
    this.timer = setTimeout(() => this.wake(), Math.max(0, at - Date.now()));
  }

  private wake(): void {
    if (this.isStopped || this.work !== null) return;
    if (this.allAt <= Date.now()) return this.run(() => this.scanAll());
    const paths = this.duePaths();
    if (paths.length > 0) this.run(() => this.scanPaths(paths));
    else this.schedule();
  }

  /** Waits one more window for what is about to be due: the other half of a move may be among it. */
  private duePaths(): string[] {
    const now = Date.now();
    const due = [...this.dirty].filter(([, at]) => at <= now);
    const oldest = Math.min(...due.map(([, at]) => at));
    if (due.length === this.dirty.size || now - oldest >= this.parts.debounceMs) return due.map(([path]) => path);
    const rest = Math.min(...[...this.dirty.values()].filter((at) => at > now), oldest + this.parts.debounceMs);
    for (const [path] of due) this.dirty.set(path, rest);
    return [];
  }

  private async scanPaths(paths: readonly string[]): Promise<void> {
    for (const path of paths) this.dirty.delete(path);
    const outcome = await this.scan(paths);
    if (!outcome.isIncomplete) {
      this.retries = 0;
      return;
    }
    const retryAt = this.retryAt();
    for (const path of paths) this.dirty.set(path, retryAt);
  }

  private async scanAll(): Promise<void> {
    if (this.isMisled) await this.close();
    this.isMisled = false;
    if (this.subscription === null && !this.isAway) await this.open();
    this.dirty.clear();
    this.eventsSinceAll = 0;
    this.allAtLatest = Number.POSITIVE_INFINITY;
    this.allAt = Number.POSITIVE_INFINITY;
    const startedAt = Date.now();
    const wasScanned = (this.parts.mirrors.of(this.row.nodeId)?.scannedAt ?? null) !== null;
    const outcome = await this.scan('all');
    this.surveyMs = outcome.surveyMs;
    this.isAway = outcome.state === 'missing' || outcome.state === 'unreadable';
    if (this.trouble !== null && !this.isAway) this.parts.scanner.failures.note(this.row.nodeId, '', this.trouble);
    if (outcome.isIncomplete) return this.retryAll();
    this.retries = 0;
    // The first scan takes nothing for deleted, and what happens during a scan may escape it.
    const isSure = wasScanned && startedAt - this.lastEventAt >= this.times.doubleCheckMs;
    const nextMs = isSure ? this.verifyInMs() : this.doubleCheckInMs();
    this.allAt = Math.min(this.allAt, Date.now() + (this.trouble === null ? nextMs : this.times.pollMs));
  }

  private doubleCheckInMs(): number {
    return Math.max(this.times.doubleCheckMs, this.surveyMs / SCAN_SHARE);
  }

  private verifyInMs(): number {
    return Math.min(Math.max(this.times.verifyMs, this.surveyMs / SCAN_SHARE), this.times.verifyMaxMs);
  }

  /**
   * Folders inside of one that appeared may not be watched, or be watched under the path from which they came: then all
   * is watched anew once it is quiet.
   */
  private async doubtWatches(): Promise<void> {
    const appeared = [...this.appeared];
    this.appeared.clear();
    if (appeared.length < MOST_PATHS && !(await someAsync(appeared, hasFolders))) return;
    this.isMisled = true;
    this.putOffAll(Date.now() + this.times.quietMs, Date.now());
  }

  private async scan(scope: readonly string[] | 'all'): Promise<ScanOutcome> {
    const settle = { windowMs: this.parts.debounceMs, before: this.stamps };
    await this.doubtWatches();
    const outcome = await this.parts.scanner.reconcile(this.row.nodeId, scope, settle);
    if (outcome.recheckAt !== null) this.allAt = Math.min(this.allAt, outcome.recheckAt);
    this.stamps = new Map([...this.stamps].filter(([path]) => this.dirty.has(path)));
    for (const [path, stamp] of outcome.again) {
      this.stamps.set(path, stamp);
      if (this.dirty.size >= MOST_PATHS) this.putOffAll(Date.now() + this.parts.debounceMs, Date.now());
      else this.dirty.set(path, Date.now() + this.parts.debounceMs);
    }
    return outcome;
  }

  private retryAll(): void {
    this.allAt = Math.min(this.allAt, this.retryAt());
  }

  private retryAt(): number {
    this.retries += 1;
    return Date.now() + Math.min(this.times.retryMs * 2 ** (this.retries - 1), this.times.retryMaxMs);
  }
}

async function someAsync(paths: readonly string[], check: (path: string) => Promise<boolean>): Promise<boolean> {
  for (const path of paths) if (await check(path)) return true;
  return false;
}

async function hasFolders(path: string): Promise<boolean> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.some((entry) => entry.isDirectory());
}

/** What to look at after an event: null for nothing, '' for all of the mirror. */
function dirtyPathOf(path: string): string | null {
  const names = path.split('/');
  const last = names.at(-1) ?? '';
  // Other rules make other files of the folder tracked.
  if (last === IGNORE_FILE && !names.slice(0, -1).some(isIgnoredName)) return names.slice(0, -1).join('/');
  return isSection(names[0] ?? '') && !names.some(isIgnoredName) ? path : null;
}
