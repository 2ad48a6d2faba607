import { type FileRecord, findFiles, LIMITS } from '@workspace-graph/contracts';
import { pathKey } from '@workspace-graph/domain';
import type { DeviceParts } from '../device-parts.js';
import type { FileState } from '../store/device-store.js';
import type { Findings } from './findings.js';

export interface SettledDoubts extends Findings {
  readonly looked: ReadonlySet<string>;
}

/**
 * Paths of one node of which nobody knows whether their last change arrived at the records: the reply was lost, or the
 * records were restored. Before a scan decides anything, the registry is made to tell what the records tell.
 */
export class Doubts {
  constructor(
    private readonly parts: DeviceParts,
    private readonly nodeId: string,
  ) {}

  /** Kept until `settle` and `drop`, whatever happens in between. */
  put(paths: readonly string[]): void {
    this.parts.store.scans.putDoubts(this.nodeId, paths);
  }

  paths(): ReadonlySet<string> {
    return this.parts.store.scans.doubts(this.nodeId);
  }

  /** These are as the registry tells them, except those that are doubted. */
  drop(paths: Iterable<string>, doubted: ReadonlySet<string>): void {
    const sure = [...paths].filter((path) => !doubted.has(path));
    if (sure.length > 0) this.parts.store.scans.removeDoubts(this.nodeId, sure);
  }

  /**
   * Lets the registry follow the records. Call it while the node is locked.
   * @returns the paths of both sides, which are to be looked at: no stamp of them is known any more where they differed;
   * and those that are left to the next scan
   * @throws ServiceError of the file service
   */
  async settle(): Promise<SettledDoubts> {
    const { store, files } = this.parts;
    const looked = new Set(this.paths());
    const known = new Map<string, FileState>();
    const records = new Map<string, FileRecord>();
    for (let next = [...looked]; next.length > 0; ) {
      const here = next.flatMap((path) => store.fileAt(this.nodeId, pathKey(path)) ?? []);
      for (const file of here) known.set(file.fileId, file);
      const found = await this.find(here, next);
      for (const record of found) records.set(record.id, record);
      next = this.pathsOf(found).filter((path) => !looked.has(path));
      for (const path of next) looked.add(path);
    }
    if (looked.size > 0) this.put([...looked]);
    const remove = [...known.keys()].filter((id) => records.get(id)?.node_id !== this.nodeId);
    const put = [...records.values()].flatMap((record) => this.stateOf(record) ?? []);
    if (put.length + remove.length > 0) files.follow({ nodeId: this.nodeId, changed: put, removed: remove });
    const differing = put.filter(({ fileId, sha256 }) => records.get(fileId)?.sha256 !== sha256);
    const doubted = differing.map(({ path }) => path);
    this.put(doubted);
    return { looked, doubted };
  }

  /** Where records and registry see these files: whoever is known there has to give way, so its record counts too. */
  private pathsOf(records: readonly FileRecord[]): string[] {
    const paths = records.flatMap(({ id, node_id, path }) => {
      const file = this.parts.store.file(id);
      return [...(node_id === this.nodeId ? [path] : []), ...(file?.nodeId === this.nodeId ? [file.path] : [])];
    });
    return [...new Set(paths)];
  }

  private async find(known: readonly FileState[], paths: readonly string[]): Promise<FileRecord[]> {
    const found: FileRecord[] = [];
    for (let start = 0; start < paths.length; start += LIMITS.filesPerChange) {
      const [ids, part] = [known, paths].map((all) => all.slice(start, start + LIMITS.filesPerChange));
      const input = {
        ids: (ids as FileState[]).map(({ fileId }) => fileId),
        paths: (part as string[]).map((path) => ({ node_id: this.nodeId, path })),
      };
      const { files } = await this.parts.service.call(findFiles, input, null);
      found.push(...files.map(({ file }) => file));
    }
    return found;
  }

  /** What the registry is to tell of a record; null where it tells so already, and of what other devices may have. */
  private stateOf(record: FileRecord): FileState | null {
    if (record.node_id !== this.nodeId || record.last_pushed_at !== null) return null;
    const file = this.parts.store.file(record.id);
    const isHere = file?.nodeId === this.nodeId;
    if (!file && this.parts.settings.sharesRecords) return null;
    if (file && isHere && !tellsOtherwise(file, record)) return null;
    const { id, path, version } = record;
    return {
      fileId: id,
      nodeId: this.nodeId,
      path,
      pathKey: pathKey(path),
      // By its old content a scan finds where the file went to; what the record tells of it comes with the next look.
      sha256: isHere && file.path !== path ? file.sha256 : (record.sha256 ?? ''),
      sizeBytes: record.size_bytes ?? 0,
      stamp: null,
      inode: isHere ? file.inode : null,
      isDeleted: false,
      wasPushed: false,
      lastSyncedHash: file?.lastSyncedHash ?? null,
      version,
    };
  }
}

/** Whether the registry and the record of a file differ. */
export function tellsOtherwise(file: FileState, record: FileRecord): boolean {
  return file.version !== record.version || file.sha256 !== record.sha256 || file.path !== record.path;
}
