import type { FileRecord } from '@workspace-graph/contracts';
import { locate, seenOrRead } from '@workspace-graph/disk';
import type { DeviceParts } from '../device-parts.js';
import type { FileDelta } from '../records/tracked-files.js';
import type { FileState, MirrorRow } from '../store/device-store.js';

/**
 * Reports files to the centre that were edited and moved by calls while it was out of reach: by inode and content nobody
 * finds out which they are. What it refuses is left to the scan, as any file at that path. Call it while the node is locked.
 * @throws ServiceError of the file service
 */
export async function reportMoves(parts: DeviceParts, { nodeId, path: root }: MirrorRow): Promise<void> {
  const { store, files } = parts;
  for (const record of store.records.waiting(nodeId).values()) {
    const file = store.file(record.id);
    if (!file || file.nodeId !== nodeId || file.path === record.path || file.sha256 === record.sha256) continue;
    const deltas = await deltasOf(root, file, record);
    if (deltas) await files.apply(nodeId, deltas, { action: 'scan', asker: null, strict: false });
    store.records.forget([record.id]);
  }
}

/** Null for a file that does not lie there as it was left. */
async function deltasOf(root: string, file: FileState, { path, sha256 }: FileRecord): Promise<FileDelta[] | null> {
  const at = await locate(root, path);
  const isLeft = at.exists && !(await locate(root, file.path)).exists;
  const seen = isLeft ? await seenOrRead(at, null) : null;
  if (seen?.sha256 !== sha256) return null;
  return [
    { kind: 'move', file, path, seen },
    { kind: 'update', file: { ...file, path }, seen },
  ];
}
