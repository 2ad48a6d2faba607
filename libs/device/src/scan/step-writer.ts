import { type FileRecord, ServiceError } from '@workspace-graph/contracts';
import { isBetweenMoves, pathKey, type ScanStep } from '@workspace-graph/domain';
import type { DeviceParts } from '../device-parts.js';
import type { DeltaResult } from '../records/tracked-files.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import type { ScannedContent } from './content-reader.js';
import { Doubts, type SettledDoubts } from './doubts.js';
import type { Findings, PathTexts } from './findings.js';
import type { ScanThreads } from './scan-threads.js';
import { reportCalls } from './unreported-calls.js';

export type ScanStepOf = ScanStep<FileState, ScannedContent>;

/** `isDone`: false when the file service could not do it; what was decided is to be tried again then. */
export interface Written extends Findings {
  readonly isDone: boolean;
}

/** Doubts of the scan: those with which it began and which are settled, and those that are left to the next one. */
export interface DoubtsOfScan {
  readonly settled: ReadonlySet<string>;
  readonly open: ReadonlySet<string>;
}

const OPTIONS = { action: 'scan', asker: null, strict: false } as const;

/** The node or its folder is not what it was when the scan began. */
export class MirrorGone extends Error {}

/**
 * Carries out what a scan decided, a part at a time under the lock of the node, after a look whether disk and registry
 * are still as the scan saw them: file operations and people work meanwhile.
 */
export class StepWriter {
  readonly doubts: Doubts;
  private readonly nodeId: string;

  constructor(
    private readonly parts: DeviceParts,
    private readonly threads: ScanThreads,
    private readonly row: MirrorRow,
  ) {
    this.nodeId = row.nodeId;
    this.doubts = new Doubts(parts, this.nodeId);
  }

  /** @throws MirrorGone */
  write(steps: readonly ScanStepOf[], { settled, open }: DoubtsOfScan): Promise<Written> {
    return this.parts.locks.run([this.nodeId], async () => {
      this.mustBeRegistered();
      const valid = new Set(await this.stillValid(steps));
      const invalid = steps.filter((step) => !valid.has(step)).flatMap(pathsOf);
      const findings = { isDone: true, again: invalid.map((path) => [path, ''] as const) };
      if (valid.size === 0) return findings;
      const paths = new Set([...valid].flatMap(pathsOf));
      this.doubts.put([...paths]);
      try {
        const results = await this.parts.files.apply(this.nodeId, [...valid], OPTIONS);
        const { lost, failures, taken } = refusalsOf([...valid], results);
        const removals = lost.map(({ file }) => ({ kind: 'remove', file, tombstone: false }) as const);
        if (removals.length > 0) await this.parts.files.apply(this.nodeId, removals, OPTIONS);
        const doubted = [...taken.filter((path) => !settled.has(path)), ...differing([...valid], results)];
        this.doubts.put(doubted);
        this.doubts.drop(paths, new Set([...open, ...doubted]));
        const lostPaths = lost.map(({ path }) => [path, ''] as const);
        return { isDone: true, again: [...findings.again, ...lostPaths], failures, doubted };
      } catch (error) {
        return { ...findings, isDone: false, failures: this.failuresOf(paths, error) };
      }
    });
  }

  /** Doubts that were left before; see `Doubts.settle`. Without `looked` the file service could not tell. @throws MirrorGone */
  settleDoubts(): Promise<SettledDoubts | Findings> {
    return this.parts.locks.run([this.nodeId], async () => {
      this.mustBeRegistered();
      try {
        const settled = await this.doubts.settle();
        return { ...settled, failures: await reportCalls(this.parts, this.row) };
      } catch (error) {
        return { failures: this.failuresOf(this.doubts.paths(), error) };
      }
    });
  }

  private mustBeRegistered(): void {
    if (this.parts.store.mirror(this.nodeId)?.path !== this.row.path) throw new MirrorGone();
  }

  private async stillValid(steps: readonly ScanStepOf[]): Promise<ScanStepOf[]> {
    const looks = steps.map(diskPathOf);
    const stats = await this.threads.stat(this.row.path, looks);
    const isInRegistry = this.registryCheck(steps);
    return steps.filter((step, index) => this.isOnDisk(step, stats[index] ?? null) && isInRegistry(step));
  }

  private isOnDisk(step: ScanStepOf, stat: string | null): boolean {
    if (step.kind === 'move' && isBetweenMoves(step.path)) return true;
    return 'seen' in step ? stat === step.seen.stat : stat === null;
  }

  /** Whether the registry still tells what a step was decided by. */
  private registryCheck(steps: readonly ScanStepOf[]): (step: ScanStepOf) => boolean {
    const { store } = this.parts;
    const leaving = new Set(steps.flatMap((step) => (isLeaving(step) ? [step.file.fileId] : [])));
    const leftOut = store.untrackedKeys(this.nodeId);
    const newKeys = steps.flatMap((step) => (step.kind === 'register' ? [pathKey(step.path)] : []));
    const taken = store.filesAt(this.nodeId, newKeys);
    const now = store.files(steps.flatMap((step) => ('file' in step ? [step.file.fileId] : [])));
    return (step) => {
      if (step.kind === 'register') {
        const key = pathKey(step.path);
        const there = taken.get(key);
        return !leftOut.has(key) && (!there || leaving.has(there.fileId));
      }
      const { fileId, path, version } = step.file;
      const file = now.get(fileId);
      return file?.path === path && file.version === version && file.nodeId === this.nodeId;
    };
  }

  private failuresOf(paths: Iterable<string>, error: unknown): PathTexts {
    const isTold = error instanceof ServiceError;
    if (isTold && error.code === 'NODE_NOT_FOUND') throw new MirrorGone();
    if (!isTold) this.parts.logger.warn({ err: error, node: this.nodeId }, 'changes of files could not be recorded');
    const message = isTold ? error.message : 'It could not be registered; this will be retried.';
    return [...paths].map((path) => [path, message]);
  }
}

interface Refusals {
  /** Known files that have no record any more. */
  readonly lost: readonly { readonly path: string; readonly file: FileState }[];
  readonly failures: PathTexts;
  /** The registry took these paths for free: it may know less than the records. */
  readonly taken: readonly string[];
}

function refusalsOf(steps: readonly ScanStepOf[], results: readonly DeltaResult[]): Refusals {
  const refused = steps.flatMap((step, index) => {
    const result = results[index];
    if (!result || !('refused' in result)) return [];
    const file = 'file' in step ? step.file : null;
    const path = 'path' in step ? step.path : step.file.path;
    const isLost = result.refused === 'FILE_NOT_FOUND' && file !== null;
    return { path, lost: isLost ? [{ path, file }] : [], ...result };
  });
  return {
    lost: refused.flatMap(({ lost }) => lost),
    failures: refused.filter(({ lost }) => lost.length === 0).map(({ path, message }) => [path, message]),
    taken: refused.filter((each) => each.refused === 'DESTINATION_EXISTS').map(({ path }) => path),
  };
}

/** Paths of records that tell otherwise than what was seen, by the last of what was told of each. */
function differing(steps: readonly ScanStepOf[], results: readonly DeltaResult[]): string[] {
  const told = new Map<string, { path: string; record: FileRecord; sha256: string }>();
  for (const [index, step] of steps.entries()) {
    const result = results[index];
    if (!('seen' in step) || !result || 'refused' in result || !result.file) continue;
    const { onDisk, sha256 } = step.seen;
    told.set(result.file.id, { path: onDisk.normalize('NFC'), record: result.file, sha256 });
  }
  return [...told.values()].flatMap(({ path, record, sha256 }) =>
    record.path !== path || record.sha256 !== sha256 ? [path, record.path] : [],
  );
}

function isLeaving(step: ScanStepOf): step is ScanStepOf & { readonly file: FileState } {
  return step.kind === 'move' || step.kind === 'remove';
}

function pathsOf(step: ScanStepOf): string[] {
  switch (step.kind) {
    case 'register':
      return [step.path];
    case 'move':
      return isBetweenMoves(step.path) ? [step.file.path] : [step.file.path, step.path];
    default:
      return [step.file.path];
  }
}

function diskPathOf(step: ScanStepOf): string {
  return 'seen' in step ? step.seen.onDisk : step.file.path;
}
