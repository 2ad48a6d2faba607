import { lstat } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, validationFailed } from '@workspace-graph/contracts';
import { isAbsent, locate, occupantOf, occupied } from '@workspace-graph/disk';
import type { Prefixes } from '@workspace-graph/domain';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import { FileMover, type MoveBy, type MoveOutcome, type PlannedMove } from './file-mover.js';
import { trackedAt } from './file-states.js';

/** One file of a folder that is renamed. */
export interface RenameStep {
  readonly move: PlannedMove;
  /** Why it stays where it is; null when it can move. */
  readonly problem: string | null;
}

/** Renames a folder, file by file. */
@Injectable()
export class FolderRename {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly mover: FileMover,
  ) {}

  /** Moves planned files. Call it while the node is locked. */
  move(steps: readonly RenameStep[], by: MoveBy): Promise<MoveOutcome[]> {
    const moves = steps.map(({ move }) => move);
    return moves.length === 0 ? Promise.resolve([]) : this.mover.move(moves, by);
  }

  /** Files under a folder. */
  count(nodeId: string, prefix: string): number {
    return this.under(nodeId, prefix).length;
  }

  /** Without those that left it and are not told to the centre yet. */
  private under(nodeId: string, prefix: string): FileState[] {
    const waiting = this.parts.store.records.waiting(nodeId);
    const isUnder = ({ fileId, path }: FileState): boolean =>
      (waiting.get(fileId)?.path ?? path).startsWith(`${prefix}/`);
    return [...this.parts.store.filesOf(nodeId, prefix)].filter(isUnder);
  }

  /**
   * The first `limit` files that can move, and before them at most as many of those that cannot.
   * @throws ServiceError FILE_NOT_FOUND when neither folder holds files; DESTINATION_EXISTS when the new one is a file
   */
  async plan(row: MirrorRow, prefixes: Prefixes, limit: number): Promise<{ steps: RenameStep[]; total: number }> {
    const files = this.under(row.nodeId, prefixes.from);
    if (files.length === 0 && this.count(row.nodeId, prefixes.to) === 0)
      throw new ServiceError('FILE_NOT_FOUND', `old_prefix: there is no tracked file under ${prefixes.from}.`, {
        path: prefixes.from,
      });
    await this.mustBePossible(row, prefixes);
    const steps: RenameStep[] = [];
    let movable = 0;
    for (const file of files) {
      if (movable === limit) break;
      const path = `${prefixes.to}${file.path.slice(prefixes.from.length)}`;
      const move = { file, path, fromRoot: row.path, toRoot: row.path, toNodeId: row.nodeId, leavesFolder: true };
      const problem = await this.problemOf(move);
      if (problem === null) movable += 1;
      if (problem === null || steps.length - movable < limit) steps.push({ move, problem });
    }
    return { steps, total: files.length };
  }

  private async problemOf({ file, path, toRoot, toNodeId }: PlannedMove): Promise<string | null> {
    if (file.isDeleted) return 'It was deleted on this device: restore it, or delete it everywhere.';
    const known = trackedAt(this.parts.store, toNodeId, path);
    if (known && known.fileId !== file.fileId) return occupied(known.path).message;
    try {
      const target = await locate(toRoot, path);
      const occupant = await occupantOf(target);
      const isFree = occupant === null || (target.exists && !(await locate(toRoot, file.path)).exists);
      return isFree ? null : occupied(occupant).message;
    } catch (error) {
      if (error instanceof ServiceError) return error.message;
      throw error;
    }
  }

  private async mustBePossible(row: MirrorRow, { from, to }: Prefixes): Promise<void> {
    const [old, renamed] = [await locate(row.path, from), await locate(row.path, to)];
    const [oldFolder, newFolder] = [await folderAt(old.absolute), await folderAt(renamed.absolute)];
    if (newFolder && !newFolder.isDirectory()) throw occupied(to);
    if (oldFolder && newFolder?.ino === oldFolder.ino && newFolder.dev === oldFolder.dev)
      throw validationFailed([
        {
          path: 'new_prefix',
          message: 'differs from old_prefix only by case or Unicode form, which this disk does not distinguish',
        },
      ]);
  }
}

async function folderAt(path: string) {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
