import { lstat, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Inject, Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import { LIMITS, type NodePlace, ServiceError } from '@workspace-graph/contracts';
import { syncFolder } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { Asker } from '../records/file-service.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import { ChangedMeanwhile, COPY_DISK, type CopyDisk, copyFolder, removeCopied } from './copy-folder.js';
import { folderError, holds, pathRefused, realFolder, refuseReserved } from './folder-rules.js';
import { makeAll, removeFolders } from './make-folder.js';
import { MirrorFolders } from './mirror-folders.js';
import { folderIdentity, folderKey, Mirrors } from './mirrors.js';
import { MoveJournal, type MoveNote } from './move-journal.js';

export interface FolderMove {
  readonly place: NodePlace;
  readonly from: MirrorRow;
  readonly to: string;
  readonly asker: Asker;
  readonly signal: AbortSignal;
}

/** What a move does with the disk. */
export interface MoveDisk extends CopyDisk {
  rename(from: string, to: string): Promise<void>;
}

/** Injection token of another MoveDisk than the real one. */
export const MOVE_DISK = Symbol('workspace-graph:move-disk');

/** A folder in which people work all the time is tried to be copied so often. */
const COPIES = 3;

/**
 * Moves the folder of a mirror: by renaming it, or onto another volume by a copy that is verified before the registry
 * names it and before anything of the old folder goes. Wherever a process ends, one complete folder is registered.
 */
@Injectable()
export class MoveMirror implements OnModuleInit {
  private readonly journal: MoveJournal;
  private readonly disk: MoveDisk;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(MirrorFolders) private readonly folders: MirrorFolders,
    @Optional() @Inject(MOVE_DISK) disk?: MoveDisk,
  ) {
    this.journal = new MoveJournal(parts.settings.own);
    this.disk = disk ?? { ...COPY_DISK, rename };
  }

  /** Ends what a killed process began, before anybody works with the folders. */
  async onModuleInit(): Promise<void> {
    for (const note of await this.journal.open())
      await this.recover(note).catch((error: unknown) =>
        this.parts.logger.warn(
          { err: error, node: note.node_id },
          'a move of a folder could not be finished; it will be retried at the next start',
        ),
      );
  }

  /**
   * Call it while the node is locked. Answers the new registration, or the present one when the folder is there already.
   * @throws ServiceError NO_MIRROR, MIRROR_PATH_REFUSED, DESTINATION_EXISTS, STORAGE_FULL, CONFLICT
   */
  async run({ place, from, to, asker, signal }: FolderMove): Promise<MirrorRow> {
    if ((await realFolder(to)) === from.path) return from;
    if ((await this.mirrors.stateOf(from)) !== 'ready')
      throw new ServiceError(
        'NO_MIRROR',
        `The folder of the node ${from.nodeId} is missing at the moment. Put it back, then move it.`,
        { node_id: from.nodeId },
      );
    const current = this.mirrors.require(from.nodeId);
    await this.refuseUnfit(current, to);
    return this.folders.claim({ place, path: to, asker }, async (path) => {
      this.refuseNested(current);
      return this.moveTo(current, path, signal);
    });
  }

  /** Before the folders of other nodes are looked at: what is there is refused alike, whosesoever it is. */
  private async refuseUnfit(from: MirrorRow, to: string): Promise<void> {
    const path = await realFolder(to);
    await refuseReserved(path, this.parts.settings.root);
    await refuseTarget(from, path);
  }

  private refuseNested(from: MirrorRow): void {
    const nested = this.mirrors.all().some(({ nodeId, path }) => nodeId !== from.nodeId && holds(from.path, path));
    if (nested)
      throw pathRefused(
        'holds_mirrors',
        'The folder contains folders of other nodes, so it cannot be moved. Move those folders out of it first.',
      );
  }

  private async moveTo(from: MirrorRow, to: string, signal: AbortSignal): Promise<MirrorRow> {
    await refuseTarget(from, to);
    const made = await makeAll(dirname(to)).catch((error: unknown) => {
      throw folderError(error);
    });
    try {
      await this.journal.note({ node_id: from.nodeId, from: from.path, to, copied: null });
      const row = await this.renamed(from, to, signal);
      this.journal.done(from.nodeId);
      return row;
    } catch (error) {
      // The note stays where a folder could not be brought back, for the next start.
      if ((await folderIdentity(from.path)) !== null) this.journal.done(from.nodeId);
      await removeFolders(made);
      throw folderError(error);
    }
  }

  private async renamed(from: MirrorRow, to: string, signal: AbortSignal): Promise<MirrorRow> {
    try {
      await this.disk.rename(from.path, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      return this.copied(from, to, signal);
    }
    try {
      await syncFolder(dirname(to));
      return this.registered(from, { ...from, path: to, identity: await identityOf(to) });
    } catch (error) {
      await this.disk.rename(to, from.path);
      throw error;
    }
  }

  private async copied(from: MirrorRow, to: string, signal: AbortSignal): Promise<MirrorRow> {
    const draft = draftOf(from.nodeId, to);
    const row = await this.copyTo(from, { draft, to, signal }).catch(async (error: unknown) => {
      await rm(draft, { recursive: true, force: true });
      throw error;
    });
    const gone = await removeCopied(from.path, to, this.disk).catch(() => false);
    if (!gone)
      this.parts.logger.warn(
        { node: from.nodeId, path: from.path },
        'a folder was moved, but its old path could not be removed completely',
      );
    return row;
  }

  private async copyTo(
    from: MirrorRow,
    { draft, to, signal }: { readonly draft: string; readonly to: string; readonly signal: AbortSignal },
  ): Promise<MirrorRow> {
    await this.copyUnchanged(from.path, draft, signal);
    const identity = await identityOf(draft);
    await this.journal.note({ node_id: from.nodeId, from: from.path, to, copied: identity });
    await this.disk.rename(draft, to);
    try {
      await syncFolder(dirname(to));
      this.forgetInodes(from.nodeId);
      return this.registered(from, { ...from, path: to, identity });
    } catch (error) {
      await this.disk.rename(to, draft);
      throw error;
    }
  }

  private async copyUnchanged(from: string, draft: string, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await rm(draft, { recursive: true, force: true });
      try {
        return await copyFolder(from, draft, { disk: this.disk, signal });
      } catch (error) {
        if (!(error instanceof ChangedMeanwhile)) throw error;
        if (attempt === COPIES)
          throw new ServiceError(
            'CONFLICT',
            'Files in the folder keep changing. Stop working in it, then move it.',
            undefined,
            {
              cause: error,
            },
          );
      }
    }
  }

  /** On another volume inodes and times are others; the next scan reads the files again and finds them the same. */
  private forgetInodes(nodeId: string): void {
    const files: FileState[] = [...this.parts.store.filesOf(nodeId)];
    for (let start = 0; start < files.length; start += LIMITS.filesPerChange)
      this.parts.store.changeFiles({
        put: files
          .slice(start, start + LIMITS.filesPerChange)
          .map((file): FileState => ({ ...file, stamp: null, inode: null })),
      });
  }

  private registered(from: MirrorRow, to: MirrorRow): MirrorRow {
    this.mirrors.move(from, to);
    return to;
  }

  private async recover(note: MoveNote): Promise<void> {
    const row = this.mirrors.of(note.node_id);
    if (row?.path === note.from) await this.recoverUnregistered(row, note);
    else if (row?.path === note.to && note.copied !== null && (await folderIdentity(note.from)) !== null)
      await removeCopied(note.from, note.to, this.disk);
    this.journal.done(note.node_id);
  }

  private async recoverUnregistered(row: MirrorRow, { from, to, copied }: MoveNote): Promise<void> {
    const [there, target] = [await folderIdentity(from), await folderIdentity(to)];
    if (there === null && target === row.identity) {
      this.registered(row, { ...row, path: to });
      return;
    }
    await rm(draftOf(row.nodeId, to), { recursive: true, force: true });
    if (copied !== null && target === copied && there === row.identity) await removeCopied(to, from, this.disk);
  }
}

/** Where a copy grows; the ignore rules skip this name. */
function draftOf(nodeId: string, to: string): string {
  return join(dirname(to), `.svc-move-${nodeId}`);
}

async function identityOf(path: string): Promise<string> {
  const identity = await folderIdentity(path);
  if (identity === null) throw new Error('the folder that was just moved is missing');
  return identity;
}

async function refuseTarget(from: MirrorRow, to: string): Promise<void> {
  if (folderKey(to) !== folderKey(from.path) && holds(from.path, to))
    throw pathRefused('inside_itself', 'The new folder is inside the current one. Choose a folder outside it.');
  const found = await lstat(to, { bigint: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw folderError(error);
  });
  // A rename that changes case alone finds the folder itself.
  if (found && `${found.dev}:${found.ino}` !== from.identity)
    throw new ServiceError('DESTINATION_EXISTS', 'path: already exists. Choose a folder that does not exist.');
}
