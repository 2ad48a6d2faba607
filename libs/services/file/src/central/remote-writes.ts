import { Injectable } from '@nestjs/common';
import { LIMITS, type RawJson, ServiceError, type TrackedFile } from '@workspace-graph/contracts';
import { appliedBefore, appliedOnce, type CommandContext, Database, runCommand } from '@workspace-graph/database';
import { ContentDigest } from '@workspace-graph/disk';
import { checkedPath } from '@workspace-graph/domain';
import { type Remote, RemoteFailure, type RemoteFile } from '@workspace-graph/remotes';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { freeOfFolder } from './empty-folders.js';
import { contentChanged, isText, type LiveContent } from './live-contents.js';
import { ObjectFollows } from './object-follows.js';
import type { RemoteObject } from './object-locks.js';
import { applyChange, isRefusal, recordedContent, recordObject, recordSeen } from './record-changes.js';
import type { FoundFile } from './remote-file.statements.js';
import {
  answerOf,
  isNative,
  isTaken,
  objectAt,
  objectOf,
  pathNotFound,
  RemoteFiles,
  storedHashOf,
} from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';

/** A content that is to be stored under a path of a node. */
export interface WriteRequest {
  readonly nodeId: string;
  readonly path: string;
  /** Field of the input that the path comes from. */
  readonly field: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** True: old and new content must be UTF-8 text, else NOT_EDITABLE. */
  readonly text: boolean;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** The place of a write, once it is certain. */
interface Target {
  readonly held: HeldRemote;
  readonly object: RemoteObject;
  readonly path: string;
}

/** A file, and what lies there of it. */
interface Replaced {
  readonly found: FoundFile;
  readonly current: LiveContent;
}

/** Writing the content of files on the remotes: bytes pass as a stream, and nothing is overwritten that was not looked at. */
@Injectable()
export class RemoteWrites {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    private readonly follows: ObjectFollows,
  ) {}

  /**
   * Makes a file where nothing lies. A call that is repeated finds what it left the first time, and answers as then.
   * @throws ServiceError NODE_NOT_FOUND, FORBIDDEN, VALIDATION_FAILED, NO_REMOTE, DESTINATION_EXISTS, NOT_EDITABLE,
   * PAYLOAD_TOO_LARGE, STORAGE_FULL, REMOTE_REFUSED, REMOTE_UNAVAILABLE
   */
  create(request: WriteRequest): Promise<TrackedFile | RawJson> {
    return appliedOnce(this.database, request.context, () => this.makeNew(request));
  }

  /**
   * Replaces the content of a file, when it still is the one that `ifMatch` names; `*` stands for any.
   * @throws ServiceError as `create`, but for DESTINATION_EXISTS; FILE_NOT_FOUND, NATIVE_FORMAT, CONFLICT with `details.current`
   */
  replace(request: WriteRequest & { readonly ifMatch: string }): Promise<TrackedFile | RawJson> {
    return appliedOnce(this.database, request.context, () => this.makeOther(request));
  }

  /**
   * Looks at all that can be looked at before the bytes are there. A call that is repeated is let by, to be answered as the first time.
   * @throws ServiceError as `create` and `replace`
   */
  async mayBegin(
    request: Pick<WriteRequest, 'nodeId' | 'path' | 'field' | 'context'> & { readonly isNew: boolean },
  ): Promise<void> {
    try {
      await (request.isNew ? this.newObject(request) : this.oldObject(request));
    } catch (error) {
      if (!(await appliedBefore(this.database, request.context))) throw error;
    }
  }

  private async makeNew(request: WriteRequest): Promise<TrackedFile | RawJson> {
    const { object, path } = await this.newObject(request);
    await this.follows.clear(object, request.signal);
    return this.objects.change([object], { path, signal: request.signal }, async (held, signal) => {
      const before = await appliedBefore(this.database, request.context);
      if (before) return before;
      await this.mustBeFree(request, path);
      if (await this.files.isOthers(object, request.context.caller)) throw isTaken(path);
      const { live, isOurs } = await this.put({ held, object, path }, { ...request, signal });
      const { context, nodeId } = request;
      try {
        return await runCommand(this.database, context, async (tx) => {
          const place = { nodeId, action: context.operation.name };
          const file = await applyChange(tx, place, { kind: 'register', path, ...recordedContent(path, live) });
          if (!file) throw pathNotFound(nodeId, path);
          await recordObject(tx, file.id, { ...object, live });
          return answerOf(tx, file.id);
        });
      } catch (error) {
        // What may have been recorded stays: a repeated call takes it up.
        if (isOurs && isRefusal(error)) await takeBack(held.remote, live.entry);
        throw error;
      }
    });
  }

  private async makeOther(request: WriteRequest & { readonly ifMatch: string }): Promise<TrackedFile | RawJson> {
    const find = async () => {
      const old = await this.oldObject(request);
      return { ...old, objects: [old.object] as const };
    };
    return this.objects.changeFound(find, request.signal, async (held, { found, object, path }, signal) => {
      const before = await appliedBefore(this.database, request.context);
      if (before) return before;
      const current = await this.objects.contents.require(held, found, signal);
      if (request.ifMatch !== '*' && request.ifMatch !== current.sha256) {
        // A call that was cut off after its content had arrived is repeated: only the record is left to be made.
        const isOwn = await this.isUnrecorded({ found, current }, { ...request, path, signal });
        if (!isOwn) throw contentChanged(current, found.file);
        return this.recordReplaced({ ...request, path }, { found, object, live: current });
      }
      if (request.text && !(await isText(held, current, signal))) throw notEditable(path);
      const live = await this.overwrite({ held, object, path }, { ...request, signal }, { found, current });
      return this.recordReplaced({ ...request, path }, { found, object, live });
    });
  }

  /** Whether what lies there is the content that arrives, and no record tells of it yet. */
  private async isUnrecorded({ found, current }: Replaced, request: WriteRequest): Promise<boolean> {
    if (storedHashOf(found) === current.sha256) return false;
    const digest = new ContentDigest(request.text);
    for await (const _chunk of this.arriving(request, request.path, digest))
      if (digest.sizeBytes > current.entry.sizeBytes) return false;
    return digest.sha256() === current.sha256;
  }

  private async recordReplaced(
    { context, nodeId, path }: WriteRequest,
    { found, object, live }: { readonly found: FoundFile; readonly object: RemoteObject; readonly live: LiveContent },
  ): Promise<TrackedFile | RawJson> {
    try {
      return await runCommand(this.database, context, async (tx) => {
        const place = { nodeId, action: context.operation.name };
        const change = { kind: 'update' as const, file_id: found.file.id, ...recordedContent(path, live) };
        await applyChange(tx, place, change);
        await recordObject(tx, found.file.id, { ...object, live });
        return answerOf(tx, found.file.id);
      });
    } catch (error) {
      // The right ended after the last byte was confirmed: the content is there, and the record says so.
      if (isRefusal(error)) await recordSeen(this.database, found, live).catch(() => undefined);
      throw error;
    }
  }

  /** Where a new file is to lie. */
  private async newObject(request: Pick<WriteRequest, 'nodeId' | 'path' | 'field' | 'context'>) {
    const node = await this.files.writable(request.nodeId, request.context.caller);
    const { path } = checkedPath(request.path, request.field, { portable: true });
    await this.mustBeFree(request, path);
    return { path, object: objectAt(await this.files.remoteOf(node), node, path) };
  }

  /** Where the content of a file lies. */
  private async oldObject(request: Pick<WriteRequest, 'nodeId' | 'path' | 'field' | 'context'>) {
    await this.files.writable(request.nodeId, request.context.caller);
    const { path } = checkedPath(request.path, request.field);
    const found = await this.recorded(request, path);
    const object = objectOf(found);
    if (!object) throw pathNotFound(request.nodeId, path);
    return { path, found, object };
  }

  private async recorded(
    { nodeId, context }: Pick<WriteRequest, 'nodeId' | 'context'>,
    path: string,
  ): Promise<FoundFile> {
    const found = await this.files.at(nodeId, path, context.caller);
    if (!found) throw pathNotFound(nodeId, path);
    if (found.file.is_native_format) throw isNative(path);
    return found;
  }

  private async mustBeFree({ nodeId, context }: Pick<WriteRequest, 'nodeId' | 'context'>, path: string): Promise<void> {
    const there = await this.files.occupying(nodeId, path, context.caller);
    if (there) throw isTaken(there.file.path);
  }

  /** Stores a content where nothing may lie, unless it is that very content. */
  private async put(
    { held, object, path }: Target,
    request: WriteRequest,
  ): Promise<{ live: LiveContent; isOurs: boolean }> {
    const { remote } = held;
    const { signal } = request;
    const there = await remote.stat(object.path, { signal });
    const digest = new ContentDigest(request.text);
    if (there === null) {
      const bytes = this.arriving(request, path, digest);
      const entry = await remote.write(object.path, bytes, { expected: null, modifiedAt: now(), signal });
      return { live: { entry, sha256: digest.sha256() }, isOurs: true };
    }
    if (there.kind === 'folder' && (await freeOfFolder(remote, object.path, signal)))
      return this.put({ held, object, path }, request);
    if (there.kind !== 'file') throw isTaken(path);
    for await (const _chunk of this.arriving(request, path, digest))
      if (digest.sizeBytes > there.sizeBytes) throw isTaken(path);
    const live = await this.objects.contents.of(held, { entry: there, known: null, path }, signal);
    if (live.sha256 !== digest.sha256()) throw isTaken(path);
    return { live, isOurs: false };
  }

  private async overwrite(
    { held, object, path }: Target,
    request: WriteRequest,
    { found, current }: Replaced,
  ): Promise<LiveContent> {
    const { signal } = request;
    const digest = new ContentDigest(request.text);
    const bytes = this.arriving(request, path, digest);
    try {
      const expected = current.entry.revision;
      const entry = await held.remote.write(object.path, bytes, { expected, modifiedAt: now(), signal });
      return { entry, sha256: digest.sha256() };
    } catch (error) {
      if (!(error instanceof RemoteFailure) || error.reason !== 'changed') throw error;
      throw contentChanged(await this.objects.contents.require(held, found, signal), found.file);
    }
  }

  /** Passes on what is to be stored. It ends only while the caller may still write there. */
  private async *arriving(
    { bytes, text, nodeId, context }: WriteRequest,
    path: string,
    digest: ContentDigest,
  ): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      digest.update(chunk);
      if (digest.sizeBytes > LIMITS.uploadBytes) throw tooLarge();
      yield chunk;
    }
    if (text && !digest.isText()) throw notEditable(path);
    await this.files.writable(nodeId, context.caller);
  }
}

/** Removes what this very call wrote. */
async function takeBack(remote: Remote, { path, revision }: RemoteFile): Promise<void> {
  // What stays behind is told to the next one who writes there.
  await remote.remove(path, { expected: revision }).catch(() => undefined);
}

function notEditable(path: string): ServiceError {
  return new ServiceError('NOT_EDITABLE', `${path} is not UTF-8 text, or the new content is not.`, { path });
}

function tooLarge(): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', `The file has more than ${LIMITS.uploadBytes} bytes.`, {
    limit_bytes: LIMITS.uploadBytes,
  });
}

function now(): string {
  return new Date().toISOString();
}
