import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { type Envelope, type FileRecord, ServiceError } from '@workspace-graph/contracts';
import {
  fileNotFound,
  HeldFolder,
  isFile,
  locate,
  type MirrorPath,
  openForReading,
  PathFinder,
  readSmall,
  stampOf,
} from '@workspace-graph/disk';
import { pathKey } from '@workspace-graph/domain';
import pMap from 'p-map';
import { bytesOf } from '../content/held-content.js';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { FileMover } from '../files/file-mover.js';
import { NodeFolders, sameFolder } from '../files/node-folders.js';
import { ContentHashes } from '../reading/content-hashes.js';
import type { FileState, MirrorRow } from '../store/device-store.js';

/** What lies here of a file, and what the device knows of it. */
export interface LocalFile {
  readonly at: MirrorPath;
  readonly state: FileState | null;
  /** Hash of what lies there; null where nothing does. */
  readonly sha256: string | null;
}

/** A content that is held open. */
export interface LocalContent extends AsyncDisposable {
  readonly state: FileState;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  /** From an offset on. */
  bytes(from?: number): AsyncIterable<Uint8Array>;
}

/** A content that was read as a whole. */
export interface WholeLocal {
  readonly state: FileState;
  readonly sha256: string;
  readonly modifiedAt: Date;
  readonly bytes: Uint8Array;
}

/** What was looked at once for many files of one folder. */
interface Known {
  readonly paths: PathFinder;
  readonly states: ReadonlyMap<string, FileState>;
}

/** Files that are read at once. */
const AT_ONCE = 8;

/** Files of nodes as they lie in their folders here. */
@Injectable()
export class LocalFiles {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(NodeFolders) private readonly folders: NodeFolders,
    @Inject(ContentHashes) private readonly hashes: ContentHashes,
    @Inject(FileMover) private readonly mover: FileMover,
  ) {}

  /** A file that the caller may change, with the folder of its node. @throws ServiceError FILE_NOT_FOUND, FORBIDDEN, NO_MIRROR */
  async changeable(
    fileId: string,
    envelope: Envelope,
  ): Promise<{ readonly file: FileRecord; readonly row: MirrorRow }> {
    const { file } = await this.folders.file(fileId, envelope);
    return { file, row: await this.folders.ready(file.node_id) };
  }

  /** What lies here of a file of a node. @throws ServiceError DESTINATION_EXISTS for what is no file; the reason of `signal` */
  async look(
    row: MirrorRow,
    { id, path }: Pick<FileRecord, 'id' | 'path'>,
    signal: AbortSignal,
    { paths, states }: Known = { paths: new PathFinder(row.path), states: this.parts.store.files([id]) },
  ): Promise<LocalFile> {
    const state = states.get(id) ?? null;
    const at = await paths.locate(path);
    if (!at.exists) return { at, state, sha256: null };
    await using handle = await openForReading(at).catch(async (error: unknown) => {
      throw (await isFile(at)) ? error : noFile(path);
    });
    const { sha256 } = await this.hashes.of({ nodeId: row.nodeId, path, handle }, signal);
    return { at, state, sha256 };
  }

  /** What the device knows of files, by their ids. */
  states(files: readonly Pick<FileRecord, 'id'>[]): ReadonlyMap<string, FileState> {
    return this.parts.store.files(files.map(({ id }) => id));
  }

  /** Whether a file lies where its record tells, as far as anything lies here. */
  isInPlace({ node_id, path }: FileRecord, state: FileState | null): boolean {
    return state === null || state.isDeleted || (state.nodeId === node_id && state.path === path);
  }

  /** Whether a file of which nothing lies here was here, where its record tells. */
  isDeletedHere({ node_id, path }: FileRecord, state: FileState | null): boolean {
    return state?.nodeId === node_id && state.path === path;
  }

  /**
   * Whether what lies here under the name of a file is what the remote had last: of this file, or of another one that has left the
   * name elsewhere, by a deletion or a move.
   */
  isUnedited(file: FileRecord, { state, sha256 }: Pick<LocalFile, 'state' | 'sha256'>): boolean {
    if (sha256 === null) return false;
    if (sha256 === state?.lastSyncedHash) return true;
    const before = this.parts.store.fileAt(file.node_id, pathKey(file.path));
    return this.isInPlace(file, state) && before?.sha256 === sha256 && before.lastSyncedHash === sha256;
  }

  /** Whether a file of a node has the very content of one that lies elsewhere on this machine. */
  async isCopyOf(
    row: MirrorRow,
    file: Pick<FileRecord, 'id' | 'path'>,
    { source, signal }: { readonly source: string; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const { sha256 } = await this.look(row, file, signal);
    return sha256 !== null && sha256 === (await this.hashes.ofPath(source, signal));
  }

  /**
   * Lets a file that was moved elsewhere lie here where its record tells, unless it was edited or something is in its way.
   * @throws ServiceError of the file service
   */
  async bringAlong(
    file: FileRecord,
    row: MirrorRow,
    { envelope, signal }: { readonly envelope: Envelope; readonly signal: AbortSignal },
  ): Promise<void> {
    const state = this.parts.store.file(file.id);
    const fromRow = state && this.parts.store.mirror(state.nodeId);
    if (!fromRow || this.isInPlace(file, state)) return;
    const { sha256 } = await this.look(fromRow, { id: file.id, path: state.path }, signal);
    if (sha256 === null || sha256 !== state.sha256 || (await locate(row.path, file.path)).exists) return;
    await this.parts.locks.run([fromRow.nodeId, row.nodeId], async () => {
      sameFolder(this.parts, row);
      sameFolder(this.parts, fromRow);
      const { path } = file;
      const plan = { file: state, path, fromRoot: fromRow.path, toRoot: row.path, toNodeId: row.nodeId };
      const [outcome] = await this.mover.move([plan], { asker: envelope, action: 'pull_file' });
      if (outcome && outcome.kind !== 'moved') throw outcome.error;
    });
  }

  /** Reads small contents together, by the ids of their files. Whatever is out of the ordinary is missing: `open` tells what it is. */
  async readWhole(
    row: MirrorRow,
    states: readonly FileState[],
    maxBytes: number,
  ): Promise<ReadonlyMap<string, WholeLocal>> {
    const contents = new Map<string, WholeLocal>();
    const own = states.filter(({ nodeId }) => nodeId === row.nodeId);
    // What stands in the way of all of them is told of each.
    for (const [, group] of Map.groupBy(own, ({ path }) => posix.dirname(path)))
      for (const content of await this.readIn(row, group, maxBytes).catch(() => []))
        contents.set(content.state.fileId, content);
    return contents;
  }

  private async readIn(row: MirrorRow, group: readonly FileState[], maxBytes: number): Promise<WholeLocal[]> {
    const [first] = group;
    if (!first) return [];
    await using folder = await HeldFolder.of(await locate(row.path, first.path));
    const read = async (state: FileState): Promise<WholeLocal[]> => {
      const content = await readSmall(folder, posix.basename(state.path), maxBytes);
      if (!content) return [];
      const { found, bytes } = content;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const isOther = state.stamp === stampOf(found) && state.sha256 !== sha256;
      return isOther ? [] : [{ state, sha256, modifiedAt: found.mtime, bytes }];
    };
    const contents = await pMap(group, read, { concurrency: AT_ONCE });
    await folder.mustBeInside();
    return contents.flat();
  }

  /** Opens what lies here of a file. @throws ServiceError FILE_NOT_FOUND; SERVICE_UNAVAILABLE for one that is being written */
  async open(row: MirrorRow, fileId: string, signal: AbortSignal): Promise<LocalContent> {
    const state = this.parts.store.file(fileId);
    if (state?.nodeId !== row.nodeId) throw fileNotFound({ file_id: fileId });
    const { path } = state;
    const handle = await openForReading(await locate(row.path, path));
    try {
      const hashed = await this.hashes.of({ nodeId: row.nodeId, path, handle }, signal);
      const held = { path, handle, hashed, onWrongHash: () => this.hashes.distrust(hashed) };
      const sizeBytes = Number(hashed.found.size);
      return {
        state,
        sha256: hashed.sha256,
        sizeBytes,
        modifiedAt: hashed.found.mtime,
        bytes: (from = 0) => bytesOf(held, from > 0 ? { start: from, end: sizeBytes - 1 } : undefined),
        [Symbol.asyncDispose]: () => handle.close(),
      };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}

/** A folder, or a pipe, is in the way of the file. */
function noFile(path: string): ServiceError {
  const message = `What lies at ${path} is no ordinary file. Give it another name, or delete the file.`;
  return new ServiceError('DESTINATION_EXISTS', message, { path });
}
