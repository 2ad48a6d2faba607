import { join } from 'node:path';
import { PathFinder, seenOrRead } from '@workspace-graph/disk';
import { pathKey } from '@workspace-graph/domain';
import type { IgnoreRules } from '../ignore/ignore-rules.js';
import { walkSections } from '../status/walk-sections.js';
import { DeviceStore, type MirrorRow } from '../store/device-store.js';
import { foldersSetAside } from './folder-withdrawal.js';
import { folderIdentity } from './mirrors.js';

/** How many files of a folder are on no remote as they lie there; null where that could not be determined, with the reason. */
export interface OnlyHere {
  readonly path: string;
  readonly files: number | null;
  readonly problem: string | null;
}

/**
 * Folders of a device that does not run, with files that were never uploaded, or were changed since. A folder without such is
 * left out. Whoever calls it owns the workspace.
 */
export async function filesOnlyHere(own: string): Promise<OnlyHere[]> {
  const store = DeviceStore.open(join(own, 'sync.db'));
  try {
    const found: OnlyHere[] = [];
    for (const row of store.mirrors()) found.push(await look(store, row));
    for (const { path, files } of await foldersSetAside(store)) found.push({ path, files, problem: null });
    return found.filter(({ files }) => files !== 0);
  } finally {
    store.close();
  }
}

async function look(store: DeviceStore, row: MirrorRow): Promise<OnlyHere> {
  const { path } = row;
  const identity = await folderIdentity(path);
  if (identity === null) return { path, files: null, problem: 'it is not there' };
  const found = new FoundFiles();
  const isWalked = await walkSections(path, found, new AbortController().signal);
  if (!isWalked) return { path, files: null, problem: 'it cannot be read' };
  const paths = new PathFinder(path);
  let files = 0;
  for (const each of found.paths) if (!(await isStored({ store, row, paths }, each))) files += 1;
  const [unread] = found.unread;
  return {
    path,
    files: unread === undefined ? files : null,
    problem: unread === undefined ? null : `${unread} cannot be read`,
  };
}

interface Looking {
  readonly store: DeviceStore;
  readonly row: MirrorRow;
  readonly paths: PathFinder;
}

/** Whether what lies there was on its remote when this device had to do with it last. What cannot be read was not. */
async function isStored({ store, row, paths }: Looking, path: string): Promise<boolean> {
  const state = store.fileAt(row.nodeId, pathKey(path));
  if (state?.path !== path || state.isDeleted || state.lastSyncedHash === null) return false;
  try {
    return (await seenOrRead(await paths.locate(path), state)).sha256 === state.lastSyncedHash;
  } catch {
    return false;
  }
}

/** Files that are not ignored. */
class FoundFiles {
  readonly paths: string[] = [];
  readonly unread: string[] = [];

  file(path: string, _onDisk: string, rules: IgnoreRules | null): void {
    if (rules?.ignores(path, false) === false) this.paths.push(path);
  }

  link(): void {
    // Where it leads is not tracked.
  }

  enters(_path: string, isIgnored: boolean): boolean {
    return !isIgnored;
  }

  unreadable(path: string, isIgnored: boolean): void {
    if (!isIgnored) this.unread.push(path);
  }

  linkAsFolder(): void {
    // The same.
  }
}
