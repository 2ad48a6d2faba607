import {
  type FileChange,
  type FileChangeResult,
  type FileRecord,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import { type AuditRecord, changedFields } from '@workspace-graph/database';
import { parseFilePath, pathKey } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import { fileNotFound, nodeIsReadOnly, nodeNotFound } from '../shared/caller.js';
import type { LockedNode } from './change.statements.js';

/** A document of a cloud service that lies on the remote of its node. It has no content, and only its record can be removed. */
export interface RegisteredDocument {
  readonly kind: 'document';
  readonly path: string;
  readonly mime_type: string;
  readonly modified_at: string;
}

/** What may happen to the records of a node. */
export type RecordChange = FileChange | RegisteredDocument;

/** What changes are worked out from: the node they are of, and what they name. */
export interface ChangeBasis {
  readonly nodeId: string;
  readonly action: string;
  readonly strict: boolean;
  /** The nodes that the caller may see, by id. */
  readonly nodes: ReadonlyMap<string, LockedNode>;
  /** The files that the changes name, by id or by path. */
  readonly files: readonly FileRecord[];
  /** Files that were removed from the node and may come back: their last versions, by id. */
  readonly removed: ReadonlyMap<string, number>;
  readonly now: string;
}

export interface Tombstone {
  readonly file_id: string;
  readonly node_id: string;
  readonly path: string;
  readonly remote_name: string | null;
  readonly remote_path: string;
  readonly sha256: string | null;
  readonly reason: 'deleted' | 'moved';
}

/** A file with the form in which its path is compared. */
export interface KeyedFile {
  readonly file: FileRecord;
  readonly key: string;
}

/** What is to be written, and what is to be answered. */
export interface ChangePlan {
  readonly results: readonly FileChangeResult[];
  readonly inserted: readonly KeyedFile[];
  readonly updated: readonly KeyedFile[];
  readonly removed: readonly string[];
  readonly tombstones: readonly Tombstone[];
  readonly audits: readonly AuditRecord[];
  /** Nodes of which a file changed. */
  readonly nodeIds: readonly string[];
}

/** Where a change puts a file, in NFC, with the form in which paths are compared; or why that is no path. */
export type NamedPath =
  | { readonly nodeId: string; readonly path: string; readonly key: string }
  | { readonly nodeId: string; readonly problem: string };
type ValidPath = Exclude<NamedPath, { problem: string }>;

/** What a change names; null for one that leaves the file where it is. */
export function pathNamedBy(nodeId: string, change: RecordChange): NamedPath | null {
  if (change.kind === 'update' || change.kind === 'remove') return null;
  const target = change.kind === 'move' ? (change.node_id ?? nodeId) : nodeId;
  const parsed = parseFilePath(change.path);
  if ('problem' in parsed) return { nodeId: target, problem: parsed.problem };
  const { path } = parsed.value;
  return { nodeId: target, path, key: pathKey(path) };
}

export interface NamedChange {
  readonly change: RecordChange;
  readonly to: NamedPath | null;
}

/**
 * Works changes out one after the other: each finds what the ones before it left. So a path is free for the next change
 * once its file has left it, and two files exchange their paths in three moves of one call, by way of a third path. A
 * refused change leaves everything as it was before it; with `strict` it is thrown.
 */
export function planChanges(basis: ChangeBasis, changes: readonly NamedChange[]): ChangePlan {
  return new ChangePlanner(basis).plan(changes);
}

class ChangePlanner {
  private readonly files = new Map<string, KeyedFile>();
  private readonly byPath = new Map<string, string>();
  private readonly known = new Map<string, FileRecord>();
  private readonly tombstones: Tombstone[] = [];
  private readonly audits: AuditRecord[] = [];
  private readonly nodeIds = new Set<string>();

  constructor(private readonly basis: ChangeBasis) {
    for (const file of basis.files) {
      this.known.set(file.id, file);
      this.hold(file, pathKey(file.path));
    }
  }

  plan(changes: readonly NamedChange[]): ChangePlan {
    const results = changes.map(({ change, to }, index) => this.attempt(change, to, index));
    const left = [...this.files.values()];
    return {
      results,
      inserted: left.filter(({ file }) => !this.known.has(file.id)),
      updated: left.filter(({ file }) => this.known.has(file.id) && this.known.get(file.id) !== file),
      removed: [...this.known.keys()].filter((id) => !this.files.has(id)),
      tombstones: this.tombstones,
      audits: this.audits,
      nodeIds: [...this.nodeIds],
    };
  }

  private attempt(change: RecordChange, to: NamedPath | null, index: number): FileChangeResult {
    try {
      return { file: this.change(change, to === null ? null : this.allowed(to, index)) };
    } catch (error) {
      if (this.basis.strict || !(error instanceof ServiceError)) throw error;
      return { refused: error.code, message: error.message };
    }
  }

  private change(change: RecordChange, to: ValidPath | null): FileRecord | null {
    if (change.kind === 'register' || change.kind === 'document') return this.register(change, to);
    const held = this.files.get(change.file_id);
    if (change.kind === 'move' && held && isAt(held.file, to)) return held.file;
    if (held?.file.node_id !== this.basis.nodeId) {
      if (change.kind === 'remove') return null;
      throw fileNotFound(change.file_id);
    }
    refuseStale(held.file, change.expected_version);
    const stays = change.kind === 'remove' && change.unless_pushed && held.file.last_pushed_at !== null;
    if (stays) return held.file;
    if (change.kind === 'remove') return this.remove(held, change.tombstone);
    if (held.file.is_native_format) throw isDocument(held.file.path);
    return change.kind === 'move' ? this.move(held, to) : this.rewrite(held, contentOf(change));
  }

  /** @throws ServiceError NODE_NOT_FOUND or FORBIDDEN of the node that a path is in, VALIDATION_FAILED of the path */
  private allowed(to: NamedPath, index: number): ValidPath {
    const node = this.basis.nodes.get(to.nodeId);
    if (!node) throw nodeNotFound(to.nodeId);
    if (node.level < WRITE) throw nodeIsReadOnly(to.nodeId);
    if ('problem' in to) throw validationFailed([{ path: `changes.${index}.path`, message: to.problem }]);
    return to;
  }

  private register(change: RecordChange & { kind: 'register' | 'document' }, at: ValidPath | null): FileRecord {
    const to = named(at);
    const there = this.at(to);
    if (there && (there.file.path !== to.path || change.kind === 'document')) throw occupied(to.path);
    if (there?.file.is_native_format) throw occupied(to.path);
    const content = contentOf(change.kind === 'document' ? { ...change, ...WITHOUT_BYTES } : change);
    if (there) return this.rewrite(there, content);
    const file: FileRecord = {
      ...(change.kind === 'document' ? { id: newId(), version: 1 } : this.identityOf(change)),
      node_id: to.nodeId,
      path: to.path,
      ...content,
      remote_name: null,
      current_remote_hash: null,
      last_pushed_at: null,
      is_native_format: change.kind === 'document',
      created_at: this.basis.now,
      updated_at: this.basis.now,
    };
    this.audit(file, { after: { node_id: file.node_id, path: file.path, ...content } });
    return this.hold(file, to.key);
  }

  /** Whoever names an id that is in use, or was never this node's, learns nothing: the file is a new one. */
  private identityOf({ file_id: fileId = '' }: FileChange & { kind: 'register' }): Pick<FileRecord, 'id' | 'version'> {
    const version = this.basis.removed.get(fileId);
    if (version === undefined || this.files.has(fileId)) return { id: newId(), version: 1 };
    return { id: fileId, version: version + 1 };
  }

  private rewrite({ file, key }: KeyedFile, content: Content): FileRecord {
    const changed = changedFields(contentOf(file), content);
    if (!changed) return file;
    this.audit(file, changed);
    return this.hold(this.newer(file, content), key);
  }

  private move(held: KeyedFile, at: ValidPath | null): FileRecord {
    const to = named(at);
    const { file } = held;
    const there = this.at(to);
    if (there && there.file.id !== file.id) throw occupied(to.path);
    const place = { node_id: to.nodeId, path: to.path };
    this.audit(file, changedFields({ node_id: file.node_id, path: file.path }, place) ?? {}, to.nodeId);
    this.bury(file, 'moved');
    this.release(held);
    return this.hold(this.newer(file, place), to.key);
  }

  private remove(held: KeyedFile, tombstone: boolean): null {
    const { file } = held;
    if (tombstone) this.bury(file, 'deleted');
    this.release(held);
    this.files.delete(file.id);
    const { node_id, path, version } = file;
    this.audit(file, { before: { node_id, path, ...contentOf(file), version } });
    return null;
  }

  private newer(file: FileRecord, fields: Partial<FileRecord>): FileRecord {
    return { ...file, ...fields, version: file.version + 1, updated_at: this.basis.now };
  }

  private at({ nodeId, key }: ValidPath): KeyedFile | undefined {
    return this.files.get(this.byPath.get(`${nodeId} ${key}`) ?? '');
  }

  private hold(file: FileRecord, key: string): FileRecord {
    this.files.set(file.id, { file, key });
    this.byPath.set(`${file.node_id} ${key}`, file.id);
    return file;
  }

  private release({ file, key }: KeyedFile): void {
    this.byPath.delete(`${file.node_id} ${key}`);
  }

  private bury({ id, node_id, path, remote_name, sha256 }: FileRecord, reason: Tombstone['reason']): void {
    const folder = this.basis.nodes.get(node_id)?.folder ?? '';
    this.tombstones.push({ file_id: id, node_id, path, remote_name, remote_path: `${folder}/${path}`, sha256, reason });
  }

  /** `toNode`: where the file goes. */
  private audit(file: FileRecord, changed: Pick<AuditRecord, 'before' | 'after'>, toNode = file.node_id): void {
    const concerns = [file.node_id, toNode] as const;
    for (const nodeId of concerns) this.nodeIds.add(nodeId);
    this.audits.push({ action: this.basis.action, targetKind: 'file', targetId: file.id, concerns, ...changed });
  }
}

/** Level of a caller who may write on a node. */
const WRITE = 2;

const WITHOUT_BYTES = { sha256: null, size_bytes: null };

type Content = Pick<FileRecord, 'sha256' | 'size_bytes' | 'mime_type' | 'modified_at'>;

function contentOf({ sha256, size_bytes, mime_type, modified_at }: Content): Content {
  return { sha256, size_bytes, mime_type, modified_at };
}

/** The refusal of what only its cloud service can do with a document. */
export function isDocument(path: string): ServiceError {
  const message = `${path} is a document of a cloud service: change, move or delete it there. Only its record can be removed here.`;
  return new ServiceError('NATIVE_FORMAT', message, { path });
}

function refuseStale(file: FileRecord, expected: number | undefined): void {
  if (expected === undefined || expected === file.version) return;
  const message = `The file ${file.id} now has version ${file.version}, not ${expected}.`;
  throw new ServiceError('CONFLICT', message, { current: file });
}

function isAt(file: FileRecord, to: ValidPath | null): boolean {
  return file.node_id === to?.nodeId && file.path === to.path;
}

function named(to: ValidPath | null): ValidPath {
  if (to === null) throw new Error('The change has no path');
  return to;
}

function occupied(path: string): ServiceError {
  return new ServiceError('DESTINATION_EXISTS', `The path ${path} is taken by another file.`, { path });
}
