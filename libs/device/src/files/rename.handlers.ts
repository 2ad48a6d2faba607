import { Controller, Inject } from '@nestjs/common';
import { LIMITS, type ParsedInputOf, type ReplyOf, renameFolder } from '@workspace-graph/contracts';
import { renamedPrefixes } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { type MoveOutcome, messageOf, toldOf } from './file-mover.js';
import { FolderRename, type RenameStep } from './folder-rename.js';
import { NodeFolders, sameFolder } from './node-folders.js';

/** Renaming folders. */
@Controller()
export class RenameHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly folders: NodeFolders,
    private readonly renames: FolderRename,
  ) {}

  @Handles(renameFolder)
  async rename(
    input: ParsedInputOf<typeof renameFolder>,
    { envelope, operation }: OperationContext,
  ): Promise<ReplyOf<typeof renameFolder>> {
    const { node_id, dry_run, limit } = input;
    const row = await this.folders.writable(node_id, envelope);
    const prefixes = renamedPrefixes(input);
    if (dry_run) {
      const { steps, total } = await this.renames.plan(row, prefixes, LIMITS.renameFolderMax);
      return { applied: false, renamed: steps.map(stepAnswer), remaining: total, repair_needed: false, hint: null };
    }
    return this.parts.locks.run([node_id], async () => {
      sameFolder(this.parts, row);
      const { steps } = await this.renames.plan(row, prefixes, limit);
      const movable = steps.filter(({ problem }) => problem === null);
      const outcomes = await this.renames.move(movable, { asker: envelope, action: operation.name });
      throwIfNoneMoved(outcomes);
      const told = new Map(movable.map((step, index) => [step, outcomes[index]]));
      return {
        ...toldOf(outcomes),
        renamed: steps.map((step) => ({ ...stepAnswer(step), ...outcomeAnswer(told.get(step)) })),
        remaining: this.renames.count(node_id, prefixes.from),
      };
    });
  }
}

/** What kept all files from moving is told as the error of the call. */
function throwIfNoneMoved([first, ...others]: readonly MoveOutcome[]): void {
  if (first?.kind !== 'refused') return;
  if (others.every((other) => other.kind === 'refused' && other.error === first.error)) throw first.error;
}

function stepAnswer({ move, problem }: RenameStep) {
  return { file_id: move.file.fileId, from: move.file.path, to: move.path, already_at_target: false, problem };
}

function outcomeAnswer(outcome: MoveOutcome | undefined) {
  if (!outcome) return {};
  if (outcome.kind === 'moved') return { already_at_target: outcome.alreadyAtTarget };
  return { problem: messageOf(outcome.error) };
}
