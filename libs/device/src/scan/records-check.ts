import { type FileRecord, findRemovedFiles, LIMITS, listNodeRecords, ServiceError } from '@workspace-graph/contracts';
import type { DeviceParts } from '../device-parts.js';
import type { Mirrors } from '../mirrors/mirrors.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import { tellsOtherwise } from './doubts.js';
import type { Scanner } from './scanner.js';

const RECORDS_PER_PAGE = 2_000;
/** What a scan leaves for another look is looked at this often; the watcher does the rest. */
const LOOKS = 3;

/**
 * Compares the registry with the records after a start: the records may have been restored from a backup. What has no
 * record any more is registered anew; a record that was never pushed is made to tell what lies on this disk, and is
 * removed when nothing does.
 */
export class RecordsCheck {
  constructor(
    private readonly parts: DeviceParts,
    private readonly scanner: Scanner,
    private readonly mirrors: Mirrors,
  ) {}

  /** The registry of all nodes comes first: a file may have been restored to another node than the one it lies in. */
  async run(): Promise<void> {
    const doubted = new Map<string, string[]>();
    for (const row of this.mirrors.all())
      await this.attempt(row, async () => void doubted.set(row.nodeId, await this.checkNode(row)));
    for (const row of this.mirrors.all())
      await this.attempt(row, () => this.look(row.nodeId, doubted.get(row.nodeId) ?? []));
  }

  private async attempt({ nodeId }: MirrorRow, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'NODE_NOT_FOUND') this.mirrors.doubt(nodeId);
      else this.parts.logger.info({ err: error, node: nodeId }, 'records and registry could not be compared');
    }
  }

  private async look(nodeId: string, paths: readonly string[]): Promise<void> {
    let scope = paths;
    for (let looks = 0; looks < LOOKS && scope.length > 0; looks += 1)
      scope = [...(await this.scanner.reconcile(nodeId, scope)).again.keys()];
  }

  /** Paths of which records and registry tell different things; the next look settles them. */
  private async checkNode(row: MirrorRow): Promise<string[]> {
    const { nodeId } = row;
    const { service, store } = this.parts;
    const differing: string[] = [];
    for (let after = ''; ; ) {
      const input = { node_id: nodeId, limit: RECORDS_PER_PAGE, ...(after && { after }) };
      const { files } = await service.call(listNodeRecords, input, null);
      const last = files.length < RECORDS_PER_PAGE ? null : (files.at(-1)?.id ?? null);
      service.recollection?.rememberPage(nodeId, files, after, last);
      const ids = new Set(files.map(({ id }) => id));
      const unrecorded = store.scans.idsBetween(nodeId, after, last).filter((id) => !ids.has(id));
      differing.push(...(await this.lost(nodeId, unrecorded)).map(({ path }) => path));
      for (const record of files) if (this.isToldOtherwise(row, record)) differing.push(record.path);
      if (last === null) break;
      after = last;
    }
    store.scans.putDoubts(nodeId, differing);
    return differing;
  }

  /** Those files without a record that are to have one again. */
  private async lost(nodeId: string, unrecorded: readonly string[]): Promise<FileState[]> {
    const files = unrecorded.flatMap((id) => this.parts.store.file(id) ?? []);
    if (!this.parts.settings.sharesRecords) return files;
    // What was never in common with a remote was removed by nobody else.
    const asked = files.filter(({ lastSyncedHash, sha256 }) => lastSyncedHash !== null && lastSyncedHash === sha256);
    const removed = new Set<string>();
    for (let start = 0; start < asked.length; start += LIMITS.filesPerChange) {
      const ids = asked.slice(start, start + LIMITS.filesPerChange).map(({ fileId }) => fileId);
      const answer = await this.parts.service.call(findRemovedFiles, { node_id: nodeId, ids }, null);
      for (const id of answer.ids) removed.add(id);
    }
    return files.filter(({ fileId }) => !removed.has(fileId));
  }

  /** A record of which this device knows nothing counts when its folder was there before. */
  private isToldOtherwise({ nodeId, createdAt }: MirrorRow, record: FileRecord): boolean {
    if (record.last_pushed_at !== null) return false;
    const file = this.parts.store.file(record.id);
    if (file?.nodeId === nodeId) return tellsOtherwise(file, record);
    return !this.parts.settings.sharesRecords && record.created_at > createdAt;
  }
}
