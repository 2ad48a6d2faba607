import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isSection } from '@workspace-graph/domain';
import type { Logger } from '@workspace-graph/platform';
import { IGNORE_FILE, isIgnoredName } from '../ignore/ignore-rules.js';
import type { Mirrors } from '../mirrors/mirrors.js';
import type { Scanner, ScanOutcome } from '../scan/scanner.js';
import type { MirrorRow } from '../store/device-store.js';
import { type LookTimes, lookAfterMs, verifyAfterMs } from './looks.js';
import type { SystemWatch, WatchedFolder, WatchNews } from './system/system-watch.js';

export interface WatchParts {
  readonly scanner: Scanner;
  readonly mirrors: Mirrors;
  readonly system: SystemWatch;
  /** Has paths of a mirror looked at. */
  readonly lookAt: (nodeId: string, paths: readonly string[]) => void;
  readonly logger: Logger;
  readonly debounceMs: number;
  readonly times?: Partial<WatchTimes>;
}

export interface WatchTimes extends LookTimes {
  /** Between looks while the system does not tell anything. */
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
  activeMs: 600_000,
  pollMs: 30_000,
  quietMs: 1_000,
  retryMs: 1_000,
  retryMaxMs: 30_000,
};
/** More changed paths than this are not kept apart: the whole mirror is scanned. */
const MOST_PATHS = 5_000;
const BURST_EVENTS = 1_000;
/** A mirror that never falls quiet is scanned after this many windows all the same. */
const MOST_WINDOWS = 10;
const NOT_WATCHED =
  'Changes are not told by the system at the moment, so the folder is looked through every 30 seconds instead.';
const NO_MORE_WATCHES = `${NOT_WATCHED} Its limit of watched folders is reached; raise fs.inotify.max_user_watches.`;

/** What systems answer at that limit. */
const AT_LIMIT = /ENOSPC|EMFILE|ENFILE|no space left|max_user_watches|limit/i;

/** Watches the folder of one mirror and has what changed in it scanned once it holds still. */
export class MirrorWatch {
  private readonly times: WatchTimes;
  private watched: WatchedFolder | null = null;
  /** What the system refuses to watch, as it is told to people. */
  private trouble: string | null = null;
  /** When each changed path is due, in the form it has on disk. */
  private dirty = new Map<string, number>();
  /** When all of the mirror is due; the later one, and the one that is not put off. */
  private allAt: number;
  private allAtLatest = Number.POSITIVE_INFINITY;
  /** Stamps of files that were still being written. */
  private stamps = new Map<string, string>();
  /** Names that a look at all reads. */
  private entries = 0;
  /** Files that may be changed under other names, of which the system tells nothing, and when they are looked at. */
  private linked = new Set<string>();
  private linkedAt = Number.POSITIVE_INFINITY;
  /** When the first of the paths that are due now became due. */
  private heldSince: number | null = null;
  private lastEventAt = 0;
  private eventsSinceAll = 0;
  /** What may not be watched with all that is in it. */
  private readonly unsure = new Set<string>();
  private isMisled = false;
  /** More may happen than what is open tells. */
  private isBroken = false;
  private retries = 0;
  private timer: NodeJS.Timeout | null = null;
  private work: Promise<void> | null = null;
  private isStopped = false;
  private readonly startedAt = Date.now();
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
    return this.watched !== null && !this.isBroken;
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

  /** Has paths looked at of which somebody knows that they changed. */
  lookAt(paths: readonly string[]): void {
    if (this.isStopped) return;
    for (const path of paths) this.dirty.set(path, Date.now() + this.parts.debounceMs);
    this.schedule();
  }

  /** Finds out whether the folder was taken away, came back, or is another one. */
  async check(): Promise<void> {
    if (this.isStopped || this.work !== null) return;
    const isReady = (await this.parts.mirrors.stateOf(this.row)) === 'ready';
    const identity = this.parts.mirrors.of(this.row.nodeId)?.identity ?? null;
    if (this.isStopped || this.work !== null) return;
    const isOther = isReady && this.watched !== null && identity !== this.watchedIdentity;
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
      const order = { root, others: nested.filter((other) => other.startsWith(`${root}/`)) };
      this.watched = await this.parts.system.open(order, (news) => this.take(root, news));
      if (this.trouble !== null) this.parts.logger.info({ node: nodeId }, 'the system watches a folder again');
      this.trouble = null;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.trouble = AT_LIMIT.test(text) ? NO_MORE_WATCHES : NOT_WATCHED;
      this.parts.logger.warn({ err: error, node: nodeId }, 'the system does not watch a folder');
    }
  }

  private async close(): Promise<void> {
    const { watched } = this;
    this.watched = null;
    this.isBroken = false;
    try {
      await watched?.close();
    } catch (error) {
      // The folder may be gone, and the watch with it.
      this.parts.logger.debug({ err: error, node: this.row.nodeId }, 'a folder was watched no more already');
    }
  }

  /** Watches what is not watched, and anew what may be watched wrongly. */
  private async renewWatch(): Promise<void> {
    const isDoubtful = this.isMisled || this.eventsSinceAll >= BURST_EVENTS;
    this.isMisled = false;
    if (this.isBroken) await this.close();
    else if (isDoubtful) await this.refresh();
    if (this.watched === null && !this.isAway) await this.open();
  }

  private async refresh(): Promise<void> {
    try {
      await this.watched?.refresh();
    } catch (error) {
      this.parts.logger.debug({ err: error, node: this.row.nodeId }, 'a folder is watched anew');
      await this.close();
    }
  }

  private take(root: string, { changed, unsure, error }: WatchNews): void {
    if (this.isStopped) return;
    if (error) {
      this.parts.logger.warn({ err: error, node: this.row.nodeId }, 'changes were lost; the folder is scanned');
      this.isBroken = true;
      this.allAt = Math.min(this.allAt, Date.now() + this.parts.debounceMs);
    }
    for (const path of changed) this.mark(path);
    for (const path of unsure) if (this.unsure.size < MOST_PATHS) this.unsure.add(join(root, path));
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
    this.allAt = Math.min(this.allAt, now + lookAfterMs(this.entries, this.times));
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
    let at = Math.min(this.allAt, this.linkedAt);
    for (const due of this.dirty.values()) at = Math.min(at, due);
    this.timer = setTimeout(() => this.wake(), Math.max(0, at - Date.now()));
  }

  private wake(): void {
    if (this.isStopped || this.work !== null) return;
    if (this.allAt <= Date.now()) return this.run(() => this.scanAll());
    const paths = this.duePaths();
    if (paths.length > 0) this.run(() => this.scanPaths(paths));
    else if (this.linkedAt <= Date.now()) this.run(() => this.lookAtLinked());
    else this.schedule();
  }

  /** Waits one more window for what is about to be due: the other half of a move may be among it. */
  private duePaths(): string[] {
    const now = Date.now();
    const due = [...this.dirty].filter(([, at]) => at <= now);
    if (due.length === 0) return [];
    this.heldSince ??= now;
    const heldUntil = this.heldSince + this.parts.debounceMs;
    if (due.length === this.dirty.size || heldUntil <= now) {
      this.heldSince = null;
      return due.map(([path]) => path);
    }
    const rest = Math.min(...[...this.dirty.values()].filter((at) => at > now), heldUntil);
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
    await this.renewWatch();
    this.dirty.clear();
    this.eventsSinceAll = 0;
    this.allAtLatest = Number.POSITIVE_INFINITY;
    this.allAt = Number.POSITIVE_INFINITY;
    const scanAt = Date.now();
    const wasScanned = (this.parts.mirrors.of(this.row.nodeId)?.scannedAt ?? null) !== null;
    const outcome = await this.scan('all');
    this.entries = outcome.entries;
    this.isAway = outcome.state === 'missing' || outcome.state === 'unreadable';
    if (this.trouble !== null && !this.isAway) this.parts.scanner.failures.note(this.row.nodeId, '', this.trouble);
    if (outcome.isIncomplete) return this.retryAll();
    this.retries = 0;
    // The first scan takes nothing for deleted, and what happens during a scan may escape it.
    const isSure = wasScanned && scanAt - this.lastEventAt >= this.times.doubleCheckMs;
    const quietMs = Date.now() - Math.max(this.lastEventAt, this.startedAt);
    const nextMs = isSure ? verifyAfterMs(this.entries, quietMs, this.times) : lookAfterMs(this.entries, this.times);
    this.allAt = Math.min(this.allAt, Date.now() + (this.trouble === null ? nextMs : this.times.pollMs));
  }

  /** Files with other names are looked at by themselves: the system tells only of the name under which they change. */
  private async lookAtLinked(): Promise<void> {
    this.linkedAt = Date.now() + lookAfterMs(this.linked.size, this.times);
    this.lookAt(await this.parts.scanner.changedOf(this.row.nodeId, [...this.linked]));
  }

  private takeLinked(linked: readonly string[], isAll: boolean): void {
    if (isAll) this.linked = new Set(linked);
    else for (const path of linked) this.linked.add(path);
    if (this.linked.size === 0) this.linkedAt = Number.POSITIVE_INFINITY;
    else this.linkedAt = Math.min(this.linkedAt, Date.now() + lookAfterMs(this.linked.size, this.times));
  }

  /**
   * Folders inside of one that appeared may not be watched, or be watched under the path from which they came: then all
   * is watched anew once it is quiet.
   */
  private async doubtWatches(): Promise<void> {
    const unsure = [...this.unsure];
    this.unsure.clear();
    if (unsure.length < MOST_PATHS && !(await someAsync(unsure, hasFolders))) return;
    this.isMisled = true;
    this.putOffAll(Date.now() + this.times.quietMs, Date.now());
  }

  private async scan(scope: readonly string[] | 'all'): Promise<ScanOutcome> {
    const settle = { windowMs: this.parts.debounceMs, before: this.stamps };
    await this.doubtWatches();
    const outcome = await this.parts.scanner.reconcile(this.row.nodeId, scope, settle);
    this.takeLinked(outcome.linked, scope === 'all');
    for (const [nodeId, paths] of outcome.otherNames) this.parts.lookAt(nodeId, paths);
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
