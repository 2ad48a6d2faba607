import { join } from 'node:path';
import type { Logger } from '@workspace-graph/platform';
import { NodeLocks } from '../locks/node-locks.js';
import { DeviceStore } from '../store/device-store.js';
import { AsideFiles } from '../trash/aside-files.js';
import { Trash } from '../trash/trash.js';
import { FolderTexts } from './client-config/folder-texts.js';
import { removeOwnFiles } from './client-config/own-files.js';
import { OwnershipRecords } from './client-config/ownership.js';
import { folderIdentity } from './mirrors.js';

export interface StoppedDevice {
  /** The folder `.svc` of the workspace. */
  readonly own: string;
  readonly logger: Logger;
}

/** A folder out of which it could not be taken, and why. */
export interface Uncleared {
  readonly path: string;
  readonly problem: string;
}

/**
 * Takes what we keep for agents out of the folders of nodes of a device that does not run, and is not to run again. A folder
 * that is not there, or is another one by now, is left out. Whoever calls it owns the workspace.
 */
export async function clearFolders({ own, logger }: StoppedDevice): Promise<Uncleared[]> {
  const store = DeviceStore.open(join(own, 'sync.db'));
  try {
    const parts = { store, logger, locks: new NodeLocks(), settings: { own, trashDays: Number.POSITIVE_INFINITY } };
    const texts = new FolderTexts(new AsideFiles(parts, new Trash(parts)));
    const ours = { texts, records: new OwnershipRecords(own) };
    const uncleared: Uncleared[] = [];
    for (const row of store.mirrors()) {
      try {
        if ((await folderIdentity(row.path)) === row.identity) await removeOwnFiles(row, ours);
      } catch (error) {
        uncleared.push({ path: row.path, problem: (error as Error).message });
      }
    }
    return uncleared;
  } finally {
    store.close();
  }
}
