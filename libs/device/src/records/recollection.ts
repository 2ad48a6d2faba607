import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type {
  FileRecord,
  findFiles,
  InputOf,
  NodePlace,
  noteFileIntents,
  OutputOf,
  ParsedInputOf,
  PlacedFile,
  queryFiles,
  resolveReferences,
} from '@workspace-graph/contracts';
import { fold, nodeFolder, pathKey, sectionOfStatus } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import type { DeviceStore } from '../store/device-store.js';
import type { RecordOrder } from '../store/record-store.js';
import type { FileDelta } from './file-delta.js';

type Asked = InputOf<typeof findFiles>;
type Page = OutputOf<typeof queryFiles>;
type Intent = ParsedInputOf<typeof noteFileIntents>['intents'][number];

const CURSOR = 'known_files';

/**
 * What this device last saw of nodes with a folder here and of their files, and what was changed here since: answers for
 * its person while the centre is out of reach. Changes lie in the folders; the next scan that reaches the centre tells
 * it. Each method answers null for what cannot be known or done here.
 */
export class Recollection {
  constructor(private readonly store: DeviceStore) {}

  /** All of the nodes, or null. */
  places(nodeIds: readonly string[]): NodePlace[] | null {
    return this.store.places.recall(nodeIds);
  }

  /** Nodes by what they are called: a path, a name or a key, in this order. Null when it is not one of them for each. */
  named(references: InputOf<typeof resolveReferences>['references']): string[] | null {
    const places = this.store.places.all();
    const ids = references.map(({ kind, text }) => (kind === 'node' ? idOf(text, places) : null));
    return ids.every((id) => id !== null) ? ids : null;
  }

  rememberPlaces(asked: readonly string[], seen: readonly NodePlace[]): void {
    this.store.places.remember(asked, seen);
  }

  /** What the centre tells of files; those of `asked` that are not among them are gone. */
  remember(told: readonly FileRecord[], asked: readonly string[] = []): void {
    const ids = new Set(told.map(({ id }) => id));
    this.forget(asked.filter((id) => !ids.has(id)));
    this.store.records.remember(told, false);
  }

  /** What became of files of which the centre was told; those of `removed` have no record any more. */
  settled(records: readonly FileRecord[], removed: readonly string[]): void {
    const ids = new Set(records.map(({ id }) => id));
    this.store.records.forget(removed.filter((id) => !ids.has(id)));
    this.store.records.remember(records, true);
  }

  /** The same of a page of all records of a node, by id, from after `after` to `last`; null: to the end. */
  rememberPage(nodeId: string, told: readonly FileRecord[], after: string, last: string | null): void {
    this.remember(told, this.store.records.idsBetween(nodeId, after, last));
  }

  /** By what the centre calls them. */
  toldIds(ids: readonly string[]): string[] {
    return ids.map((id) => this.store.records.toldId(id));
  }

  /** Null when one of the ids is unknown here; a path of which nothing is known has no file. */
  files({ ids = [], paths = [] }: Asked): PlacedFile[] | null {
    const byId = this.store.records.byId(ids);
    if (new Set(byId.map(({ id }) => id)).size < new Set(ids).size) return null;
    const byNode = Map.groupBy(paths, ({ node_id }) => node_id);
    const byPath = [...byNode].flatMap(([nodeId, asked]) =>
      this.store.records.at(
        nodeId,
        asked.map(({ path }) => pathKey(path)),
      ),
    );
    const records = new Map([...byId, ...byPath].map((record) => [record.id, record]));
    return this.placed([...records.values()]);
  }

  /** A page of one node, or of all that have a folder here, newest first; null also for a cursor of the centre. */
  list({ node_id, status, limit = 1, cursor }: InputOf<typeof queryFiles>): Page | null {
    const nodeIds = node_id === undefined ? this.store.mirrors().map(({ nodeId }) => nodeId) : [node_id];
    const after = cursor === undefined ? undefined : readCursor(cursor);
    if (after === null || nodeIds.some((id) => this.places([id]) === null)) return null;
    const section = status === undefined ? undefined : sectionOfStatus(status);
    const found = this.store.records.page({ nodeIds, section, after, limit: limit + 1 });
    const last = found.length > limit ? found[limit - 1] : undefined;
    const items = this.placed(found.slice(0, limit).filter((record) => this.isThere(record)));
    return items && { items, next_cursor: last ? cursorAfter(last) : null };
  }

  /** Whether what is intended needs the folder of one node alone: the next scan finds it, or what is noted here tells it. */
  canWait(intents: readonly Intent[]): boolean {
    return intents.every(({ kind, file_id, to_node_id }) => {
      const [record] = this.store.records.byId([file_id]);
      return record !== undefined && (kind === 'delete' || to_node_id === record.node_id);
    });
  }

  /** Records as changes of one node make them, kept until the centre was told. Null, and nothing kept, unless all can wait. */
  apply(nodeId: string, deltas: readonly FileDelta[]): { readonly file: FileRecord | null }[] | null {
    const drafts = new Map<string, FileRecord | null>();
    const answers: { readonly file: FileRecord | null }[] = [];
    for (const delta of deltas) {
      const changed = this.changed(nodeId, delta, drafts);
      if (!changed) return null;
      drafts.set(changed.id, changed.file);
      answers.push({ file: changed.file });
    }
    for (const [id, file] of drafts) {
      if (file !== null) this.store.records.putWaiting(file);
      else this.forgetDeleted(id);
    }
    return answers;
  }

  private forgetDeleted(id: string): void {
    const { records } = this.store;
    const [record] = records.byId([id]);
    // Of a file that was made here, nobody else knows.
    if (record && this.store.file(id)) records.putDeleted(record);
    else records.forget([id]);
  }

  /** Keeps that a file of the remote was deleted here, until the centre was told. */
  deleted(record: FileRecord): true {
    this.store.records.putDeleted(record);
    return true;
  }

  private changed(
    nodeId: string,
    delta: FileDelta,
    drafts: ReadonlyMap<string, FileRecord | null>,
  ): { readonly id: string; readonly file: FileRecord | null } | null {
    const { records } = this.store;
    // One that was deleted here comes back.
    const known = (id: string): FileRecord | null => drafts.get(id) ?? records.byId([id])[0] ?? records.waitingOne(id);
    switch (delta.kind) {
      case 'register': {
        const [there] = records.at(nodeId, [pathKey(delta.path)]);
        const file = { ...(there ?? newRecord(nodeId, delta.path)), ...contentOf(delta) };
        return { id: file.id, file };
      }
      case 'update': {
        const record = known(delta.file.fileId);
        return record && { id: record.id, file: { ...record, ...contentOf(delta) } };
      }
      case 'move': {
        const record = known(delta.file.fileId);
        if (!record || (delta.toNodeId ?? nodeId) !== nodeId) return null;
        return { id: record.id, file: { ...record, path: delta.path, updated_at: now() } };
      }
      case 'remove': {
        const record = known(delta.file.fileId);
        return record && delta.tombstone && isOnlyHere(record) ? { id: record.id, file: null } : null;
      }
      default:
        return null;
    }
  }

  private forget(ids: readonly string[]): void {
    const { records } = this.store;
    const isWaiting = (record: FileRecord | null): boolean => record !== null && this.isThere(record);
    records.forget(ids.filter((id) => !isWaiting(records.waitingOne(id))));
  }

  /** What was made here and was removed from its folder since is no file any more. */
  private isThere({ id, node_id, path }: FileRecord): boolean {
    if (this.store.records.waitingOne(id) === null) return true;
    const mirror = this.store.mirror(node_id);
    return mirror !== null && existsSync(join(mirror.path, path));
  }

  private placed(records: readonly FileRecord[]): PlacedFile[] | null {
    const places = this.places([...new Set(records.map(({ node_id }) => node_id))]);
    const byId = new Map(places?.map((place) => [place.node_id, place]));
    return places && records.flatMap((file) => ({ file, place: byId.get(file.node_id) as NodePlace }));
  }
}

function newRecord(node_id: string, path: string): FileRecord {
  const at = now();
  return {
    id: newId(),
    node_id,
    path,
    sha256: null,
    size_bytes: null,
    mime_type: '',
    modified_at: null,
    remote_name: null,
    current_remote_hash: null,
    last_pushed_at: null,
    is_native_format: false,
    version: 1,
    created_at: at,
    updated_at: at,
  };
}

function contentOf({ seen }: Extract<FileDelta, { readonly kind: 'register' | 'update' }>) {
  return {
    sha256: seen.sha256,
    size_bytes: seen.sizeBytes,
    mime_type: seen.mimeType,
    modified_at: seen.modifiedAt,
    updated_at: now(),
  };
}

/** No other device can have it. */
function isOnlyHere({ last_pushed_at, remote_name }: FileRecord): boolean {
  return last_pushed_at === null && remote_name === null;
}

function now(): string {
  return new Date().toISOString();
}

function cursorAfter({ updated_at, id }: FileRecord): string {
  return Buffer.from(JSON.stringify([CURSOR, updated_at, id])).toString('base64url');
}

function readCursor(cursor: string): RecordOrder | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [list, updatedAt, fileId] = Array.isArray(value) ? (value as readonly unknown[]) : [];
    return list === CURSOR && typeof updatedAt === 'string' && typeof fileId === 'string'
      ? { updatedAt, fileId }
      : null;
  } catch {
    return null;
  }
}

/** As the centre resolves it, among the nodes with a folder here; null for none and for several. */
function idOf(reference: string, places: readonly NodePlace[]): string | null {
  const text = reference.trim();
  const ways: ((place: NodePlace) => boolean)[] = [
    (place) => nodeFolder(place) === text,
    ({ name }) => fold(name) === fold(text),
    ({ sync_key }) => sync_key === text,
  ];
  const found = ways.map((isCalled) => places.filter(isCalled)).find(({ length }) => length > 0);
  return found?.length === 1 ? (found[0]?.node_id ?? null) : null;
}
