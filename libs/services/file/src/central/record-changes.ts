import { ERRORS, type FileRecord, ServiceError } from '@workspace-graph/contracts';
import { type Database, runCommand, systemContext, type Transaction } from '@workspace-graph/database';
import { mimeTypeOf } from '@workspace-graph/disk';
import type { RemoteDocument, RemoteFile } from '@workspace-graph/remotes';
import { applyChanges } from '../changes/apply-changes.js';
import type { RecordChange } from '../changes/plan-changes.js';
import type { LiveContent } from './live-contents.js';
import type { RemoteObject } from './object-locks.js';
import { type FoundFile, SET_DOCUMENT, SET_REMOTE } from './remote-file.statements.js';

/** Changes one record as a device would. @throws ServiceError as `applyChanges` */
export async function applyChange(
  tx: Transaction,
  { nodeId, action }: { readonly nodeId: string; readonly action: string },
  change: RecordChange,
): Promise<FileRecord | null> {
  const { results } = await applyChanges(tx, { node_id: nodeId, action, strict: true, changes: [change] });
  const [result] = results;
  return result && 'file' in result ? result.file : null;
}

/** Records where the content of a file lies, and what was seen of it. */
export async function recordObject(
  tx: Transaction,
  fileId: string,
  { remote, path, live }: RemoteObject & { readonly live: LiveContent },
): Promise<void> {
  await tx.execute(SET_REMOTE, [fileId, remote, path, live.entry.revision, live.sha256]);
}

/** Records where a document lies. */
export async function recordDocument(
  tx: Transaction,
  fileId: string,
  { remote, path, document }: RemoteObject & { readonly document: RemoteDocument },
): Promise<void> {
  await tx.execute(SET_DOCUMENT, [fileId, remote, path, document.revision]);
}

/** What a record tells of a content. */
export function recordedContent(path: string, { entry, sha256 }: LiveContent) {
  return {
    sha256,
    size_bytes: entry.sizeBytes,
    mime_type: mimeTypeOf(path),
    modified_at: modifiedAt(entry),
  };
}

/** Records what somebody put on the remote, on nobody's behalf: so the next one who asks knows what is there. */
export async function recordSeen(
  database: Database,
  { file, remote_path: path }: FoundFile,
  live: LiveContent,
): Promise<void> {
  const { id, node_id: nodeId, remote_name: remote } = file;
  if (remote === null || path === null) return;
  const context = systemContext('write_file');
  await runCommand(database, context, async (tx) => {
    const content = recordedContent(file.path, live);
    const expected_version = file.version;
    await applyChange(
      tx,
      { nodeId, action: context.operation.name },
      { kind: 'update', file_id: id, ...content, expected_version },
    );
    await recordObject(tx, id, { remote, path, live });
    return { done: true };
  });
}

/** Whether nothing was changed for certain: anything else may have been carried out without our hearing of it. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.code !== 'INTERNAL' && !ERRORS[error.code].retryable;
}

/** As the record holds times. */
function modifiedAt(entry: RemoteFile): string {
  return new Date(entry.modifiedAt).toISOString();
}
