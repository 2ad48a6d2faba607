import { dirname, join } from 'node:path';
import { Controller, Inject } from '@nestjs/common';
import {
  type FileRecord,
  moveFile,
  type ParsedInputOf,
  type PlacedFile,
  type ReplyOf,
  ServiceError,
} from '@workspace-graph/contracts';
import { locate, type MirrorPath, occupantOf, occupied, seenOrRead } from '@workspace-graph/disk';
import { pathOfMovedFile } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { MirrorRow } from '../store/device-store.js';
import { FileMover, type PlannedMove, toldOf } from './file-mover.js';
import { stateOf, trackedAt } from './file-states.js';
import { NodeFolders, sameFolder } from './node-folders.js';

/** Moving and renaming files. */
@Controller()
export class MoveHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly folders: NodeFolders,
    private readonly mover: FileMover,
  ) {}

  @Handles(moveFile)
  async move(
    input: ParsedInputOf<typeof moveFile>,
    { envelope, operation }: OperationContext,
  ): Promise<ReplyOf<typeof moveFile>> {
    const asked = { nodeId: input.node_id, version: input.expected_version };
    const { file } = await this.folders.file(input.file_id, envelope, asked);
    const to = { node_id: input.new_node_id ?? file.node_id, path: pathOfMovedFile(file.path, input) };
    const toRow = await this.folders.writable(to.node_id, envelope);
    const fromRow = await this.folders.ready(file.node_id);
    const answer = { from: { node_id: file.node_id, path: file.path }, to, repair_needed: false, hint: null };
    if (to.node_id === file.node_id && to.path === file.path) {
      const there = input.confirmed ? await this.folders.answerById(file.id, envelope) : null;
      return { ...answer, applied: input.confirmed, already_at_target: true, file: there };
    }
    await this.mustBeFree(toRow, to.path, file);
    if (!input.confirmed) return { ...answer, applied: false, already_at_target: false, file: null };
    const outcome = await this.parts.locks.run([file.node_id, to.node_id], async () => {
      sameFolder(this.parts, fromRow);
      sameFolder(this.parts, toRow);
      const { file: now } = await this.folders.file(input.file_id, envelope, asked);
      const plan = this.planOf(now, { fromRow, toRow, path: to.path, version: input.expected_version });
      if (input.expected_version !== undefined) await mustBeUnchanged(plan, now);
      const [result] = await this.mover.move([plan], { asker: envelope, action: operation.name });
      return result;
    });
    if (outcome?.kind === 'refused') throw outcome.error;
    const moved = await this.folders.answerById(file.id, envelope);
    const alreadyThere = outcome?.kind === 'moved' && outcome.alreadyAtTarget;
    return { ...answer, ...toldOf([outcome]), already_at_target: alreadyThere, file: moved };
  }

  private planOf(file: FileRecord, { fromRow, toRow, path, version }: MoveTarget): PlannedMove {
    const state = stateOf(this.parts.store, file);
    const places = { fromRoot: fromRow.path, toRoot: toRow.path, toNodeId: toRow.nodeId };
    return { file: state, path, expectedVersion: version, ...places };
  }

  /** Nothing may lie at the target, under a name that differs only by case or form either. */
  private async mustBeFree(row: MirrorRow, path: string, file: PlacedFile['file']): Promise<void> {
    const known = trackedAt(this.parts.store, row.nodeId, path);
    if (known && known.fileId !== file.id) throw occupied(known.path);
    const at = await locate(row.path, path);
    if (!at.exists) return this.mustHaveNoTwin(at, row, file);
    // The file itself may lie there: moved by hand, or under a name that the disk cannot tell from the new one.
    const isItself = (await seenOrRead(at, null)).sha256 === file.sha256;
    if (!isItself || (known === null && (await this.liesAt(file)))) throw occupied(path);
  }

  private async mustHaveNoTwin(at: MirrorPath, row: MirrorRow, { node_id, path }: FileRecord): Promise<void> {
    const twin = await occupantOf(at);
    const own = node_id === row.nodeId ? await locate(row.path, path) : null;
    const isOwnName = twin !== null && own?.absolute === join(dirname(at.absolute), twin);
    if (twin !== null && !isOwnName) throw occupied(twin);
  }

  private async liesAt({ node_id, path }: FileRecord): Promise<boolean> {
    const mirror = this.parts.store.mirror(node_id);
    return mirror !== null && (await locate(mirror.path, path)).exists;
  }
}

interface MoveTarget {
  readonly fromRow: MirrorRow;
  readonly toRow: MirrorRow;
  readonly path: string;
  readonly version: number | undefined;
}

/** A change that builds on a version builds on its content too. */
async function mustBeUnchanged({ fromRoot, file }: PlannedMove, record: FileRecord): Promise<void> {
  const at = await locate(fromRoot, file.path);
  if (!at.exists || (await seenOrRead(at, file)).sha256 === record.sha256) return;
  throw new ServiceError('CONFLICT', 'expected_version: the file has been edited on this device since.', {
    current: record,
  });
}
