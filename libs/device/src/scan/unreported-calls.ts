import { type FileRecord, ServiceError } from '@workspace-graph/contracts';
import { locate, seenOrRead } from '@workspace-graph/disk';
import type { DeviceParts } from '../device-parts.js';
import { recordIsGone, removeRecord } from '../files/record-removal.js';
import type { FileDelta } from '../records/file-delta.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import type { PathTexts } from './findings.js';

const BY_SCAN = { action: 'scan', asker: null } as const;

/**
 * Reports to the centre what calls did while it was out of reach and no scan would find: files of the remote that were
 * deleted, and those that were edited and moved. Call it while the node is locked.
 * @returns what the centre refuses, by path
 * @throws ServiceError of the file service, and of the centre while that is out of reach
 */
export async function reportCalls(parts: DeviceParts, row: MirrorRow): Promise<PathTexts> {
  await reportMoves(parts, row);
  return reportDeletions(parts, row);
}

/** What somebody else changed meanwhile stays at the centre, and is absent from this folder. */
async function reportDeletions(parts: DeviceParts, { nodeId, path: root }: MirrorRow): Promise<PathTexts> {
  const { records } = parts.store;
  const refused: [string, string][] = [];
  for (const record of records.deleted(nodeId).values()) {
    // Another file may have its name by now; one that was restored is no deleted one.
    const isGone = !(await locate(root, record.path)).exists;
    const problem = isGone ? await problemOf(() => deleteThere(parts, record)) : null;
    if (problem !== null) refused.push([record.path, `It was deleted here, and stays for others: ${problem}`]);
    records.forget([record.id]);
  }
  return refused;
}

async function deleteThere(parts: DeviceParts, record: FileRecord): Promise<void> {
  try {
    await removeRecord(parts, record, { ...BY_SCAN, isDeleted: true, expectedVersion: record.version });
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'FILE_NOT_FOUND')) throw error;
    // It arrived, and its reply did not.
    recordIsGone(parts, record);
  }
}

/** Why the centre refuses something; null when it does it. @throws whatever is worth another try */
async function problemOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof ServiceError && !error.retryable) return error.message;
    throw error;
  }
}

/**
 * Reports files to the centre that were edited and moved by calls while it was out of reach: by inode and content nobody
 * finds out which they are. What it refuses is left to the scan, as any file at that path.
 */
async function reportMoves(parts: DeviceParts, { nodeId, path: root }: MirrorRow): Promise<void> {
  const { store, files } = parts;
  for (const record of store.records.waiting(nodeId).values()) {
    const file = store.file(record.id);
    if (!file || file.nodeId !== nodeId || file.path === record.path || file.sha256 === record.sha256) continue;
    const deltas = await deltasOf(root, file, record);
    if (deltas) await files.apply(nodeId, deltas, { ...BY_SCAN, strict: false });
    store.records.forget([record.id]);
  }
}

/** Null for a file that does not lie there as it was left. */
async function deltasOf(root: string, file: FileState, { path, sha256 }: FileRecord): Promise<FileDelta[] | null> {
  const at = await locate(root, path);
  const seen = at.exists ? await seenOrRead(at, null) : null;
  if (seen?.sha256 !== sha256) return null;
  return [
    { kind: 'move', file, path, seen },
    { kind: 'update', file: { ...file, path }, seen },
  ];
}
