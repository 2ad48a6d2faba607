import type { FileRecord } from '@workspace-graph/contracts';
import type { DeviceParts } from '../device-parts.js';
import type { Asker } from '../records/file-service.js';
import { stateOf } from './file-states.js';

/** How a record is removed. */
export interface Removal {
  /** On whose behalf: the caller of an operation, or null for the device itself. */
  readonly asker: Asker;
  /** Name of the operation for the audit trail. */
  readonly action: string;
  /** Whether the file was deleted. Else only its record is dropped, and what lies on its remote stays. */
  readonly isDeleted: boolean;
  readonly expectedVersion?: number | undefined;
}

/**
 * Removes the record of a file, and with a deleted one its object on the remote; for somebody who asks while the centre is
 * out of reach, as soon as it is back.
 * @throws ServiceError of the file service; CONFLICT for an object that somebody changed: nothing was removed
 */
export async function removeRecord(
  parts: DeviceParts,
  record: FileRecord,
  { asker, action, isDeleted, expectedVersion }: Removal,
): Promise<void> {
  const { id } = record;
  if (isDeleted && parts.centre && record.remote_name !== null) {
    const envelope = await parts.service.envelopeFor(asker);
    try {
      await parts.centre.remove(id, expectedVersion, envelope);
    } catch (error) {
      // The registry stays as it is: the next scan that reaches the centre deletes it there.
      if (asker && parts.service.memoryFor(error, asker)?.deleted(record)) return;
      throw error;
    }
    return recordIsGone(parts, record);
  }
  const expected = expectedVersion === undefined ? {} : { expectedVersion };
  const delta = { kind: 'remove' as const, file: stateOf(parts.store, record), tombstone: isDeleted, ...expected };
  await parts.files.apply(record.node_id, [delta], { action, asker, strict: true });
}

/** The centre has removed a record. */
export function recordIsGone({ files, service }: DeviceParts, { node_id: nodeId, id }: FileRecord): void {
  service.recollection?.settled([], [id]);
  files.follow({ nodeId, changed: [], removed: [id] });
}
