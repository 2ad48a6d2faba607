import type { FileRecord } from '@workspace-graph/contracts';
import { pathKey } from '@workspace-graph/domain';
import type { DeviceStore, FileState } from '../store/device-store.js';

/** What the device knows of a record; for one that it does not know, what the record tells. */
export function stateOf(store: DeviceStore, record: FileRecord): FileState {
  return (
    store.file(record.id) ?? {
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
