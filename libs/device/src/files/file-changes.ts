import { Inject, Injectable } from '@nestjs/common';
import { type Envelope, type FileRecord, LIMITS, ServiceError, type TrackedFile } from '@workspace-graph/contracts';
import type { SeenContent } from '@workspace-graph/disk';
import {
  fileNotFound,
  locate,
  type MirrorPath,
  occupied,
  putBack,
  type ReadContent,
  readContent,
  removeEmptyFolders,
  removeFile,
  StagedFile,
} from '@workspace-graph/disk';
import { checkedPath, pathKey } from '@workspace-graph/domain';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { FileDelta } from '../records/file-delta.js';
import type { DeviceStore, FileState, MirrorRow, TrashRow } from '../store/device-store.js';
import { AsideFiles, type NotedAsides } from '../trash/aside-files.js';
import { Trash } from '../trash/trash.js';
import { trackedAt } from './file-states.js';
import { NodeFolders, sameFolder } from './node-folders.js';
import { RepeatedWrites } from './repeated-writes.js';

/** A path of a node whose content is to be written. */
export interface WriteTarget {
  readonly nodeId: string;
  /** Within the node, as somebody wrote it. */
  readonly path: string;
  /** Name of the input field that holds the path, for messages; `path` without it. */
  readonly field?: string;
}

export interface WriteOptions {
  readonly envelope: Envelope;
  /** Name of the operation for the audit trail. */
  readonly action: string;
  readonly signal?: AbortSignal;
  /** More bytes are PAYLOAD_TOO_LARGE; `LIMITS.uploadBytes` without it. */
  readonly maxBytes?: number;
  /** True: old and new content must be UTF-8 text, else NOT_EDITABLE. */
  readonly text?: boolean;
  /** The content is the one that the remote has of this file: the record stays as it is. */
  readonly pulled?: FileRecord;
  /** Another content than the one of this hash is SERVICE_UNAVAILABLE. */
  readonly sha256?: string;
}

/** Writing the content of files: bytes come as a stream and pass with constant memory. */
@Injectable()
export class FileChanges {
  private readonly repeated = new RepeatedWrites();

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly folders: NodeFolders,
    private readonly trash: Trash,
    private readonly asides: AsideFiles,
  ) {}

  /**
   * Makes a file where nothing lies. All of it or nothing: a stream that breaks off leaves nothing behind.
   * @throws ServiceError NODE_NOT_FOUND, FORBIDDEN, NO_MIRROR, VALIDATION_FAILED, DESTINATION_EXISTS, STORAGE_FULL,
   * PAYLOAD_TOO_LARGE, NOT_EDITABLE
   */
  async createFrom(target: WriteTarget, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<TrackedFile> {
    const row = await this.folders.writable(target.nodeId, options.envelope);
    const { path } = checkedPath(target.path, target.field ?? 'path', { portable: true });
    return this.answered({ row, path }, bytes, options, () => this.createIn(row, path, bytes, options));
  }

  /** The same in a folder on which the caller may write. Answers the id. @throws ServiceError */
  async createIn(
    row: MirrorRow,
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteOptions,
  ): Promise<string> {
    const { nodeId } = row;
    const at = await locate(row.path, path);
    mustBeFree(this.parts.store, nodeId, at);
    try {
      await using staged = await stage(at, bytes, options);
      if (options.text && !staged.content.isText) throw notEditable(path);
      return await this.parts.locks.run([nodeId], async () => {
        sameFolder(this.parts, row);
        mustBeFree(this.parts.store, nodeId, at);
        return this.asides.noted([{ nodeId, path }], async (noted) => {
          const seen = await staged.commit();
          return this.enter({ nodeId, path, seen }, options, () => this.remove(at, seen, noted));
        });
      });
    } finally {
      await removeEmptyFolders(at, at.found);
    }
  }

  /**
   * Replaces the content of a file, when it still is the one that `ifMatch` names; `*` stands for any. The content that
   * was there goes to the trash.
   * @throws ServiceError NODE_NOT_FOUND, FORBIDDEN, NO_MIRROR, VALIDATION_FAILED, FILE_NOT_FOUND, NATIVE_FORMAT,
   * CONFLICT with `details.current`, NOT_EDITABLE, STORAGE_FULL, PAYLOAD_TOO_LARGE
   */
  async replaceFrom(
    target: WriteTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteOptions & { readonly ifMatch: string },
  ): Promise<TrackedFile> {
    const row = await this.folders.writable(target.nodeId, options.envelope);
    const { path } = checkedPath(target.path, target.field ?? 'path');
    return this.answered({ row, path }, bytes, options, () => this.replaceIn(row, path, bytes, options));
  }

  /** The same in a folder on which the caller may write. Answers the id. @throws ServiceError */
  async replaceIn(
    row: MirrorRow,
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteOptions & { readonly ifMatch: string },
  ): Promise<string> {
    const { nodeId } = row;
    await this.recordAt(nodeId, path, options);
    const at = await locate(row.path, path);
    if (!at.exists) throw fileNotFound({ node_id: nodeId, path });
    await using staged = await stage(at, bytes, options);
    return await this.parts.locks.run([nodeId], async () => {
      sameFolder(this.parts, row);
      const record = await this.recordAt(nodeId, path, options);
      const current = await readContent(at, { text: options.text ?? false });
      mustMatch(current, options.ifMatch, record);
      if (options.text && !(current.isText && staged.content.isText)) throw notEditable(path);
      return this.replace({ row, at, record, current }, staged, options);
    });
  }

  /** Writes once for each call. Answers the file. */
  private answered(
    { row: { nodeId }, path }: { readonly row: MirrorRow; readonly path: string },
    bytes: AsyncIterable<Uint8Array>,
    { envelope }: WriteOptions,
    write: () => Promise<string>,
  ): Promise<TrackedFile> {
    return this.repeated.once(envelope.callId, { nodeId, path }, bytes, async () =>
      this.folders.answerById(await write(), envelope),
    );
  }

  private async replace(
    { row: { nodeId }, at, record, current }: Replaced,
    staged: StagedFile,
    options: WriteOptions,
  ): Promise<string> {
    const { path } = at;
    const { isText, mode, ...before } = current;
    if (staged.content.seen.sha256 === current.sha256)
      return this.enter({ nodeId, path, seen: before }, options, () => Promise.resolve());
    // Once for the change, and once more in case that it is taken back.
    const place = { nodeId, path, sha256: current.sha256 };
    return this.asides.noted([place, place], async (noted) => {
      const kept = await this.trash.keep(at, { nodeId, fileId: record?.id ?? null, reason: 'replaced', seen: current });
      let seen: SeenContent;
      try {
        seen = await this.asides.run((asides) => {
          asides.keptAt(at, this.trash.pathOf(kept));
          return staged.commit({ replaces: { expected: current, asides } });
        }, noted);
      } catch (error) {
        await this.trash.withdraw(kept, at);
        throw error;
      }
      return this.enter({ nodeId, path, seen }, options, () => this.takeBack(kept, at, seen, noted));
    });
  }

  /** Makes the content on disk true; when that is impossible, `undo` makes the disk as it was. Answers the id. */
  private async enter(
    { nodeId, path, seen }: { readonly nodeId: string; readonly path: string; readonly seen: SeenContent },
    { action, envelope, pulled }: WriteOptions,
    undo: () => Promise<void>,
  ): Promise<string> {
    const key = pathKey(path);
    const file = trackedAt(this.parts.store, nodeId, path);
    const delta = deltaOf(file, { path, seen, pulled });
    try {
      const [result] = await this.parts.files.apply(nodeId, [delta], { action, asker: envelope, strict: true });
      const entered = pulled ?? (result && 'file' in result ? result.file : null);
      if (!entered) throw fileNotFound({ node_id: nodeId, path });
      this.parts.store.removeUntracked(nodeId, [key]);
      return entered.id;
    } catch (error) {
      await undo().catch((reason: unknown) =>
        this.parts.logger.warn(
          { err: reason, node: nodeId },
          'a written file could not be rolled back; the next scan registers it',
        ),
      );
      throw error;
    }
  }

  /** Removes what this very call wrote. */
  private remove(at: MirrorPath, seen: SeenContent, noted: NotedAsides): Promise<void> {
    return this.asides.run(async (asides) => {
      await removeFile(at, seen, asides);
      asides.discard(at);
    }, noted);
  }

  private async takeBack(kept: TrashRow, at: MirrorPath, expected: SeenContent, noted: NotedAsides): Promise<void> {
    await this.asides.run(async (asides) => {
      await putBack(this.trash.pathOf(kept), at, { expected, asides });
      asides.discard(at);
    }, noted);
    await this.trash.withdraw(kept, at);
    const file = this.parts.store.fileAt(kept.nodeId, pathKey(at.path));
    // The content is the old one in a new file: the next scan looks at it again.
    if (file) this.parts.store.changeFiles({ put: [{ ...file, stamp: null, inode: null }] });
  }

  private async recordAt(nodeId: string, path: string, { envelope, pulled }: WriteOptions): Promise<FileRecord | null> {
    if (pulled) return pulled;
    const files = await this.parts.service.files({ paths: [{ node_id: nodeId, path }] }, envelope);
    const record = files.find(({ file }) => file.path === path)?.file ?? null;
    if (record?.is_native_format)
      throw new ServiceError('NATIVE_FORMAT', `${path} is a document of a cloud service and has no bytes.`, { path });
    return record;
  }
}

/** @throws ServiceError DESTINATION_EXISTS */
export function mustBeFree(store: DeviceStore, nodeId: string, at: MirrorPath): void {
  const known = trackedAt(store, nodeId, at.path);
  if (at.exists || (known && known.path !== at.path)) throw occupied(known?.path ?? at.path);
}

interface Replaced {
  readonly row: MirrorRow;
  readonly at: MirrorPath;
  readonly record: FileRecord | null;
  readonly current: ReadContent;
}

function deltaOf(
  file: FileState | null,
  {
    path,
    seen,
    pulled,
  }: { readonly path: string; readonly seen: SeenContent; readonly pulled: FileRecord | undefined },
): FileDelta {
  if (pulled) return { kind: 'pulled', record: pulled, replaces: file, seen };
  return file ? { kind: 'update', file, seen } : { kind: 'register', path, seen };
}

async function stage(at: MirrorPath, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<StagedFile> {
  const { signal, text = false, maxBytes = LIMITS.uploadBytes, sha256 } = options;
  const staged = await StagedFile.of(at, bytes, { maxBytes, text, ...(signal ? { signal } : {}) });
  if (sha256 === undefined || staged.content.seen.sha256 === sha256) return staged;
  await staged[Symbol.asyncDispose]();
  const { path } = at;
  const message = `The content of ${path} changed while it was fetched: try again.`;
  throw new ServiceError('SERVICE_UNAVAILABLE', message, { path });
}

function mustMatch({ sha256, sizeBytes }: ReadContent, ifMatch: string, record: FileRecord | null): void {
  if (ifMatch === '*' || ifMatch === sha256) return;
  throw new ServiceError('CONFLICT', 'The content of the file differs from the content that this change is based on.', {
    current: { sha256, version: record?.version ?? null, size_bytes: sizeBytes },
  });
}

function notEditable(path: string): ServiceError {
  return new ServiceError('NOT_EDITABLE', `${path} is not UTF-8 text, or the new content is not.`, { path });
}
