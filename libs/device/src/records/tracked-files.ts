import {
  applyFileChanges,
  type FileChange,
  type FileChangeResult,
  type FileRecord,
  LIMITS,
} from '@workspace-graph/contracts';
import type { SeenContent } from '@workspace-graph/disk';
import { pathKey } from '@workspace-graph/domain';
import type { DeviceStore, FileState } from '../store/device-store.js';
import type { FileDelta } from './file-delta.js';
import type { Asker, FileService } from './file-service.js';

export type DeltaResult = { readonly file: FileRecord | null } | { readonly refused: string; readonly message: string };

/** How deltas are applied. */
export interface DeltaOptions {
  /** Name of the operation for the audit trail. */
  readonly action: string;
  /** On whose behalf: the caller of an operation, or null for the device itself. */
  readonly asker: Asker;
  /** True: one refusal refuses all and is thrown. Then there are at most `LIMITS.filesPerChange` deltas. */
  readonly strict: boolean;
}

/** Sent to listeners after records and registry agree again. */
export interface FilesChanged {
  /** The node whose files changed. */
  readonly nodeId: string;
  /** Registered, with new content, or at a new path. */
  readonly changed: readonly FileState[];
  /** Ids of files that are no longer tracked. */
  readonly removed: readonly string[];
}

export type DoubtListener = (nodeId: string, paths: readonly string[]) => void;

/**
 * The one way by which what is on this disk becomes true in the graph: first the records, which all devices share, then
 * the registry of this device, then those who listen. After a crash in between, the next scan finds the same deltas
 * again, and applying them twice changes nothing. Call it while the node is locked.
 */
export class TrackedFiles {
  private readonly listeners = new Set<(change: FilesChanged) => void>();

  private readonly doubters = new Set<DoubtListener>();

  constructor(
    private readonly service: FileService,
    private readonly store: DeviceStore,
  ) {}

  /** Returns the function that ends listening. */
  onChange(listener: (change: FilesChanged) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Told of paths at which records and registry may differ. Returns the function that ends listening. */
  onDoubt(listener: DoubtListener): () => void {
    this.doubters.add(listener);
    return () => void this.doubters.delete(listener);
  }

  /** Lets the registry tell what records were found to tell, and then those who listen. */
  follow(change: FilesChanged): void {
    this.store.changeFiles({ put: change.changed, remove: change.removed });
    this.notify(change);
  }

  /** @throws ServiceError of the file service; with `strict` also the first refusal */
  async apply(nodeId: string, deltas: readonly FileDelta[], options: DeltaOptions): Promise<DeltaResult[]> {
    const results: DeltaResult[] = [];
    for (let start = 0; start < deltas.length; start += LIMITS.filesPerChange)
      results.push(...(await this.applyChunk(nodeId, deltas.slice(start, start + LIMITS.filesPerChange), options)));
    return results;
  }

  private async applyChunk(
    nodeId: string,
    deltas: readonly FileDelta[],
    options: DeltaOptions,
  ): Promise<DeltaResult[]> {
    try {
      const answers = await this.applyShared(nodeId, deltas, options);
      return this.followAnswers(nodeId, deltas, answers);
    } catch (error) {
      this.doubt(nodeId, deltas, options);
      const isAsked = options.strict && options.asker !== null;
      const waiting = isAsked ? this.service.memoryFor(error, options.asker)?.apply(nodeId, deltas) : null;
      if (!waiting) throw error;
      // The registry stays as it is: by what differs from it, the next scan finds what to tell.
      return waiting;
    }
  }

  private followAnswers(
    nodeId: string,
    deltas: readonly FileDelta[],
    answers: readonly (FileChangeResult | null)[],
  ): DeltaResult[] {
    const put: FileState[] = [];
    const remove: string[] = [];
    const told: FileRecord[] = [];
    const results = deltas.map((delta, index): DeltaResult => {
      const answer = answers[index] ?? { file: null };
      if ('refused' in answer) return answer;
      const state = stateAfter(nodeId, delta, answer.file);
      if (state) put.push(state);
      const known = knownBefore(delta);
      if (known && known.fileId !== state?.fileId) remove.push(known.fileId);
      const record = delta.kind === 'pulled' ? delta.record : answer.file;
      if (record) told.push(record);
      return { file: answer.file };
    });
    this.service.recollection?.settled(told, remove);
    if (put.length > 0 || remove.length > 0) this.follow({ nodeId, changed: put, removed: remove });
    return results;
  }

  /** One answer for each delta; null for those that stay on this device. */
  private async applyShared(
    nodeId: string,
    deltas: readonly FileDelta[],
    { action, asker, strict }: DeltaOptions,
  ): Promise<(FileChangeResult | null)[]> {
    const changes = deltas.map(changeOf);
    const shared = changes.filter((change) => change !== null);
    if (shared.length === 0) return [];
    const input = { node_id: nodeId, action, changes: shared, strict };
    const { results } = await this.service.call(applyFileChanges, input, asker);
    const answers = results[Symbol.iterator]();
    return changes.map((change) => (change === null ? null : (answers.next().value ?? null)));
  }

  /** What fails may have been carried out: its reply was lost, or the registry full. The next scan asks what the records tell. */
  private doubt(nodeId: string, deltas: readonly FileDelta[], { strict }: DeltaOptions): void {
    const paths = deltas.flatMap((delta) => [
      ...('file' in delta ? [delta.file.path] : []),
      ...('path' in delta ? [delta.path] : []),
    ]);
    const others = deltas.flatMap((delta) =>
      'toNodeId' in delta && delta.toNodeId !== undefined ? delta.toNodeId : [],
    );
    for (const id of new Set([nodeId, ...others])) {
      if (!this.store.mirror(id)) continue;
      this.store.scans.putDoubts(id, paths);
      // A scan tries again by itself.
      if (strict) for (const listener of this.doubters) listener(id, paths);
    }
  }

  private notify(change: FilesChanged): void {
    for (const listener of this.listeners) listener(change);
  }
}

function changeOf(delta: FileDelta): FileChange | null {
  switch (delta.kind) {
    case 'register':
      return {
        kind: 'register',
        path: delta.path,
        ...contentOf(delta.seen),
        ...(delta.fileId === undefined ? {} : { file_id: delta.fileId }),
      };
    case 'update':
      return { kind: 'update', file_id: delta.file.fileId, ...contentOf(delta.seen), ...versionOf(delta) };
    case 'move':
      return {
        kind: 'move',
        file_id: delta.file.fileId,
        path: delta.path,
        ...(delta.toNodeId === undefined ? {} : { node_id: delta.toNodeId }),
        ...versionOf(delta),
      };
    case 'remove':
      return {
        kind: 'remove',
        file_id: delta.file.fileId,
        tombstone: delta.tombstone,
        ...(delta.unlessPushed === undefined ? {} : { unless_pushed: delta.unlessPushed }),
        ...versionOf(delta),
      };
    case 'touch':
    case 'gone':
    case 'pulled':
      return null;
  }
}

function knownBefore(delta: FileDelta): FileState | null {
  if (delta.kind === 'pulled') return delta.replaces;
  return 'file' in delta ? delta.file : null;
}

function versionOf({ expectedVersion }: { readonly expectedVersion?: number }) {
  return expectedVersion === undefined ? {} : { expected_version: expectedVersion };
}

function contentOf(seen: SeenContent) {
  return {
    sha256: seen.sha256,
    size_bytes: seen.sizeBytes,
    mime_type: seen.mimeType,
    modified_at: seen.modifiedAt,
  };
}

/** What the device knows after a delta; null for a file that it knows no more. */
function stateAfter(nodeId: string, delta: FileDelta, record: FileRecord | null): FileState | null {
  switch (delta.kind) {
    case 'register':
    case 'update':
    case 'move': {
      if (!record) return null;
      const before = delta.kind === 'register' ? null : delta.file;
      // Another device may have moved it: here it lies where it lay until it is pulled.
      const here = delta.kind === 'update' ? { node_id: nodeId, path: delta.file.path } : {};
      return stateOf({ ...record, ...here }, delta.seen, {
        wasPushed: record.last_pushed_at !== null,
        lastSyncedHash: before?.lastSyncedHash ?? null,
      });
    }
    case 'pulled':
      return stateOf(delta.record, delta.seen, { wasPushed: true, lastSyncedHash: delta.seen.sha256 });
    case 'touch':
      return { ...delta.file, nodeId, stamp: delta.seen.stamp, inode: delta.seen.inode, isDeleted: false };
    case 'gone':
      return { ...delta.file, nodeId, stamp: null, inode: null, isDeleted: true };
    case 'remove':
      return null;
  }
}

function stateOf(
  record: FileRecord,
  seen: SeenContent,
  synced: Pick<FileState, 'wasPushed' | 'lastSyncedHash'>,
): FileState {
  return {
    fileId: record.id,
    nodeId: record.node_id,
    path: record.path,
    pathKey: pathKey(record.path),
    sha256: seen.sha256,
    sizeBytes: seen.sizeBytes,
    stamp: seen.stamp,
    inode: seen.inode,
    isDeleted: false,
    ...synced,
    version: record.version,
  };
}
