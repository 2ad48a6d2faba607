import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import {
  isIgnoredName,
  isSection,
  MOST_PATHS,
  newWatch,
  planWatch,
  type WatchEvent,
  type WatchScope,
  type WatchState,
  type WatchWork,
  watchAfter,
  watchDueAt,
} from '@workspace-graph/domain';
import type { Logger } from '@workspace-graph/platform';
import { IGNORE_FILE } from '../ignore/ignore-rules.js';
import type { Mirrors } from '../mirrors/mirrors.js';
import type { Scanner } from '../scan/scanner.js';
import type { MirrorRow } from '../store/device-store.js';
import type { SystemWatch, WatchedFolder, WatchNews } from './system/system-watch.js';

export interface WatchParts {
  readonly scanner: Scanner;
  readonly mirrors: Mirrors;
  readonly system: SystemWatch;
  /** Has paths of a mirror looked at. */
  readonly lookAt: (nodeId: string, paths: readonly string[]) => void;
  readonly logger: Logger;
  readonly debounceMs: number;
}

const NOT_WATCHED =
  'The system does not report changes at the moment, so the folder is scanned every 30 seconds instead.';
const NO_MORE_WATCHES = `${NOT_WATCHED} Its limit of watched folders is reached; raise fs.inotify.max_user_watches.`;

/** What systems answer at that limit. */
const AT_LIMIT = /ENOSPC|EMFILE|ENFILE|no space left|max_user_watches|limit/i;

/** Watches the folder of one mirror and has what changed in it scanned once it holds still, as `planWatch` decides. */
export class MirrorWatch {
  private state: WatchState;
  private watched: WatchedFolder | null = null;
  private timer: NodeJS.Timeout | null = null;
  private work: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    private readonly row: MirrorRow,
    private readonly parts: WatchParts,
  ) {
    this.state = newWatch(parts.debounceMs, performance.now());
  }

  get isWatching(): boolean {
    return this.state.watched !== null && this.state.renewal !== 'reopen';
  }

  /** Watches first and scans then, so that nothing falls in between. */
  start(): void {
    this.wake();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.work;
    await this.close();
  }

  /** Has paths looked at of which somebody knows that they changed. */
  lookAt(paths: readonly string[]): void {
    if (!this.isStopped) this.note({ kind: 'asked', paths });
  }

  /** Finds out whether the folder was taken away, came back, or is another one. */
  async check(): Promise<void> {
    if (this.isStopped || this.work !== null) return;
    const isReady = (await this.parts.mirrors.stateOf(this.row)) === 'ready';
    if (this.isStopped || this.work !== null) return;
    this.note({ kind: 'checked', isReady, identity: this.registered?.identity ?? null });
    this.wake();
  }

  // What happens and what follows from it

  private note(event: WatchEvent): void {
    this.state = watchAfter(this.state, event, performance.now());
    this.schedule();
  }

  private schedule(): void {
    if (this.isStopped || this.work !== null) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.wake(), Math.max(0, watchDueAt(this.state) - performance.now()));
  }

  private wake(): void {
    if (this.isStopped || this.work !== null) return;
    const { state, work } = planWatch(this.state, performance.now());
    this.state = state;
    if (work.kind === 'wait') this.schedule();
    else this.run(work);
  }

  private run(work: Exclude<WatchWork, { kind: 'wait' }>): void {
    // Not before it is known as under way: what happens at its beginning schedules nothing.
    this.work = Promise.resolve()
      .then(() => this.carryOut(work))
      .catch((error: unknown) => {
        this.parts.logger.error({ err: error, node: this.row.nodeId }, 'a folder could not be watched');
        this.note({ kind: 'failed' });
      })
      .finally(() => {
        this.work = null;
        this.schedule();
      });
  }

  private async carryOut(work: Exclude<WatchWork, { kind: 'wait' }>): Promise<void> {
    // Files with other names are looked at by themselves: the system reports only the name under which they change.
    if (work.kind === 'linked') return this.lookAt(await this.parts.scanner.changedOf(this.row.nodeId, work.paths));
    if (work.kind === 'paths') return this.scan(work.paths);
    if (work.watch === 'reopen') await this.close();
    if (work.watch === 'refresh') await this.refresh();
    if (this.watched === null && !this.state.isAway) await this.open();
    await this.scan('all');
  }

  private async scan(scope: WatchScope): Promise<void> {
    const { nodeId } = this.row;
    const { unsure } = this.state;
    this.note({ kind: 'began', scope });
    const wasKnown = (this.registered?.scannedAt ?? null) !== null;
    // A folder that appeared may not be watched with all in it, or be watched under the path from which it came.
    if (unsure.size >= MOST_PATHS || (await this.haveFolders(unsure))) this.note({ kind: 'misled' });
    const settle = { windowMs: this.parts.debounceMs, before: this.state.stamps };
    const outcome = await this.parts.scanner.reconcile(nodeId, scope, settle);
    const isAway = outcome.state === 'missing' || outcome.state === 'unreadable';
    for (const [other, paths] of outcome.otherNames) this.parts.lookAt(other, paths);
    this.note({ kind: 'scanned', scope, outcome: { ...outcome, isAway }, wasKnown });
    const { trouble } = this.state;
    if (scope === 'all' && trouble !== null && !isAway) this.parts.scanner.failures.note(nodeId, '', trouble);
  }

  private async haveFolders(paths: Iterable<string>): Promise<boolean> {
    for (const path of paths) {
      const entries = await readdir(join(this.row.path, path), { withFileTypes: true }).catch(() => []);
      if (entries.some((entry) => entry.isDirectory())) return true;
    }
    return false;
  }

  private get registered(): MirrorRow | null {
    return this.parts.mirrors.of(this.row.nodeId);
  }

  // What the system reports

  private async open(): Promise<void> {
    const { path, nodeId } = this.row;
    try {
      const root = await realpath(path);
      const identity = this.registered?.identity ?? null;
      const nested = this.parts.mirrors.all().map((mirror) => mirror.path);
      const order = { root, others: nested.filter((other) => other.startsWith(`${root}/`)) };
      this.watched = await this.parts.system.open(order, (news) => this.take(news));
      if (this.state.trouble !== null) this.parts.logger.info({ node: nodeId }, 'the system watches a folder again');
      this.note({ kind: 'opened', identity });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.note({ kind: 'refused', trouble: AT_LIMIT.test(text) ? NO_MORE_WATCHES : NOT_WATCHED });
      this.parts.logger.warn({ err: error, node: nodeId }, 'the system does not watch a folder');
    }
  }

  private async close(): Promise<void> {
    const { watched } = this;
    this.watched = null;
    this.note({ kind: 'closed' });
    try {
      await watched?.close();
    } catch (error) {
      // The folder may be gone, and the watch with it.
      this.parts.logger.debug({ err: error, node: this.row.nodeId }, 'a folder was already no longer watched');
    }
  }

  private async refresh(): Promise<void> {
    try {
      await this.watched?.refresh();
    } catch (error) {
      this.parts.logger.debug({ err: error, node: this.row.nodeId }, 'a folder is watched again');
      await this.close();
    }
  }

  private take({ changed, unsure, error }: WatchNews): void {
    if (this.isStopped) return;
    if (error) this.parts.logger.warn({ err: error, node: this.row.nodeId }, 'changes were lost; scanning the folder');
    const due = changed.flatMap((path) => dirtyPathOf(path) ?? []);
    this.note({ kind: 'reported', changed: due, unsure, isBroken: error !== null });
  }
}

/** What to look at after an event: null for nothing, '' for all of the mirror. */
function dirtyPathOf(path: string): string | null {
  const names = path.split('/');
  const last = names.at(-1) ?? '';
  // Other rules make other files of the folder tracked.
  if (last === IGNORE_FILE && !names.slice(0, -1).some(isIgnoredName)) return names.slice(0, -1).join('/');
  return isSection(names[0] ?? '') && !names.some(isIgnoredName) ? path : null;
}
