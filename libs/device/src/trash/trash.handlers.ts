import { Controller, Inject } from '@nestjs/common';
import {
  type Envelope,
  LIMITS,
  listTrash,
  type NodePlace,
  type ParsedInputOf,
  type ReplyOf,
  restoreTrash,
  ServiceError,
  type TrashEntry,
} from '@workspace-graph/contracts';
import type { SeenContent } from '@workspace-graph/disk';
import {
  locate,
  type MirrorPath,
  occupied,
  putFrom,
  removeEmptyFolders,
  removeFile,
  seenOrRead,
} from '@workspace-graph/disk';
import { checkedPath, pathKey } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { trackedAt } from '../files/file-states.js';
import { NodeFolders, sameFolder } from '../files/node-folders.js';
import type { FileDelta } from '../records/file-delta.js';
import type { FileState, TrashRow } from '../store/device-store.js';
import { AsideFiles, type NotedAsides } from './aside-files.js';
import { Trash } from './trash.js';

/** What can be brought back, and bringing it back. Entries of nodes that a caller does not see exist for them nowhere. */
@Controller()
export class TrashHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly folders: NodeFolders,
    private readonly trash: Trash,
    private readonly asides: AsideFiles,
  ) {}

  @Handles(listTrash)
  async list(
    { node_id, limit, cursor }: ParsedInputOf<typeof listTrash>,
    { envelope }: OperationContext,
  ): Promise<ReplyOf<typeof listTrash>> {
    if (node_id !== undefined) await this.parts.service.place(node_id, envelope);
    const nodes = node_id === undefined ? this.parts.store.trashNodes() : [node_id];
    const places = await this.parts.service.places(nodes, envelope, true);
    const items: TrashEntry[] = [];
    let before = cursor;
    for (let isLast = false; items.length <= limit && !isLast; ) {
      const rows = this.parts.store.trashEntries({
        limit: LIMITS.listMax,
        ...(node_id === undefined ? {} : { nodeId: node_id }),
        ...(before === undefined ? {} : { before }),
      });
      before = rows.at(-1)?.id;
      isLast = rows.length < LIMITS.listMax;
      for (const row of rows) {
        const place = places.get(row.nodeId);
        if (place) items.push(this.answerOf(await this.trash.current(row), place));
      }
    }
    const shown = items.slice(0, limit);
    return { items: shown, next_cursor: items.length > limit ? (shown.at(-1)?.id ?? null) : null };
  }

  @Handles(restoreTrash)
  async restore(
    { trash_id, path }: ParsedInputOf<typeof restoreTrash>,
    { envelope, operation }: OperationContext,
  ): Promise<ReplyOf<typeof restoreTrash>> {
    const entry = this.parts.store.trashEntry(trash_id);
    if (!entry || !(await this.parts.service.places([entry.nodeId], envelope)).has(entry.nodeId))
      throw notInTrash(trash_id);
    const row = await this.folders.writable(entry.nodeId, envelope);
    const target = path === undefined ? entry.path : checkedPath(path, 'path', { portable: true }).path;
    const fileId = await this.parts.locks.run([entry.nodeId], () =>
      this.asides.noted([{ nodeId: entry.nodeId, path: target, sha256: entry.sha256 }], async (noted) => {
        sameFolder(this.parts, row);
        if (!this.parts.store.trashEntry(trash_id)) throw notInTrash(trash_id);
        const at = await locate(row.path, target);
        const { nodeId } = entry;
        const known = trackedAt(this.parts.store, nodeId, target);
        if (at.exists || (known && known.path !== target)) throw occupied(known?.path ?? target);
        try {
          await putFrom(this.trash.pathOf(entry), at);
          const there = await locate(row.path, target);
          return await this.enter({ entry, there, noted }, { action: operation.name, asker: envelope, strict: true });
        } finally {
          await removeEmptyFolders(at, at.found);
        }
      }),
    );
    await this.trash.discard(entry);
    return this.folders.answerById(fileId, envelope);
  }

  /** Makes what was put there true, or removes it again. Answers the id of the file. */
  private async enter(
    { entry, there, noted }: Restored,
    options: { readonly action: string; readonly asker: Envelope; readonly strict: boolean },
  ): Promise<string> {
    const { nodeId } = entry;
    const seen = await seenOrRead(there, null);
    try {
      const absent = await this.absentFile(entry);
      const known = trackedAt(this.parts.store, nodeId, there.path);
      const deltas = deltasOf({ file: absent ?? known, fileId: entry.fileId }, there.path, seen);
      const results = await this.parts.files.apply(nodeId, deltas, options);
      const result = results.at(-1);
      if (!result || !('file' in result) || !result.file) throw notInTrash(entry.id);
      this.parts.store.removeUntracked(nodeId, [pathKey(there.path)]);
      return result.file.id;
    } catch (error) {
      await this.asides.run((asides) => {
        asides.keptAt(there, this.trash.pathOf(entry));
        return removeFile(there, seen, asides);
      }, noted);
      throw error;
    }
  }

  /** The file that an entry was, when its record is still there and its copy is not. */
  private async absentFile({ fileId, nodeId }: TrashRow): Promise<FileState | null> {
    const file = fileId === null ? null : this.parts.store.file(fileId);
    const mirror = this.parts.store.mirror(nodeId);
    if (!file || !mirror || file.nodeId !== nodeId) return null;
    return file.isDeleted || !(await locate(mirror.path, file.path)).exists ? file : null;
  }

  private answerOf(row: TrashRow, { node_id, type, name }: NodePlace): TrashEntry {
    return {
      id: row.id,
      node: { id: node_id, type, name },
      path: row.path,
      reason: row.reason,
      bytes: row.sizeBytes,
      sha256: row.sha256,
      file_id: row.fileId,
      trashed_at: row.trashedAt,
      expires_at: this.trash.expiryOf(row),
    };
  }
}

interface Restored {
  readonly entry: TrashRow;
  readonly there: MirrorPath;
  readonly noted: NotedAsides;
}

/** `fileId` is the one that the content had: a file whose record is gone comes back as the same one. */
function deltasOf(
  { file, fileId }: { readonly file: FileState | null; readonly fileId: string | null },
  path: string,
  seen: SeenContent,
): FileDelta[] {
  if (!file) return [{ kind: 'register', path, seen, ...(fileId === null ? {} : { fileId }) }];
  const update: FileDelta = { kind: 'update', file, seen };
  return file.path === path ? [update] : [update, { kind: 'move', file, path, seen }];
}

function notInTrash(id: string): ServiceError {
  return new ServiceError('TRASH_NOT_FOUND', `There is no entry ${id} in the trash that you may see.`, {
    trash_id: id,
  });
}
