import { Controller, Inject } from '@nestjs/common';
import {
  deleteFile,
  type Envelope,
  type FileRecord,
  type ParsedInputOf,
  type ReplyOf,
  ServiceError,
} from '@workspace-graph/contracts';
import type { SeenContent } from '@workspace-graph/disk';
import {
  isFile,
  locate,
  type MirrorPath,
  putFrom,
  removeEmptyFolders,
  removeFile,
  seenOrRead,
} from '@workspace-graph/disk';
import { pathKey } from '@workspace-graph/domain';
import { Handles, newId, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { TrashRow } from '../store/device-store.js';
import { AsideFiles, type NotedAsides } from '../trash/aside-files.js';
import type { Trash } from '../trash/trash.js';
import { messageOf } from './file-mover.js';
import { stateOf } from './file-states.js';
import { Intents } from './intents.js';
import { NodeFolders, sameFolder } from './node-folders.js';
import { removeRecord } from './record-removal.js';

const RECORD = ['record' as const];
type Input = ParsedInputOf<typeof deleteFile>;

interface Deletion {
  readonly record: FileRecord;
  readonly envelope: Envelope;
  readonly action: string;
  readonly expectedVersion: number | undefined;
}

interface Prepared extends Deletion {
  readonly seen: SeenContent;
  readonly noted: NotedAsides;
}

/** What a delete came to; `stuck` was neither done nor taken back. */
interface Deleted {
  readonly trashId: string | null;
  readonly stuck: unknown;
}

/** Deleting files, and letting go of them. */
@Controller()
export class DeleteHandlers {
  private readonly trash: Trash;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly folders: NodeFolders,
    private readonly asides: AsideFiles,
    private readonly intents: Intents,
  ) {
    this.trash = asides.trash;
  }

  @Handles(deleteFile)
  async delete(input: Input, { envelope, operation }: OperationContext): Promise<ReplyOf<typeof deleteFile>> {
    const asked = { nodeId: input.node_id, version: input.expected_version };
    const placed = await this.folders.file(input.file_id, envelope, asked);
    const file = await this.folders.answer(placed, envelope);
    const isComplete = input.mode === 'complete';
    const row = isComplete ? await this.folders.ready(placed.file.node_id) : null;
    const hasCopy = row !== null && (await isFile(await locate(row.path, placed.file.path)));
    const removes = [
      ...RECORD,
      ...(hasCopy ? ['local_copy' as const] : []),
      ...(isComplete && this.isStored(placed.file) ? ['remote_object' as const] : []),
    ];
    const answer = { file, removes, trash_id: null, repair_needed: false, hint: null };
    if (!input.confirmed) return { ...answer, applied: false };
    const done = await this.parts.locks.run([placed.file.node_id], async () => {
      const { file: record } = await this.folders.file(input.file_id, envelope, asked);
      const deletion = { record, envelope, action: operation.name, expectedVersion: input.expected_version };
      if (!row) return this.unregister(deletion);
      sameFolder(this.parts, row);
      return this.deleteAt(await locate(row.path, record.path), deletion);
    });
    if (done.stuck === null) return { ...answer, applied: true, trash_id: done.trashId };
    const hint = `${messageOf(done.stuck)} The deletion is recorded and will be finished within a minute, or at the next start.`;
    return { ...answer, applied: false, trash_id: done.trashId, repair_needed: true, hint };
  }

  /** Drops the record and lets the copy lie; no scan takes it in again. */
  private async unregister(deletion: Deletion): Promise<Deleted> {
    const { node_id, path } = deletion.record;
    await this.removeRecord(deletion, false);
    this.parts.store.putUntracked(node_id, pathKey(path));
    return { trashId: null, stuck: null };
  }

  private async deleteAt(at: MirrorPath, deletion: Deletion): Promise<Deleted> {
    // What else lies there by now is nobody's copy of the file.
    if (!(await isFile(at))) {
      await this.removeRecord(deletion, true);
      return { trashId: null, stuck: null };
    }
    const { record } = deletion;
    const seen = await seenOrRead(at, stateOf(this.parts.store, record));
    if (deletion.expectedVersion !== undefined && seen.sha256 !== record.sha256)
      throw new ServiceError('CONFLICT', 'expected_version: the file has been edited on this device since.', {
        current: record,
      });
    const { node_id: nodeId, path } = record;
    return this.asides.noted([{ nodeId, path, sha256: seen.sha256 }], (noted) =>
      this.carryOut(at, { seen, noted, ...deletion }),
    );
  }

  private async carryOut(at: MirrorPath, deletion: Prepared): Promise<Deleted> {
    const { record, envelope, seen } = deletion;
    const id = newId();
    const intent = { id, file_id: record.id, kind: 'delete' as const, to_node_id: null, to_path: null };
    await this.intents.note([intent], envelope);
    let kept: TrashRow | null = null;
    try {
      kept = await this.trash.keep(at, { nodeId: record.node_id, fileId: record.id, reason: 'deleted', seen });
      await this.removeKept(at, kept, deletion);
      await this.removeRecord(deletion, true);
    } catch (error) {
      const stuck = await this.takeBack(at, kept, error);
      await this.intents.settle([{ id, error: stuck === null ? null : messageOf(stuck) }]);
      if (stuck === null) throw error;
      return { trashId: kept?.id ?? null, stuck };
    }
    await this.intents.settle([{ id, error: null }]);
    await removeEmptyFolders(at);
    return { trashId: kept.id, stuck: null };
  }

  private removeKept(at: MirrorPath, kept: TrashRow, { seen, noted }: Prepared): Promise<void> {
    return this.asides.run((asides) => {
      asides.keptAt(at, this.trash.pathOf(kept));
      return removeFile(at, seen, asides);
    }, noted);
  }

  private removeRecord({ record, action, envelope, expectedVersion }: Deletion, isDeleted: boolean): Promise<void> {
    return removeRecord(this.parts, record, { asker: envelope, action, isDeleted, expectedVersion });
  }

  /** Whether its content lies on a remote, from which it goes too. */
  private isStored({ remote_name }: FileRecord): boolean {
    return this.parts.centre !== null && remote_name !== null;
  }

  /** Answers null when all is as before, else the error that left a deletion half done. */
  private async takeBack(at: MirrorPath, kept: TrashRow | null, error: unknown): Promise<unknown> {
    if (!kept) return null;
    try {
      const now = await locate(at.mirrorRoot, at.path);
      if (!now.exists) await putFrom(this.trash.pathOf(kept), now);
      await this.trash.withdraw(kept, now);
      return null;
    } catch (reason) {
      this.parts.logger.warn({ err: reason, trash: kept.id }, 'a deletion could not be rolled back');
      return error;
    }
  }
}
