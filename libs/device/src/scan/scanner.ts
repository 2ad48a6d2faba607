import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import type { ScanProgress } from '@workspace-graph/contracts';
import { isWithinAny, outermost, pathKey } from '@workspace-graph/domain';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { type FolderState, Mirrors, type WholeScan } from '../mirrors/mirrors.js';
import type { MirrorRow } from '../store/device-store.js';
import { ABSENCE_MS, AbsentSections } from './absent-sections.js';
import { packStat } from './disk-read.js';
import { FailureBuffer } from './failure-buffer.js';
import type { PassResult, Settle } from './pass-result.js';
import { ScanPass } from './scan-pass.js';
import { ScanThreads } from './scan-threads.js';
import { MirrorGone } from './step-writer.js';

/** `gone`: the node has no mirror here any more. */
export interface ScanOutcome
  extends Pick<PassResult, 'again' | 'isIncomplete' | 'recheckAt' | 'entries' | 'linked' | 'otherNames'> {
  readonly state: FolderState | 'gone';
}

const UNSCANNED: Record<Exclude<FolderState, 'ready'>, string> = {
  missing:
    'The folder is missing, replaced or emptied. Nothing in it counts as deleted. Create the folder of the node again to accept its current state.',
  unreadable: 'The folder cannot be read. Nothing in it counts as deleted.',
};
const NOTHING: Omit<ScanOutcome, 'state'> = {
  again: new Map(),
  isIncomplete: false,
  recheckAt: null,
  entries: 0,
  linked: [],
  otherNames: new Map(),
};

/** Brings records and registry to what is on disk. Scans of one node follow each other. */
@Injectable()
export class Scanner implements BeforeApplicationShutdown {
  readonly failures: FailureBuffer;
  private readonly threads = new ScanThreads();
  private readonly absences: AbsentSections;
  private readonly running = new Map<string, Promise<unknown>>();
  /** Nodes whose folders were compared whole since this process began. */
  private readonly compared = new Set<string>();
  private isEnded = false;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly mirrors: Mirrors,
  ) {
    this.failures = new FailureBuffer(parts.settings.failuresPerNode);
    this.absences = new AbsentSections(parts.settings.absenceMs ?? ABSENCE_MS);
    mirrors.onRemoved(({ nodeId }) => {
      this.failures.forget(nodeId);
      this.compared.delete(nodeId);
      this.absences.forget(nodeId);
    });
  }

  /**
   * Looks at some paths of a mirror with what lies under them, or at all of it, and registers what it finds. What cannot
   * be taken in goes to `failures`. With `settle`, files that are still being written are left for later.
   */
  reconcile(nodeId: string, scope: readonly string[] | 'all', settle: Settle | null = null): Promise<ScanOutcome> {
    const before = this.running.get(nodeId) ?? Promise.resolve();
    const work = before.then(() => this.pass(nodeId, scope === 'all' ? null : outermost(scope), settle));
    const done = work.catch(() => undefined);
    this.running.set(nodeId, done);
    void done.then(() => {
      if (this.running.get(nodeId) === done) this.running.delete(nodeId);
    });
    return work;
  }

  /** Those of these tracked files, as they stand on disk, that are not as they were read. */
  async changedOf(nodeId: string, onDisk: readonly string[]): Promise<string[]> {
    const row = this.mirrors.of(nodeId);
    if (!row || this.isEnded) return [];
    const stats = await this.threads.stat(row.path, onDisk);
    const known = this.parts.store.filesAt(nodeId, onDisk.map(pathKey));
    return onDisk.filter((path, index) => {
      const file = known.get(pathKey(path));
      return file !== undefined && !file.isDeleted && stats[index] !== packStat(file.stamp ?? '', file.inode);
    });
  }

  progressOf(nodeId: string): ScanProgress {
    const now = this.mirrors.scanOf(nodeId);
    return {
      running: now !== null,
      seen: now?.seen ?? 0,
      to_read: now?.toRead ?? 0,
      started_at: now?.startedAt ?? null,
      finished_at: this.mirrors.of(nodeId)?.scannedAt ?? null,
    };
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isEnded = true;
    await this.threads.end();
    await Promise.all(this.running.values());
  }

  private async pass(nodeId: string, scope: string[] | null, settle: Settle | null): Promise<ScanOutcome> {
    const registered = this.mirrors.of(nodeId);
    if (!registered || this.isEnded) return { state: 'gone', ...NOTHING };
    const state = await this.mirrors.stateOf(registered);
    const row = this.mirrors.of(nodeId);
    if (!row || row.path !== registered.path) return { state: 'gone', ...NOTHING };
    if (state !== 'ready') {
      this.failures.note(nodeId, '', UNSCANNED[state]);
      this.compared.delete(nodeId);
      return { state, ...NOTHING };
    }
    try {
      return { state, ...(await this.scan(row, scope, settle)) };
    } catch (error) {
      return this.interrupted(row, error);
    }
  }

  private async scan(row: MirrorRow, scope: string[] | null, settle: Settle | null): Promise<PassResult> {
    const { nodeId } = row;
    const isCheck = this.compared.has(nodeId);
    const progress: WholeScan = { seen: 0, toRead: 0, startedAt: new Date().toISOString(), isCheck };
    const { absences } = this;
    const onNews = (): void => this.mirrors.outgrowCheck(nodeId);
    const scan = async (): Promise<PassResult> => {
      const result = await new ScanPass(this.parts, this.threads, {
        row,
        scope,
        settle,
        progress,
        onNews,
        absences,
      }).run();
      this.noteFailures(nodeId, result);
      // A folder that is still being filled is not known yet.
      const isKnown = row.scannedAt !== null || result.unread.size === 0;
      if (scope === null && !result.isIncomplete && isKnown) this.noteScanned(row);
      return result;
    };
    if (scope !== null) return scan();
    const result = await this.mirrors.whileScanning(nodeId, progress, scan);
    if (!result.isIncomplete) this.compared.add(nodeId);
    return result;
  }

  /** Failures of what was looked at are replaced; a file that is looked at again soon keeps its failure until then. */
  private noteFailures(nodeId: string, { failures, unread, looked }: PassResult): void {
    const isKept = (path: string): boolean =>
      failures.has(path) || unread.has(path) || (looked !== null && !isWithinAny(path, looked));
    this.failures.retain(nodeId, isKept);
    for (const [path, message] of failures) this.failures.note(nodeId, path, message);
  }

  private noteScanned(row: MirrorRow): void {
    const now = this.mirrors.of(row.nodeId);
    if (now?.path !== row.path || now.identity !== row.identity) return;
    this.parts.store.putMirror({ ...now, scannedAt: new Date().toISOString() });
  }

  private async interrupted(row: MirrorRow, error: unknown): Promise<ScanOutcome> {
    const { nodeId } = row;
    if (this.isEnded) return { state: 'gone', ...NOTHING };
    if (error instanceof MirrorGone) {
      this.mirrors.doubt(nodeId);
      return { state: 'gone', ...NOTHING };
    }
    const state = await this.mirrors.stateOf(row);
    if (state === 'ready') {
      this.parts.logger.error({ err: error, node: nodeId }, 'a scan failed');
      this.failures.note(nodeId, '', 'The folder could not be scanned; the scan will be retried.');
    } else this.failures.note(nodeId, '', UNSCANNED[state]);
    return { state, ...NOTHING, isIncomplete: state === 'ready' };
  }
}
