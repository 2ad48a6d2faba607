import { createReadStream } from 'node:fs';
import { Inject, Injectable } from '@nestjs/common';
import {
  type Envelope,
  type FileRecord,
  type FileRefusal,
  type Push,
  type PushedFile,
  refusalOf,
  ServiceError,
} from '@workspace-graph/contracts';
import { type MirrorPath, readContent } from '@workspace-graph/disk';
import { checkedPath, pathKey } from '@workspace-graph/domain';
import { sweeping } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { FileChanges, type WriteOptions, type WriteTarget } from '../files/file-changes.js';
import { NodeLocks } from '../locks/node-locks.js';
import type { MirrorRow } from '../store/device-store.js';
import { CENTRAL_FILES, type CentralFiles } from './central-files.js';
import { type LocalContent, LocalFiles } from './local-files.js';
import { NAMES_HERE } from './placements.js';

/** On whose behalf bytes move, and until when. */
export interface Transferring {
  readonly envelope: Envelope;
  readonly signal: AbortSignal;
}

/** A content of a remote, as it is about to come. */
export interface Arriving {
  readonly sha256: string;
  bytes(): AsyncIterable<Uint8Array>;
}

/** Brings the contents of files to their remotes and from there, each file one transfer at a time. */
@Injectable()
export class Transfers {
  private readonly turns = new NodeLocks();

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(CENTRAL_FILES) private readonly centre: CentralFiles,
    @Inject(LocalFiles) private readonly files: LocalFiles,
    @Inject(FileChanges) private readonly changes: FileChanges,
  ) {}

  /**
   * Sends what lies here of a file. Its name on the remote is refused to it when another content lies there than the one
   * that this device had last, or sent since without an answer.
   * @throws ServiceError of the centre; NO_MIRROR, FILE_NOT_FOUND, SERVICE_UNAVAILABLE for a file that is being written
   */
  push(fileId: string, { envelope, signal }: Transferring): Promise<PushedFile> {
    return this.turns.run([fileId], async () => {
      const { row } = await this.files.changeable(fileId, envelope);
      await using content = await this.files.open(row, fileId, signal);
      const send = (push: Push): Promise<PushedFile> => {
        this.noteSent(row, [push]);
        return this.centre.push(push, (from) => content.bytes(from), signal);
      };
      const push = pushOf(content);
      const pushed = await send(push).catch(async (error: unknown) => {
        const builds_on = this.sentBefore(push, refusalOf(error));
        if (builds_on === null) throw error;
        await this.noteSynced(row.nodeId, new Map([[fileId, builds_on]]));
        return send({ ...push, builds_on });
      });
      await this.noteSynced(row.nodeId, new Map([[fileId, content.sha256]]));
      return pushed;
    });
  }

  /**
   * Notes contents before they are sent: the answer may be lost. Never fails: without the note, the next content is
   * refused at worst, as if another device had changed the file.
   */
  noteSent({ nodeId }: MirrorRow, pushes: readonly Push[]): void {
    const contents = pushes.map(({ file_id, sha256, builds_on }) => {
      return { fileId: file_id, nodeId, sha256, buildsOn: builds_on };
    });
    try {
      this.parts.store.sent.put(contents);
    } catch (err) {
      if (!(err instanceof ServiceError)) throw err;
      this.parts.logger.warn({ err }, 'contents are sent without a note of it');
    }
  }

  /** The content for which a push was refused, if this device sent it and was never answered; null for another one. */
  sentBefore({ file_id: fileId, builds_on: lastSyncedHash }: Push, refused: FileRefusal): string | null {
    const there = contentThere(refused);
    const known = this.parts.store.sent.inCommon({ fileId, lastSyncedHash }, there);
    return known === lastSyncedHash ? null : known;
  }

  /**
   * Lets the folder have what the remote has of a file. Answers its hash, and whether anything was changed.
   * @throws ServiceError of the centre; NO_MIRROR, NO_REMOTE for a file that was never uploaded, NATIVE_FORMAT; CONFLICT for a
   * change here that was not uploaded, unless it is forced
   */
  pull(
    fileId: string,
    { force }: { readonly force: boolean },
    transferring: Transferring,
  ): Promise<{ readonly sha256: string; readonly changed: boolean }> {
    return this.turns.run([fileId], async () => {
      const { file, row } = await this.files.changeable(fileId, transferring.envelope);
      if (file.is_native_format)
        throw new ServiceError('NATIVE_FORMAT', `${file.path} is a document of a cloud service and has no bytes.`);
      if (file.remote_name === null)
        throw new ServiceError('NO_REMOTE', `The file ${file.path} was never uploaded.`, { file_id: fileId });
      await this.files.bringAlong(file, row, transferring);
      const target = { nodeId: file.node_id, path: file.path };
      const { envelope, signal } = transferring;
      const content = await this.centre.open(target, { raw: true, signal }, envelope);
      const { sha256 } = content;
      try {
        const arriving = { sha256, bytes: () => content.bytes() };
        const changed = await this.take(file, { row, content: arriving, force }, transferring);
        return { sha256, changed };
      } finally {
        await content.close();
      }
    });
  }

  /** Makes a file of what lies elsewhere on this machine. Answers its id. @throws ServiceError as `FileChanges.createFrom` */
  async copyIn(target: WriteTarget, source: string, options: WriteOptions): Promise<string> {
    return (await this.changes.createFrom(target, sweeping(createReadStream(source)), options)).id;
  }

  /** Works on files of which nothing else is moved meanwhile. */
  inTurn<T>(fileIds: readonly string[], work: () => Promise<T>): Promise<T> {
    return this.turns.run(fileIds, work);
  }

  /**
   * Lets the folder have what the remote was found to have of a file, whose turn it is. Answers whether anything was changed.
   * @throws ServiceError CONFLICT for a change here that was not uploaded, unless it is forced
   */
  async take(
    file: FileRecord,
    { row, content, force }: { readonly row: MirrorRow; readonly content: Arriving; readonly force: boolean },
    { envelope, signal }: Transferring,
  ): Promise<boolean> {
    const { at, state, sha256 } = await this.files.look(row, file, signal);
    if (sha256 === content.sha256) {
      await this.noteHere(file, row, at);
      return false;
    }
    if (sha256 !== null && !force && !this.files.isUnedited(file, { state, sha256 })) throw unpushed(file, sha256);
    const told = { pulled: file, sha256: content.sha256, maxBytes: Number.MAX_SAFE_INTEGER };
    const options = { envelope, action: 'pull_file', signal, ...told };
    const { path } = checkedPath(file.path, 'path', sha256 === null ? NAMES_HERE : {});
    if (sha256 === null) await this.changes.createIn(row, path, content.bytes(), options);
    else await this.changes.replaceIn(row, path, content.bytes(), { ...options, ifMatch: sha256 });
    return true;
  }

  /** What lies there is what the remote has, without anything having moved. */
  private async noteHere(file: FileRecord, row: MirrorRow, at: MirrorPath): Promise<void> {
    await this.parts.locks.run([row.nodeId], async () => {
      const seen = await readContent(at);
      const replaces = this.parts.store.fileAt(row.nodeId, pathKey(file.path));
      const options = { action: 'pull_file', asker: null, strict: true };
      await this.parts.files.apply(row.nodeId, [{ kind: 'pulled', record: file, replaces, seen }], options);
    });
  }

  /** Whatever has become of these files here since, this is what the remote has: hashes by their ids. */
  async noteSynced(nodeId: string, hashes: ReadonlyMap<string, string>): Promise<void> {
    await this.parts.locks.run([nodeId], async () => {
      const known = this.parts.store.files([...hashes.keys()]);
      const put = [...hashes].flatMap(([fileId, lastSyncedHash]) => {
        const now = known.get(fileId);
        return now ? { ...now, lastSyncedHash, wasPushed: true } : [];
      });
      this.parts.store.changeFiles({ put });
      this.parts.store.sent.remove([...hashes.keys()]);
    });
  }
}

/** What is told of a content before it is sent. */
export function pushOf({
  state,
  sha256,
  sizeBytes,
  modifiedAt,
}: Omit<LocalContent, keyof AsyncDisposable | 'bytes'>): Push {
  return {
    file_id: state.fileId,
    sha256,
    size_bytes: sizeBytes,
    modified_at: modifiedAt.toISOString(),
    builds_on: state.lastSyncedHash,
  };
}

/** What lies on the remote instead of what a push builds on; null where it was refused for something else. */
function contentThere({ code, details }: FileRefusal): string | null {
  const current = code === 'CONFLICT' ? details?.['current'] : null;
  if (typeof current !== 'object' || current === null || !('sha256' in current)) return null;
  return typeof current.sha256 === 'string' ? current.sha256 : null;
}

function unpushed({ path, version }: FileRecord, sha256: string): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `The file ${path} was changed here and not uploaded since. Upload it, or pull with force, which puts it into the trash.`,
    { current: { sha256, version } },
  );
}
