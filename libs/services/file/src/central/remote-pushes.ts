import { Injectable } from '@nestjs/common';
import { type Caller, type Push, type PushedFile, ServiceError } from '@workspace-graph/contracts';
import { type CommandContext, Database, runCommand, type Transaction } from '@workspace-graph/database';
import { ContentDigest } from '@workspace-graph/disk';
import { RemoteFailure, type RemoteFile } from '@workspace-graph/remotes';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { fileNotFound, seenBy } from '../shared/caller.js';
import { toldPath } from '../shared/told-path.js';
import { freeOfFolder } from './empty-folders.js';
import { contentChanged, type LiveContent, otherContent } from './live-contents.js';
import { ObjectFollows } from './object-follows.js';
import type { RemoteObject } from './object-locks.js';
import { isRefusal, recordObject } from './record-changes.js';
import { FILE_BY_ID, type FoundFile } from './remote-file.statements.js';
import { isNative, isTaken, objectAt, objectOf, RemoteFiles, storedHashOf } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';
import { type UploadGoal, wentOn } from './uploads/large-uploads.js';

/** A push with its bytes, on behalf of whoever sends them. */
export interface PushRequest {
  readonly push: Push;
  /** Bytes of the content that are there already. */
  readonly from: number;
  /** What comes after those. */
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

interface Place {
  readonly caller: Caller;
  readonly found: FoundFile;
  readonly object: RemoteObject;
}

/** What is known before a content is sent. */
export interface PreparedPush {
  readonly nodeId: string;
  /** The file, when its content is there already. */
  readonly pushed: PushedFile | null;
  /** How much an upload that broke off has left. */
  readonly received: number;
}

/**
 * Contents that devices bring to the remotes. Each names the content that it builds on, and is refused when anything else
 * lies there: nothing is overwritten that its device has not seen.
 */
@Injectable()
export class RemotePushes {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    private readonly follows: ObjectFollows,
  ) {}

  /**
   * Looks before the bytes are sent. Answers the file if its content is there already, as after a push whose answer was lost.
   * @throws ServiceError FILE_NOT_FOUND, FORBIDDEN, NATIVE_FORMAT, NO_REMOTE, REMOTE_REFUSED, REMOTE_UNAVAILABLE;
   * CONFLICT with `details.current`
   */
  async prepare(push: Push, context: CommandContext, signal: AbortSignal): Promise<PreparedPush> {
    const place = await this.placeOf(push, context.caller);
    const { found, object } = place;
    const nodeId = found.file.node_id;
    if (objectOf(found) === null) await this.follows.clear(object, signal);
    const left = await this.objects.look(object, found.file.path, async (held) => {
      const live = await this.contentAt(held, place, signal);
      refuseOther(push, live, found);
      if (live?.sha256 === push.sha256) return null;
      return { received: await this.objects.uploads.received(held.remote, goalOf(push, place), signal) };
    });
    if (left) return { nodeId, pushed: null, ...left };
    return this.objects.change([object], { path: found.file.path, signal }, async (held, locked) => {
      const live = await this.contentAt(held, place, locked);
      const isThere = live?.sha256 === push.sha256;
      return { nodeId, pushed: isThere ? await this.record(context, place, live) : null, received: 0 };
    });
  }

  /** Takes the content. All of it or nothing: one that breaks off, or is another than was told, leaves nothing. @throws ServiceError as `prepare` */
  async receive(request: PushRequest): Promise<PushedFile> {
    const { push, context, signal } = request;
    const find = async () => {
      const place = await this.placeOf(push, context.caller);
      return { place, path: place.found.file.path, objects: [place.object] as const };
    };
    return this.objects.changeFound(find, signal, async (held, { place }, locked) => {
      const { object } = place;
      const live = await this.contentAt(held, place, locked);
      if (live?.sha256 === push.sha256) return this.record(context, place, live);
      refuseOther(push, live, place.found);
      const expected = live?.entry.revision ?? null;
      const entry = await this.put(held, place, { ...request, signal: locked }, expected);
      try {
        return await this.record(context, place, { entry, sha256: push.sha256 });
      } catch (error) {
        // A file that is gone leaves nothing new behind; what was replaced is told to the next one who looks.
        if (expected === null && isRefusal(error))
          await held.remote.remove(object.path, { expected: entry.revision }).catch(() => undefined);
        throw error;
      }
    });
  }

  private async placeOf({ file_id }: Push, caller: Caller): Promise<Place> {
    const found = await this.files.changeable(file_id, caller, {});
    if (found.file.is_native_format) throw isNative(found.file.path);
    return {
      caller,
      found,
      object: objectOf(found) ?? objectAt(await this.files.remoteOf(found), found, found.file.path),
    };
  }

  private async contentAt(
    held: HeldRemote,
    { caller, found, object }: Place,
    signal: AbortSignal,
  ): Promise<LiveContent | null> {
    const entry = await held.remote.stat(object.path, { signal });
    if (entry === null) {
      // An emptied or swapped root has nothing of what it should have: that is no absence.
      await held.confirmRoot();
      return null;
    }
    if (objectOf(found) === null && (await this.files.isOthers(object, caller))) throw isTaken(found.file.path);
    if (entry.kind === 'folder') {
      if (await freeOfFolder(held.remote, object.path, signal)) return null;
      throw isFolder(found.file.path);
    }
    const isSeen = 'revision' in entry && found.remote_revision === entry.revision;
    const known = isSeen ? storedHashOf(found) : null;
    return this.objects.contents.of(held, { entry, known, path: found.file.path }, signal);
  }

  private async put(
    held: HeldRemote,
    place: Place,
    request: PushRequest,
    expected: string | null,
  ): Promise<RemoteFile> {
    const { push, from, bytes, context, signal } = request;
    const uploads = this.objects.uploads.for(push, held.remote);
    try {
      if (uploads) {
        const confirm = () => this.confirm(place, context);
        const rest = { from, bytes, expected, confirm, signal };
        return await this.objects.uploads.receive(uploads, goalOf(push, place), rest);
      }
      if (from > 0) throw wentOn();
      const options = { expected, modifiedAt: push.modified_at, signal };
      return await held.remote.write(place.object.path, this.arriving(request, place), options);
    } catch (error) {
      if (!(error instanceof RemoteFailure) || error.reason !== 'changed') throw error;
      const live = await this.contentAt(held, place, signal);
      if (live) throw unseen(live, place.found);
      throw error;
    }
  }

  /** Ends only when all of it has arrived as it was told, and while the caller may still write there. */
  private async *arriving({ push, bytes, context }: PushRequest, place: Place): AsyncGenerator<Uint8Array> {
    const digest = new ContentDigest(false);
    for await (const chunk of bytes) {
      digest.update(chunk);
      if (digest.sizeBytes > push.size_bytes) break;
      yield chunk;
    }
    if (digest.sizeBytes !== push.size_bytes || digest.sha256() !== push.sha256) throw otherContent(place.found);
    await this.confirm(place, context);
  }

  /** Looks once more whether the caller may write there. @throws ServiceError NODE_NOT_FOUND, FORBIDDEN */
  private async confirm({ found }: Place, { caller }: CommandContext): Promise<void> {
    await this.files.writable(found.file.node_id, caller);
  }

  /** The record may tell of a newer content, which is to be pushed in its turn. */
  private async record(context: CommandContext, { found, object }: Place, live: LiveContent): Promise<PushedFile> {
    const reply = await runCommand(this.database, context, async (tx) => {
      const { file } = await currentOf(tx, found.file.id);
      await recordObject(tx, file.id, { ...object, live });
      const [before, after] = [file.current_remote_hash, `sha256:${live.sha256}`];
      if (before !== after) {
        tx.audit({
          action: context.operation.name,
          targetKind: 'file',
          targetId: file.id,
          concerns: [file.node_id],
          before: { current_remote_hash: before },
          after: { current_remote_hash: after, remote_name: object.remote },
        });
        tx.emit('file.changed', { node_id: file.node_id });
      }
      return { file: (await currentOf(tx, file.id)).file, remote_path: toldPath(found, object.path, found.file.path) };
    });
    return 'parse' in reply ? (reply.parse() as PushedFile) : reply;
  }
}

/** @throws ServiceError FILE_NOT_FOUND for one that is gone, or not the caller's to write on any more */
async function currentOf(tx: Transaction, fileId: string): Promise<FoundFile> {
  const row = await tx.row<FoundFile & Record<string, unknown>>(FILE_BY_ID, [
    ...seenBy(tx.context.caller),
    fileId,
    tx.context.caller.session_id ?? null,
  ]);
  if (!row?.is_writable) throw fileNotFound(fileId);
  return row;
}

/** @throws ServiceError CONFLICT for a content that the device did not have */
function refuseOther({ sha256, builds_on }: Push, live: LiveContent | null, found: FoundFile): void {
  if (!live || live.sha256 === sha256 || live.sha256 === builds_on) return;
  throw unseen(live, found);
}

function isFolder(path: string): ServiceError {
  const message = `${path} is a folder with files in it on the remote. Give the file another name, or move what lies in the folder.`;
  return new ServiceError('DESTINATION_EXISTS', message, { path });
}

/** The refusal of a content that builds on another one than lies there, with the way out. */
function unseen(live: LiveContent, found: FoundFile): ServiceError {
  const { file } = found;
  const message =
    objectOf(found) === null
      ? `Something that is no file of the node yet lies on the remote as ${file.path}. Give the file here another name and store it as that: what lies there can be adopted then.`
      : `The remote has another content of ${file.path} than this workstation has seen. Pull it with force, which puts what is here into the trash, and restore that under another path.`;
  return contentChanged(live, file, message);
}

function goalOf(push: Push, { found: { file }, object }: Place): UploadGoal {
  return { push, file, object };
}
