import { lstat, opendir, rename, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import { isAbsent, locate, type MirrorPath, removeFile, seenOrRead } from '@workspace-graph/disk';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { DeviceStore, FileState, MirrorRow } from '../store/device-store.js';
import type { WithdrawnFolder } from '../store/withdrawn-store.js';
import { AsideFiles, type NotedAsides } from '../trash/aside-files.js';
import { MirrorConfigs } from './client-config/mirror-configs.js';
import { Mirrors } from './mirrors.js';

/** Files that are noted in one write. */
const CHUNK = 500;

/**
 * Clears the folder of a node that the person of this device does not see any more: what lies on its remote as it lies here
 * goes to the trash, and what was edited, was never uploaded, or is nobody's we know of, is set aside beside it. What is cut
 * off goes on when the node is looked for again.
 */
@Injectable()
export class FolderWithdrawal {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(MirrorConfigs) private readonly configs: MirrorConfigs,
    @Inject(AsideFiles) private readonly asides: AsideFiles,
  ) {
    // In a local workspace a node that nobody sees is gone, and its folder stays for whoever has it on the disk.
    if (parts.settings.sharesRecords) mirrors.beforeStale((row) => this.withdraw(row));
  }

  /** Called while the node is locked. */
  private async withdraw(row: MirrorRow): Promise<void> {
    if ((await this.mirrors.stateOf(row)) !== 'ready') return;
    await this.configs.remove(row);
    const files = [...this.parts.store.filesOf(row.nodeId)].filter(isStored);
    for (let start = 0; start < files.length; start += CHUNK)
      await this.putAway(row, files.slice(start, start + CHUNK));
    const left = await clear(row.path);
    if (left > 0) await this.moveAside(row, left);
  }

  private async putAway({ nodeId, path: root }: MirrorRow, files: readonly FileState[]): Promise<void> {
    const places = files.map(({ path, sha256 }) => ({ nodeId, path, sha256 }));
    await this.asides.noted(places, async (noted) => {
      for (const file of files) {
        const at = await locate(root, file.path);
        if (at.exists) await this.putOneAway(at, file, noted);
      }
    });
  }

  private async putOneAway(at: MirrorPath, file: FileState, noted: NotedAsides): Promise<void> {
    const { trash } = this.asides;
    const seen = await seenOrRead(at, file);
    if (seen.sha256 !== file.lastSyncedHash) return;
    const { nodeId, fileId } = file;
    const kept = await trash.keep(at, { nodeId, fileId, reason: 'deleted', seen });
    try {
      await this.asides.run((asides) => {
        asides.keptAt(at, trash.pathOf(kept));
        return removeFile(at, seen, asides);
      }, noted);
    } catch (error) {
      // Somebody saved it in the same moment: it is an edited one.
      if (!(error instanceof ServiceError) || error.code !== 'CONFLICT') throw error;
      await trash.withdraw(kept, at);
    }
  }

  private async moveAside(row: MirrorRow, files: number): Promise<void> {
    const { withdrawn } = this.parts.store;
    const path = await freeNameBeside(row.path);
    withdrawn.put({ path, files, at: new Date().toISOString() });
    try {
      await rename(row.path, path);
    } catch (error) {
      withdrawn.remove(path);
      throw error;
    }
    this.parts.logger.warn(
      { node: row.nodeId, path, files },
      'a node is not seen any more; files of it were set aside',
    );
  }
}

/** Folders that were set aside and are there yet, newest first. */
export async function foldersSetAside({ withdrawn }: Pick<DeviceStore, 'withdrawn'>): Promise<WithdrawnFolder[]> {
  const there: WithdrawnFolder[] = [];
  for (const folder of withdrawn.all()) if (await isThere(folder.path)) there.push(folder);
  return there;
}

/** Whether its content was on the remote when this device had to do with it last. */
function isStored({ isDeleted, wasPushed, lastSyncedHash }: FileState): boolean {
  return !isDeleted && wasPushed && lastSyncedHash !== null;
}

/** Removes the folders in which nothing lies, the outer one too. Answers how many files lie in the others. */
async function clear(folder: string): Promise<number> {
  let left = 0;
  for await (const entry of await opendir(folder))
    left += entry.isDirectory() ? await clear(join(folder, entry.name)) : 1;
  if (left === 0) await rmdir(folder).catch(ignoreFilled);
  return left;
}

function ignoreFilled(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EBUSY' && !isAbsent(error)) throw error;
}

async function freeNameBeside(folder: string): Promise<string> {
  const named = join(dirname(folder), `${basename(folder)} (access ended)`);
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? named : `${named} ${number}`;
    if (!(await isThere(path))) return path;
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
