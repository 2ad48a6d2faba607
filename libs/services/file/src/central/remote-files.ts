import { Injectable } from '@nestjs/common';
import {
  type Caller,
  type FileRecord,
  type PlacedFile,
  type RoutingRule,
  ServiceError,
  type TrackedFile,
} from '@workspace-graph/contracts';
import { Database, type RowSource, type Transaction } from '@workspace-graph/database';
import { filePathParts, parseFilePath, pathKey, routeOf, trackedFile } from '@workspace-graph/domain';
import { FILES_OF_CHANGES } from '../changes/change.statements.js';
import { LIST_RULES } from '../remotes/remote.statements.js';
import { fileNotFound, nodeIsReadOnly, nodeNotFound, seenBy } from '../shared/caller.js';
import type { RemoteObject } from './object-locks.js';
import {
  FILE_AT,
  FILE_BY_ID,
  FILES_BY_ID,
  FIND_FILE_NODE,
  type FileNode,
  type FoundFile,
  KNOWN_OBJECTS,
  PLACED_FILE,
  PURGED_OBJECTS,
} from './remote-file.statements.js';

type Row<T> = T & Record<string, unknown>;

/** Nodes and records as a caller sees them, with where their content lies. */
@Injectable()
export class RemoteFiles {
  constructor(private readonly database: Database) {}

  /** @throws ServiceError NODE_NOT_FOUND */
  async node(nodeId: string, caller: Caller): Promise<FileNode> {
    const node = await this.database.row<Row<FileNode>>(FIND_FILE_NODE, [...seenBy(caller), nodeId, sessionOf(caller)]);
    if (!node) throw nodeNotFound(nodeId);
    return node;
  }

  /** @throws ServiceError NODE_NOT_FOUND; FORBIDDEN for one that the caller may only read */
  async writable(nodeId: string, caller: Caller): Promise<FileNode> {
    const node = await this.node(nodeId, caller);
    if (!node.is_writable) throw nodeIsReadOnly(nodeId);
    return node;
  }

  /** The file at a path, under exactly this name; null for none. */
  async at(nodeId: string, path: string, caller: Caller): Promise<FoundFile | null> {
    const found = await this.occupying(nodeId, path, caller);
    return found?.file.path === path ? found : null;
  }

  /** The file whose path is taken for this one: it may differ by case and form. */
  async occupying(nodeId: string, path: string, caller: Caller): Promise<FoundFile | null> {
    const values = [...seenBy(caller), nodeId, sessionOf(caller), pathKey(path)];
    return this.database.row<Row<FoundFile>>(FILE_AT, values);
  }

  /** The files of a node whose paths are taken for these, by the forms in which paths are compared. The caller sees the node. */
  async taken(nodeId: string, paths: readonly string[]): Promise<Map<string, FileRecord>> {
    const keys = [...new Set(paths.map(pathKey))];
    const rows = await this.database.rows<{ file: FileRecord }>(FILES_OF_CHANGES, [[], keys.map(() => nodeId), keys]);
    return new Map(rows.map(({ file }) => [pathKey(file.path), file]));
  }

  /** Those of some files that the caller sees, by their ids; in the transaction that is about to change them. */
  async some(
    fileIds: readonly string[],
    caller: Caller,
    database: RowSource = this.database,
  ): Promise<Map<string, FoundFile>> {
    const values = [...seenBy(caller), fileIds, sessionOf(caller)];
    const rows = await database.rows<Row<FoundFile>>(FILES_BY_ID, values);
    return new Map(rows.map((found) => [found.file.id, found]));
  }

  /** Those paths of a remote at which files lie that have a record, of whichever node: they may be on their way. */
  async knownObjects(remote: string, paths: readonly string[]): Promise<Set<string>> {
    if (paths.length === 0) return new Set();
    const rows = await this.database.rows<{ path: string }>(KNOWN_OBJECTS, [remote, paths]);
    return new Set(rows.map(({ path }) => path));
  }

  /** Which of some objects are none for a caller: of other files, or left by a node that was purged, of which only who sees all nodes may know. */
  async othersObjects(remote: string, paths: readonly string[], caller: Caller): Promise<Set<string>> {
    const known = await this.knownObjects(remote, paths);
    const [, seesAll] = seenBy(caller);
    if (seesAll || paths.length === 0) return known;
    const rows = await this.database.rows<{ path: string }>(PURGED_OBJECTS, [remote, paths]);
    return new Set([...known, ...rows.map(({ path }) => path)]);
  }

  /** Whether an object is none for a file of a caller that is not stored yet. */
  async isOthers({ remote, path }: RemoteObject, caller: Caller): Promise<boolean> {
    return (await this.othersObjects(remote, [path], caller)).has(path);
  }

  /** A file to be read. @throws ServiceError NODE_NOT_FOUND, FILE_NOT_FOUND, NATIVE_FORMAT */
  async readable(nodeId: string, path: string, caller: Caller): Promise<FoundFile> {
    await this.node(nodeId, caller);
    const parsed = parseFilePath(path);
    const found = 'problem' in parsed ? null : await this.at(nodeId, parsed.value.path, caller);
    if (!found) throw pathNotFound(nodeId, path);
    if (found.file.is_native_format) throw isNative(path);
    return found;
  }

  /**
   * A file that the caller may change.
   * @throws ServiceError FILE_NOT_FOUND, for one of another node than `nodeId` too; FORBIDDEN; CONFLICT
   */
  async changeable(
    fileId: string,
    caller: Caller,
    { nodeId, version }: { readonly nodeId?: string | undefined; readonly version?: number | undefined },
  ): Promise<FoundFile> {
    const found = await this.database.row<Row<FoundFile>>(FILE_BY_ID, [...seenBy(caller), fileId, sessionOf(caller)]);
    if (!found || (nodeId !== undefined && found.file.node_id !== nodeId)) throw fileNotFound(fileId);
    if (!found.is_writable) throw nodeIsReadOnly(found.file.node_id);
    if (version === undefined || version === found.file.version) return found;
    const message = `expected_version: the file ${fileId} now has version ${found.file.version}.`;
    throw new ServiceError('CONFLICT', message, { current: found.file });
  }

  /** The remote on which new files of a node are kept. @throws ServiceError NO_REMOTE */
  async remoteOf({ place, organization_key: organizationKey }: FileNode): Promise<string> {
    const rules = await this.database.rows<Row<RoutingRule>>(LIST_RULES);
    const rule = routeOf(rules, { type: place.type, organizationKey });
    if (rule) return rule.remote_name;
    throw new ServiceError('NO_REMOTE', `No routing rule gives the node ${place.node_id} a remote.`, {
      node_id: place.node_id,
    });
  }
}

/** Where the content of a file lies; null for one that is on no remote. */
export function objectOf({ file, remote_path: path }: FoundFile): RemoteObject | null {
  return file.remote_name === null || path === null ? null : { remote: file.remote_name, path };
}

/** Hash of the content that was last seen on the remote; a device may have told of another one that it has not pushed. */
export function storedHashOf({
  file,
}: {
  readonly file: Pick<FoundFile['file'], 'sha256' | 'current_remote_hash'>;
}): string | null {
  const [kind, hash = null] = file.current_remote_hash?.split(':') ?? [];
  return kind === 'sha256' ? hash : file.sha256;
}

/** Where the content of a file of a node is to lie. */
export function objectAt(remote: string, { folder }: FileNode, path: string): RemoteObject {
  return { remote, path: `${folder}/${path}` };
}

/** A file as the caller of a change is answered. */
export async function answerOf(tx: Transaction, fileId: string): Promise<TrackedFile> {
  const row = await tx.row<{ placed: PlacedFile }>(PLACED_FILE, [...seenBy(tx.context.caller), fileId]);
  if (!row) throw fileNotFound(fileId);
  return trackedFile(row.placed);
}

/** The same before a change. */
export function answerFor({ file, place }: FoundFile): TrackedFile {
  return trackedFile({ file, place });
}

/** The refusal of a path at which there is no file, or none that the caller may see. */
export function pathNotFound(nodeId: string, path: string): ServiceError {
  return new ServiceError('FILE_NOT_FOUND', `There is no file ${path} in the node ${nodeId}.`, {
    node_id: nodeId,
    path,
  });
}

export function isNative(path: string): ServiceError {
  return new ServiceError('NATIVE_FORMAT', `${path} is a document of a cloud service and has no bytes.`, { path });
}

export function isTaken(path: string): ServiceError {
  return new ServiceError('DESTINATION_EXISTS', `The path ${path} is taken by another file.`, { path });
}

/** Name of a file, without its folders. */
export function nameOf(path: string): string {
  return filePathParts(path).filename;
}

/** The session whose scope limits what is found. */
function sessionOf({ session_id }: Caller): string | null {
  return session_id ?? null;
}
