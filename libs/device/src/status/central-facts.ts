import { type FileRecord, listNodeRecords, type OutputOf, surveyRemote } from '@workspace-graph/contracts';
import type { FileFacts } from '@workspace-graph/domain';
import { type Asker, type FileService, isOutage } from '../records/file-service.js';
import type { TrackedPath } from '../store/device-store.js';

const RECORDS_PER_PAGE = 5_000;

type Survey = OutputOf<typeof surveyRemote>;
type Told = Pick<FileFacts, 'native' | 'pushed' | 'remote'>;

/** What the centre tells of the files of one node; of nothing, where it cannot be asked. */
export class CentralFacts {
  private readonly missing: ReadonlySet<string>;
  private readonly changed: ReadonlyMap<string, string | null>;
  private readonly failed: ReadonlyMap<string, string>;

  constructor(
    /** By id; null where nobody could be asked. */
    readonly records: ReadonlyMap<string, FileRecord> | null,
    /** What lies on the remotes now; null where nobody has looked. */
    readonly survey: Survey | null,
  ) {
    this.missing = new Set(survey?.missing);
    this.changed = new Map(survey?.changed.map(({ file_id, sha256 }) => [file_id, sha256]));
    this.failed = new Map(survey?.failed.map(({ remote_name, message }) => [remote_name, message]));
  }

  /** Asks for the records of a node, and with `surveys` for what its remotes list. @throws ServiceError NODE_NOT_FOUND */
  static async of(
    service: Pick<FileService, 'call'>,
    { nodeId, surveys, signal }: { readonly nodeId: string; readonly surveys: boolean; readonly signal: AbortSignal },
    asker: Asker,
  ): Promise<CentralFacts> {
    try {
      const records = await recordsOf(service, nodeId, asker);
      const survey = surveys ? await service.call(surveyRemote, { node_id: nodeId }, asker, signal) : null;
      return new CentralFacts(records, survey);
    } catch (error) {
      if (!isOutage(error)) throw error;
      return new CentralFacts(null, null);
    }
  }

  /** Of a file that this device knows. */
  of({ fileId, wasPushed, lastSyncedHash }: TrackedPath): Told {
    const record = this.records?.get(fileId);
    if (!record) return { native: false, pushed: wasPushed, remote: 'unasked' };
    const told = this.ofRecord(record);
    // What this device has seen there itself stands in for what nobody has told.
    const isSeen = told.remote === 'unasked' && lastSyncedHash !== null && record.remote_name !== null;
    return { ...told, pushed: told.pushed || wasPushed, ...(isSeen ? { remote: { sha256: lastSyncedHash } } : {}) };
  }

  /** Whether somebody else has removed the record of a file that this device had in common with its remote. */
  isGone({ fileId, lastSyncedHash }: TrackedPath): boolean {
    return lastSyncedHash !== null && this.records?.has(fileId) === false;
  }

  /** Of any file of the node. */
  ofRecord(record: FileRecord): Told {
    const { is_native_format: native, last_pushed_at, remote_name } = record;
    return { native, pushed: last_pushed_at !== null || remote_name !== null, remote: this.remoteOf(record) };
  }

  /** Why nothing is known of what lies on the remote of a file; null where something is. */
  problemOf(fileId: string): string | null {
    const remote = this.records?.get(fileId)?.remote_name ?? null;
    return remote === null ? null : (this.failed.get(remote) ?? null);
  }

  private remoteOf({ id, remote_name, current_remote_hash }: FileRecord): FileFacts['remote'] {
    if (remote_name === null) return 'unasked';
    if (this.failed.has(remote_name)) return 'error';
    if (this.missing.has(id)) return 'absent';
    const changed = this.changed.get(id);
    if (changed !== undefined) return { sha256: changed };
    const [kind, hash = null] = current_remote_hash?.split(':') ?? [];
    return kind === 'sha256' ? { sha256: hash } : 'unasked';
  }
}

async function recordsOf(
  service: Pick<FileService, 'call'>,
  node_id: string,
  asker: Asker,
): Promise<Map<string, FileRecord>> {
  const records = new Map<string, FileRecord>();
  for (let after: string | undefined; ; ) {
    const input = { node_id, limit: RECORDS_PER_PAGE, ...(after === undefined ? {} : { after }) };
    const { files } = await service.call(listNodeRecords, input, asker);
    for (const record of files) records.set(record.id, record);
    after = files.at(-1)?.id;
    if (files.length < RECORDS_PER_PAGE || after === undefined) return records;
  }
}
