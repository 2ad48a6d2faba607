import type { FileRecord } from '@workspace-graph/contracts';
import { pathKey } from '@workspace-graph/domain';
import type { DeviceStore, FileState } from '../store/device-store.js';

/**
 * What the device knows of a record; for one that it does not know, what the record tells. A file that was moved while the
 * centre is out of reach lies where its record was made to tell.
 */
export function stateOf(store: DeviceStore, record: FileRecord): FileState {
  const known = store.file(record.id);
  if (known && known.path !== record.path && store.records.waitingOne(record.id)?.path === record.path)
    return { ...known, path: record.path, pathKey: pathKey(record.path) };
  return (
    known ?? {
      fileId: record.id,
      nodeId: record.node_id,
      path: record.path,
      pathKey: pathKey(record.path),
      sha256: record.sha256 ?? '',
      sizeBytes: record.size_bytes ?? 0,
      stamp: null,
      inode: null,
      isDeleted: false,
      wasPushed: record.last_pushed_at !== null,
      lastSyncedHash: null,
      version: record.version,
    }
  );
}

/** What is tracked at a path, without what has left it while the centre is out of reach. */
export function trackedAt(store: DeviceStore, nodeId: string, path: string): FileState | null {
  const known = store.fileAt(nodeId, pathKey(path));
  return known && !store.records.hasLeft(known) ? known : null;
}
