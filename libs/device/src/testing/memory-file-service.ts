import { isDeepStrictEqual } from 'node:util';
import {
  applyFileChanges,
  type Caller,
  type FileChange,
  type FileChangeResult,
  type FileIntent,
  type FileRecord,
  findFiles,
  findPlaces,
  findRemovedFiles,
  listFileIntents,
  listNodeRecords,
  type NodePlace,
  noteFileIntents,
  type Operation,
  type ParsedInputOf,
  type PlacedFile,
  queryFiles,
  ServiceError,
  settleFileIntents,
  validationFailed,
} from '@workspace-graph/contracts';
import { parseFilePath, pathKey } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';

interface FakeNode extends Omit<NodePlace, 'level'> {
  /** Users who see it; undefined for everybody. */
  readonly seenBy?: ReadonlySet<string>;
  /** Users who see its organization; undefined for everybody. */
  readonly organizationSeenBy?: ReadonlySet<string>;
  /** Users who may write on it; undefined for everybody who sees it. */
  readonly writtenBy?: ReadonlySet<string>;
}

/** Operations of the file service over maps: quick, and it can be told to fail. The real one is held to the same specs. */
export class MemoryFileService {
  readonly nodes = new Map<string, FakeNode>();
  /** Nodes that sessions hold, by the sessions' ids. */
  readonly sessions = new Map<string, ReadonlySet<string>>();
  readonly records = new Map<string, FileRecord>();
  readonly intents = new Map<string, FileIntent>();
  /** Devices that noted intents, by the intents' ids. */
  private readonly noters = new Map<string, string | undefined>();
  /** Records that were removed, by id. */
  private readonly removed = new Map<string, FileRecord>();
  readonly tombstones: { file_id: string; node_id: string; path: string }[] = [];
  /** Thrown by the next calls of an operation, by its name, until it is removed. */
  readonly failures = new Map<string, Error>();
  /** Operations, by their names, that are carried out and whose replies do not arrive. */
  readonly lostReplies = new Set<string>();
  /** The same, of a centre that went out of reach meanwhile. */
  readonly unanswered = new Set<string>();
  calls = 0;

  static readonly operations: readonly Operation[] = [
    findPlaces,
    findFiles,
    queryFiles,
    listNodeRecords,
    findRemovedFiles,
    applyFileChanges,
    noteFileIntents,
    settleFileIntents,
    listFileIntents,
  ];

  /** Adds a node; answers its id. */
  node(node: Partial<FakeNode> & Pick<FakeNode, 'name'>): string {
    const nodeId = node.node_id ?? newId();
    const type = node.type ?? 'project';
    this.nodes.set(nodeId, {
      type,
      sync_key: node.name.toLowerCase(),
      organization_sync_key: type === 'organization' ? null : 'acme',
      ...node,
      node_id: nodeId,
    });
    return nodeId;
  }

  recordsOf(nodeId: string): FileRecord[] {
    return [...this.records.values()].filter((record) => record.node_id === nodeId);
  }

  recordAt(nodeId: string, path: string): FileRecord | undefined {
    return this.recordsOf(nodeId).find((record) => pathKey(record.path) === pathKey(path));
  }

  /** Fits `Bus.serve`. */
  readonly dispatch = async (
    operation: Operation,
    input: unknown,
    { envelope }: { readonly envelope: { readonly caller: Caller | null } },
  ): Promise<unknown> => {
    this.calls += 1;
    const failure = this.failures.get(operation.name);
    if (failure) throw failure;
    const answer = this.answer(operation, operation.input.parse(input), envelope.caller);
    if (this.unanswered.has(operation.name)) throw new ServiceError('SERVICE_UNAVAILABLE', 'The connection broke.');
    if (this.lostReplies.has(operation.name)) throw new ServiceError('TIMEOUT', 'The reply was lost.');
    return answer;
  };

  private answer(operation: Operation, input: unknown, caller: Caller | null): unknown {
    switch (operation.name) {
      case findPlaces.name:
        return {
          places: this.heldOnly(input as ParsedInputOf<typeof findPlaces>, caller).flatMap(
            (id) => this.placeOf(id, caller) ?? [],
          ),
        };
      case findFiles.name:
        return { files: this.find(input as ParsedInputOf<typeof findFiles>, caller) };
      case findRemovedFiles.name: {
        const { node_id, ids } = input as ParsedInputOf<typeof findRemovedFiles>;
        this.mustSee(node_id, caller);
        const buried = this.tombstones.filter((stone) => stone.node_id === node_id).map(({ file_id }) => file_id);
        return { ids: ids.filter((id) => buried.includes(id) && this.records.get(id)?.node_id !== node_id) };
      }
      case queryFiles.name:
        return this.list(input as ParsedInputOf<typeof queryFiles>, caller);
      case listNodeRecords.name: {
        const { node_id, after = '', limit } = input as ParsedInputOf<typeof listNodeRecords>;
        this.mustSee(node_id, caller);
        const records = this.recordsOf(node_id).filter(({ id }) => id > after);
        return { files: records.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit) };
      }
      case applyFileChanges.name:
        return this.apply(input as ParsedInputOf<typeof applyFileChanges>, caller);
      case noteFileIntents.name:
        return this.note(input as ParsedInputOf<typeof noteFileIntents>, caller);
      case settleFileIntents.name: {
        return this.settle(input as ParsedInputOf<typeof settleFileIntents>, caller);
      }
      case listFileIntents.name: {
        const { node_ids } = input as ParsedInputOf<typeof listFileIntents>;
        const ends = ({ node_id, to_node_id }: FileIntent): string[] =>
          to_node_id === null ? [node_id] : [node_id, to_node_id];
        const isAsked = (intent: FileIntent): boolean => ends(intent).some((id) => node_ids.includes(id));
        const isSeen = (intent: FileIntent): boolean => ends(intent).every((id) => this.isSeen(id, caller));
        const own = [...this.intents.values()].filter(({ id }) => this.isOwn(id, caller));
        return { intents: own.filter((intent) => isAsked(intent) && isSeen(intent)) };
      }
      default:
        throw new Error(`${operation.name} is not an operation of the file service`);
    }
  }

  /** A node as a caller sees it; null when it does not. */
  placeOf(nodeId: string, caller: Caller | null): NodePlace | null {
    const node = this.nodes.get(nodeId);
    if (!node) return null;
    const { seenBy, organizationSeenBy, writtenBy, ...place } = node;
    const all = caller === null || caller.scope === 'manage';
    if (!all && seenBy && !seenBy.has(caller.user_id)) return null;
    const seesOrganization = all || (organizationSeenBy?.has(caller.user_id) ?? true);
    const organization_sync_key = seesOrganization ? place.organization_sync_key : null;
    return {
      ...place,
      organization_sync_key,
      level: all || !writtenBy || writtenBy.has(caller.user_id) ? 'write' : 'read',
    };
  }

  private mustSee(nodeId: string, caller: Caller | null): NodePlace {
    const place = this.placeOf(nodeId, caller);
    if (!place) throw new ServiceError('NODE_NOT_FOUND', `There is no node ${nodeId} that you may see.`);
    return place;
  }

  private mustWrite(nodeId: string, caller: Caller | null): void {
    if (this.mustSee(nodeId, caller).level === 'read')
      throw new ServiceError('FORBIDDEN', `You may read the node ${nodeId}, but not write to it.`, { node_id: nodeId });
  }

  /** The device itself may still see what is said of a node that is gone. */
  private isSeen(nodeId: string, caller: Caller | null): boolean {
    return caller === null || caller.scope === 'manage' || this.placeOf(nodeId, caller) !== null;
  }

  /** A device settles what it noted; what a spec laid there belongs to any. */
  private isOwn(intentId: string, caller: Caller | null): boolean {
    return !this.noters.has(intentId) || this.noters.get(intentId) === caller?.device_id;
  }

  private find({ ids, paths }: ParsedInputOf<typeof findFiles>, caller: Caller | null): PlacedFile[] {
    const found = [
      ...ids.map((id) => this.records.get(id)),
      ...paths.map(({ node_id, path }) => this.recordAt(node_id, path)),
    ].filter((record) => record !== undefined);
    return this.placed(found, caller);
  }

  private placed(records: readonly FileRecord[], caller: Caller | null): PlacedFile[] {
    return records.flatMap((file) => {
      const place = this.placeOf(file.node_id, caller);
      return place ? [{ file, place }] : [];
    });
  }

  private list(
    { node_id, status, limit, cursor }: ParsedInputOf<typeof queryFiles>,
    caller: Caller | null,
  ): { items: PlacedFile[]; next_cursor: string | null } {
    const nodes = node_id === undefined ? this.heldBy(caller) : new Set([this.mustSee(node_id, caller).node_id]);
    const section = status === 'output' ? 'outputs' : status;
    const records = [...this.records.values()]
      .filter((record) => nodes?.has(record.node_id) ?? true)
      .filter(({ path }) => section === undefined || path.startsWith(`${section}/`))
      .toSorted((a, b) => b.updated_at.localeCompare(a.updated_at) || b.id.localeCompare(a.id));
    const start = Number(cursor ?? 0);
    if (!Number.isInteger(start))
      throw validationFailed([{ path: 'cursor', message: 'must be the next_cursor of a page of this list' }]);
    const items = this.placed(records, caller);
    return {
      items: items.slice(start, start + limit),
      next_cursor: items.length > start + limit ? String(start + limit) : null,
    };
  }

  /** What the session of the caller holds; null without one. */
  private heldBy(caller: Caller | null): ReadonlySet<string> | null {
    return caller?.session_id ? (this.sessions.get(caller.session_id) ?? new Set()) : null;
  }

  private heldOnly({ node_ids, held }: ParsedInputOf<typeof findPlaces>, caller: Caller | null): readonly string[] {
    const nodes = held ? this.heldBy(caller) : null;
    return node_ids.filter((id) => nodes?.has(id) ?? true);
  }

  private apply(
    { node_id, changes, strict }: ParsedInputOf<typeof applyFileChanges>,
    caller: Caller | null,
  ): { results: FileChangeResult[] } {
    this.mustWrite(node_id, caller);
    const before = { records: new Map(this.records), intents: new Map(this.intents), buried: this.tombstones.length };
    const results = changes.map((change, index): FileChangeResult => {
      try {
        return { file: this.change({ nodeId: node_id, caller, index }, change) };
      } catch (error) {
        if (strict) this.restore(before);
        if (strict || !(error instanceof ServiceError)) throw error;
        return { refused: error.code, message: error.message };
      }
    });
    return { results };
  }

  private restore(before: {
    records: Map<string, FileRecord>;
    intents: Map<string, FileIntent>;
    buried: number;
  }): void {
    this.records.clear();
    for (const [id, record] of before.records) this.records.set(id, record);
    this.intents.clear();
    for (const [id, intent] of before.intents) this.intents.set(id, intent);
    this.tombstones.length = before.buried;
  }

  private change({ nodeId, caller, index }: ChangeContext, change: FileChange): FileRecord | null {
    const to = change.kind === 'move' ? (change.node_id ?? nodeId) : nodeId;
    if (change.kind === 'move') this.mustWrite(to, caller);
    const path = change.kind === 'register' || change.kind === 'move' ? validPath(change.path, index) : '';
    if (change.kind === 'register') return this.register(nodeId, { ...change, path });
    const file = this.records.get(change.file_id);
    if (change.kind === 'move' && file?.node_id === to && file.path === path) return file;
    if (!file || file.node_id !== nodeId) {
      if (change.kind === 'remove') return null;
      throw new ServiceError('FILE_NOT_FOUND', `There is no file ${change.file_id} that you may see.`);
    }
    if (change.expected_version !== undefined && change.expected_version !== file.version)
      throw new ServiceError('CONFLICT', 'The file has been changed.', { current: file });
    switch (change.kind) {
      case 'update':
        return this.rewrite(file, contentOf(change));
      case 'move':
        return this.move(file, { nodeId: to, path });
      case 'remove':
        return this.remove(file, change);
    }
  }

  private register(nodeId: string, change: FileChange & { kind: 'register' }): FileRecord {
    const there = this.recordAt(nodeId, change.path);
    if (there && there.path !== change.path) throw occupied(change.path);
    if (there) return this.rewrite(there, contentOf(change));
    return this.put({
      ...this.identityOf(nodeId, change.file_id ?? ''),
      node_id: nodeId,
      path: change.path,
      ...contentOf(change),
      remote_name: null,
      current_remote_hash: null,
      last_pushed_at: null,
      is_native_format: false,
      created_at: now(),
      updated_at: now(),
    });
  }

  private identityOf(nodeId: string, fileId: string): Pick<FileRecord, 'id' | 'version'> {
    const before = this.removed.get(fileId);
    if (before?.node_id !== nodeId || this.records.has(fileId)) return { id: newId(), version: 1 };
    return { id: fileId, version: before.version + 1 };
  }

  /** Content that is the known one changes nothing. */
  private rewrite(file: FileRecord, content: Content): FileRecord {
    if (isDeepStrictEqual(contentOf(file), content)) return file;
    return this.put({ ...file, ...content, version: file.version + 1, updated_at: now() });
  }

  private move(file: FileRecord, to: { readonly nodeId: string; readonly path: string }): FileRecord {
    const there = this.recordAt(to.nodeId, to.path);
    if (there && there.id !== file.id) throw occupied(to.path);
    this.addTombstone(file);
    return this.put({ ...file, node_id: to.nodeId, path: to.path, version: file.version + 1, updated_at: now() });
  }

  private remove(file: FileRecord, change: FileChange & { kind: 'remove' }): FileRecord | null {
    if (change.unless_pushed && file.last_pushed_at !== null) return file;
    if (change.tombstone) this.addTombstone(file);
    this.records.delete(file.id);
    this.removed.set(file.id, file);
    for (const [id, intent] of this.intents) if (intent.file_id === file.id) this.intents.delete(id);
    return null;
  }

  private put(record: FileRecord): FileRecord {
    this.records.set(record.id, record);
    return record;
  }

  private addTombstone({ id, node_id, path }: FileRecord): void {
    this.tombstones.push({ file_id: id, node_id, path });
  }

  private note({ intents }: ParsedInputOf<typeof noteFileIntents>, caller: Caller | null): { done: true } {
    const issues = intents.flatMap(({ kind, to_path }, index) => {
      const isFit = kind === 'delete' ? to_path === null : to_path !== null && 'value' in parseFilePath(to_path);
      return isFit ? [] : [{ path: `intents.${index}.to_path`, message: `does not fit a ${kind}` }];
    });
    if (issues.length > 0) throw validationFailed(issues);
    for (const { to_node_id } of intents) if (to_node_id !== null) this.mustWrite(to_node_id, caller);
    const files = intents.map(({ file_id }) => {
      const file = this.records.get(file_id);
      if (!file || !this.placeOf(file.node_id, caller))
        throw new ServiceError('FILE_NOT_FOUND', `There is no file ${file_id} that you may see.`);
      this.mustWrite(file.node_id, caller);
      return file;
    });
    files.forEach((file, index) => {
      const intent = intents[index];
      if (!intent || this.intents.has(intent.id)) return;
      this.noters.set(intent.id, caller?.device_id);
      this.intents.set(intent.id, {
        ...intent,
        to_path: intent.to_path?.normalize('NFC') ?? null,
        node_id: file.node_id,
        from_path: file.path,
        sha256: file.sha256,
        last_error: null,
        attempts: 0,
        created_at: now(),
      });
    });
    return { done: true };
  }

  private settle({ outcomes }: ParsedInputOf<typeof settleFileIntents>, caller: Caller | null): { done: true } {
    for (const { id, error } of outcomes) {
      const intent = this.intents.get(id);
      const file = this.records.get(intent?.file_id ?? '');
      if (!intent || !file || !this.isOwn(id, caller) || this.placeOf(file.node_id, caller)?.level !== 'write')
        continue;
      if (error === null) this.intents.delete(id);
      else this.intents.set(id, { ...intent, last_error: error, attempts: intent.attempts + 1 });
    }
    return { done: true };
  }
}

interface ChangeContext {
  readonly nodeId: string;
  readonly caller: Caller | null;
  readonly index: number;
}

type Content = Pick<FileRecord, 'sha256' | 'size_bytes' | 'mime_type' | 'modified_at'>;

function contentOf({ sha256, size_bytes, mime_type, modified_at }: Content): Content {
  return { sha256, size_bytes, mime_type, modified_at };
}

function validPath(text: string, index: number): string {
  const parsed = parseFilePath(text);
  if ('problem' in parsed) throw validationFailed([{ path: `changes.${index}.path`, message: parsed.problem }]);
  return parsed.value.path;
}

function now(): string {
  return new Date().toISOString();
}

function occupied(path: string): ServiceError {
  return new ServiceError('DESTINATION_EXISTS', `The path ${path} is taken by another file.`, { path });
}
