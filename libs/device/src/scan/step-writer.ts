import { type FileRecord, ServiceError } from '@workspace-graph/contracts';
import { isBetweenMoves, pathKey, type ScanStep } from '@workspace-graph/domain';
import type { DeviceParts } from '../device-parts.js';
import type { DeltaResult } from '../records/tracked-files.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import type { ScannedContent } from './content-reader.js';
import { Doubts } from './doubts.js';
import type { ScanThreads } from './scan-threads.js';

export type ScanStepOf = ScanStep<FileState, ScannedContent>;

export interface WriterOptions {
  readonly row: MirrorRow;
  readonly again: Map<string, string>;
  readonly failures: Map<string, string>;
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
    private readonly options: WriterOptions,
  ) {
    this.nodeId = options.row.nodeId;
    this.doubts = new Doubts(parts, this.nodeId);
  }

  /** False when the file service could not do it; what was decided is to be tried again then. @throws MirrorGone */
  write(steps: readonly ScanStepOf[]): Promise<boolean> {
    return this.parts.locks.run([this.nodeId], async () => {
      this.mustBeRegistered();
      const valid = await this.stillValid(steps);
      if (valid.length === 0) return true;
      const paths = [...new Set(valid.flatMap(pathsOf))];
      this.doubts.put(paths);
      try {
        const results = await this.parts.files.apply(this.nodeId, valid, OPTIONS);
        await this.take(valid, results);
        this.leaveDiffering(valid, results);
        this.doubts.drop(paths);
      } catch (error) {
        this.fail(paths, error);
        return false;
      }
      return true;
    });
  }

  /** Doubts that were left before; see `Doubts.settle`. Null when the file service could not tell. @throws MirrorGone */
  settleDoubts(): Promise<ReadonlySet<string> | null> {
    return this.parts.locks.run([this.nodeId], async () => {
      this.mustBeRegistered();
      try {
        return await this.doubts.settle();
      } catch (error) {
        this.fail([...this.doubts.paths()], error);
        return null;
      }
    });
  }

  private mustBeRegistered(): void {
    const { row } = this.options;
    if (this.parts.store.mirror(this.nodeId)?.path !== row.path) throw new MirrorGone();
  }

  private async stillValid(steps: readonly ScanStepOf[]): Promise<ScanStepOf[]> {
    const looks = steps.map(diskPathOf);
    const stats = await this.threads.stat(this.options.row.path, looks);
    const isInRegistry = this.registryCheck(steps);
    return steps.filter((step, index) => {
      const isValid = this.isOnDisk(step, stats[index] ?? null) && isInRegistry(step);
      if (!isValid) for (const path of pathsOf(step)) this.options.again.set(path, '');
      return isValid;
    });
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

  /** Compares the records with what was seen, the last of what was told of each. */
  private leaveDiffering(steps: readonly ScanStepOf[], results: readonly DeltaResult[]): void {
    const told = new Map<string, { path: string; record: FileRecord; sha256: string }>();
    for (const [index, step] of steps.entries()) {
      const result = results[index];
      if (!('seen' in step) || !result || 'refused' in result || !result.file) continue;
      const { onDisk, sha256 } = step.seen;
      told.set(result.file.id, { path: onDisk.normalize('NFC'), record: result.file, sha256 });
    }
    for (const { path, record, sha256 } of told.values())
      if (record.path !== path || record.sha256 !== sha256) this.doubts.leave([path, record.path]);
  }

  private async take(steps: readonly ScanStepOf[], results: readonly DeltaResult[]): Promise<void> {
    const lost: FileState[] = [];
    for (const [index, result] of results.entries()) {
      const step = steps[index];
      if (!step || !('refused' in result)) continue;
      const path = 'path' in step ? step.path : step.file.path;
      if (result.refused === 'FILE_NOT_FOUND' && 'file' in step) {
        lost.push(step.file);
        this.options.again.set(path, '');
      } else this.options.failures.set(path, result.message);
      // The registry takes the path for free: it may know less than the records.
      if (result.refused === 'DESTINATION_EXISTS' && !this.doubts.wasSettled(path)) this.doubts.leave([path]);
    }
    const removals = lost.map((file) => ({ kind: 'remove', file, tombstone: false }) as const);
    if (removals.length > 0) await this.parts.files.apply(this.nodeId, removals, OPTIONS);
  }

  private fail(paths: readonly string[], error: unknown): void {
    const isTold = error instanceof ServiceError;
    const message = isTold ? error.message : 'It could not be registered; it will be tried again.';
    if (!isTold) this.parts.logger.warn({ err: error, node: this.nodeId }, 'changes of files could not be written');
    for (const path of paths) this.options.failures.set(path, message);
    if (isTold && error.code === 'NODE_NOT_FOUND') throw new MirrorGone();
  }
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
