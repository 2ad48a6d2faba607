import { Inject, Injectable } from '@nestjs/common';
import { type FileRecord, ServiceError } from '@workspace-graph/contracts';
import type { SeenContent } from '@workspace-graph/disk';
import {
  fileNotFound,
  locate,
  type MirrorPath,
  moveFile,
  removeEmptyFolders,
  seenOrRead,
  seenUnderNewName,
} from '@workspace-graph/disk';
import { newId } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { FileDelta } from '../records/file-delta.js';
import { type Asker } from '../records/file-service.js';
import type { FileState } from '../store/device-store.js';
import { AsideFiles, type AsidePlace, type NotedAsides } from '../trash/aside-files.js';
import { Intents } from './intents.js';

/** A file that is to lie somewhere else. */
export interface PlannedMove {
  readonly file: FileState;
  /** Folder of the mirror in which it lies. */
  readonly fromRoot: string;
  readonly toRoot: string;
  readonly toNodeId: string;
  readonly path: string;
  readonly expectedVersion?: number | undefined;
  /** Whether its whole folder is on the way. */
  readonly leavesFolder?: boolean;
}

export type MoveOutcome =
  | { readonly kind: 'moved'; readonly record: FileRecord; readonly alreadyAtTarget: boolean }
  /** Nothing changed. */
  | { readonly kind: 'refused'; readonly error: unknown }
  /** Neither done nor taken back: the intent stays and is tried again. */
  | { readonly kind: 'stuck'; readonly error: unknown };

export interface MoveBy {
  readonly asker: Asker;
  readonly action: string;
}

interface OnDisk {
  readonly move: PlannedMove;
  readonly from: MirrorPath;
  readonly to: MirrorPath;
  readonly seen: SeenContent;
  readonly alreadyAtTarget: boolean;
}

/**
 * Moves files: what is intended is noted, then the disk changes, then the records. What fails on the way is taken back;
 * what cannot be taken back is repaired from the note. Call it while the nodes are locked.
 */
@Injectable()
export class FileMover {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly asides: AsideFiles,
    private readonly intents: Intents,
  ) {}

  /** All files lie in one node and go to one node. @throws ServiceError when the intent cannot be noted: nothing changed */
  async move(moves: readonly PlannedMove[], by: MoveBy): Promise<MoveOutcome[]> {
    const intents = moves.map(({ file, toNodeId, path }) => ({
      id: newId(),
      file_id: file.fileId,
      kind: 'move' as const,
      to_node_id: toNodeId,
      to_path: path,
    }));
    return this.asides.noted(moves.flatMap(placesOf), async (noted) => {
      await this.intents.note(intents, by.asker);
      const outcomes = await this.carryOut(moves, noted, by);
      await this.settle(intents.map(({ id }, index) => ({ id, outcome: outcomes[index] })));
      return outcomes;
    });
  }

  /** Makes the records of moved files true. @throws ServiceError of the file service */
  async record(moved: readonly Pick<OnDisk, 'move' | 'seen'>[], by: MoveBy): Promise<(FileRecord | null)[]> {
    const [first] = moved;
    if (!first) return [];
    const deltas = moved.map(({ move, seen }) => deltasOf(move, seen));
    const options = { ...by, strict: true };
    const results = await this.parts.files.apply(first.move.file.nodeId, deltas.flat(), options);
    let next = 0;
    return deltas.map(({ length }) => {
      next += length;
      const result = results[next - 1];
      return result && 'file' in result ? result.file : null;
    });
  }

  private async carryOut(moves: readonly PlannedMove[], noted: NotedAsides, by: MoveBy): Promise<MoveOutcome[]> {
    const steps = await inTurn(moves, (move) => this.tryOnDisk(move, noted));
    const entered = await this.enter(
      steps.filter((step) => 'move' in step),
      noted,
      by,
    );
    return steps.map((step): MoveOutcome => {
      if ('move' in step) return entered.get(step) ?? { kind: 'refused', error: fileNotFound({}) };
      return { kind: 'refused', error: step.error };
    });
  }

  private async tryOnDisk(move: PlannedMove, noted: NotedAsides): Promise<OnDisk | { readonly error: unknown }> {
    try {
      return await this.onDisk(move, noted);
    } catch (error) {
      return { error };
    }
  }

  private async onDisk(move: PlannedMove, noted: NotedAsides): Promise<OnDisk> {
    const from = await locate(move.fromRoot, move.file.path);
    const to = await locate(move.toRoot, move.path);
    if (!from.exists && to.exists) {
      const seen = await seenOrRead(to, null);
      if (seen.sha256 === move.file.sha256) return { move, from, to, seen, alreadyAtTarget: true };
    }
    const before = await seenOrRead(from, move.file);
    try {
      // Who builds on a version builds on its content.
      const expected = move.expectedVersion === undefined ? null : before;
      const { leavesFolder } = move;
      await this.asides.run((asides) => moveFile(from, to, { asides, leavesFolder, expected }), noted);
    } catch (error) {
      await removeEmptyFolders(to, to.found);
      throw error;
    }
    const there = await locate(move.toRoot, move.path);
    return { move, from, to: there, seen: await seenUnderNewName(there, before), alreadyAtTarget: false };
  }

  private async enter(done: readonly OnDisk[], noted: NotedAsides, by: MoveBy): Promise<Map<OnDisk, MoveOutcome>> {
    const outcomes = new Map<OnDisk, MoveOutcome>();
    try {
      const records = await this.record(done, by);
      for (const [index, step] of done.entries()) {
        const record = records[index];
        if (!record) throw fileNotFound({ file_id: step.move.file.fileId });
        outcomes.set(step, { kind: 'moved', record, alreadyAtTarget: step.alreadyAtTarget });
      }
    } catch (error) {
      for (const step of done.toReversed()) outcomes.set(step, await this.takeBack(step, noted, error));
      return outcomes;
    }
    for (const step of done) await removeEmptyFolders(step.from);
    return outcomes;
  }

  private async takeBack(
    { move, to, alreadyAtTarget }: OnDisk,
    noted: NotedAsides,
    error: unknown,
  ): Promise<MoveOutcome> {
    if (alreadyAtTarget) return { kind: 'refused', error };
    try {
      const from = await locate(move.fromRoot, move.file.path);
      await this.asides.run((asides) => moveFile(to, from, { asides }), noted);
      await removeEmptyFolders(to);
      return { kind: 'refused', error };
    } catch (reason) {
      this.parts.logger.warn({ err: reason, file: move.file.fileId }, 'a move could not be rolled back');
      return { kind: 'stuck', error };
    }
  }

  /** What is done or taken back is noted no more. */
  private settle(
    intents: readonly { readonly id: string; readonly outcome: MoveOutcome | undefined }[],
  ): Promise<void> {
    return this.intents.settle(
      intents.map(({ id, outcome }) => ({ id, error: outcome?.kind === 'stuck' ? messageOf(outcome.error) : null })),
    );
  }
}

/** What an answer tells of moves, of which some may be neither done nor taken back. */
export function toldOf(outcomes: readonly (MoveOutcome | undefined)[]) {
  const stuck = outcomes.find((outcome) => outcome?.kind === 'stuck');
  if (!stuck) return { applied: true, repair_needed: false, hint: null };
  const hint = `${messageOf(stuck.error)} The change is recorded, and will be finished or rolled back within a minute or at the next start.`;
  return { applied: false, repair_needed: true, hint };
}

/** What may be told of an error: messages of refusals only. */
export function messageOf(error: unknown): string {
  return error instanceof ServiceError ? error.message : 'An unexpected error occurred on this device.';
}

/** Where a file may be taken from its name: by a move, by one more to another volume, and by taking it back. */
function placesOf({ file, toNodeId, path }: PlannedMove): AsidePlace[] {
  return [file, file, { nodeId: toNodeId, path, sha256: file.sha256 }];
}

function deltasOf({ file, toNodeId, path, expectedVersion }: PlannedMove, seen: SeenContent): FileDelta[] {
  const elsewhere = toNodeId === file.nodeId ? {} : { toNodeId };
  const expected = expectedVersion === undefined ? {} : { expectedVersion };
  if (seen.sha256 === file.sha256) return [{ kind: 'move', file, path, seen, ...elsewhere, ...expected }];
  // The file was edited before the move and nobody has taken that in yet.
  return [
    { kind: 'update', file, seen, ...expected },
    { kind: 'move', file, path, seen, ...elsewhere },
  ];
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
