import { Injectable } from '@nestjs/common';
import { type FileRecord, LIMITS, type Push, ServiceError } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { only } from '@workspace-graph/disk';
import {
  passingParts,
  type Remote,
  RemoteFailure,
  type RemoteFile,
  type ResumableUploads,
} from '@workspace-graph/remotes';
import { otherContent } from '../live-contents.js';
import type { RemoteObject } from '../object-locks.js';
import { ResumedHash } from './resumed-hash.js';
import { BEGIN_UPLOAD, END_UPLOAD, UPLOAD, type UploadRow } from './upload.statements.js';
import { KeptUploadHashes, NotedUploadHash, type UploadHash } from './upload-hashes.js';

/** Where a content goes. */
export interface UploadGoal {
  readonly push: Push;
  /** As its record is. */
  readonly file: FileRecord;
  readonly object: RemoteObject;
}

/** The rest of a content, from an offset on. */
export interface Rest {
  readonly from: number;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Revision that is replaced; null for a new object. */
  readonly expected: string | null;
  /** Looks once more whether the caller may write there, when all has arrived. */
  readonly confirm: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** What is there of a content. */
interface Kept {
  readonly handle: string;
  readonly bytes: number;
  /** Null where the storage gives it back: the hash is made of that. */
  readonly hash: ResumedHash | null;
}

/**
 * Large contents on their way to remotes. What has arrived is kept on the remote, part by part, so that an upload goes on where it
 * broke off, also in another process. Nobody sees the content before it is whole and was found to be the one that was told.
 */
@Injectable()
export class LargeUploads {
  /** Contents of at most so many bytes are sent again instead. */
  readonly mostAtOnce: number = LIMITS.resumedFileBytes;

  constructor(
    private readonly database: Database,
    private readonly hashes: KeptUploadHashes,
  ) {}

  /** Uploads of a remote for a content that is large enough; null for one that is written in one go. */
  for({ size_bytes }: Push, { uploads }: Remote): ResumableUploads | null {
    return uploads && size_bytes > this.mostAtOnce ? uploads : null;
  }

  /** How many bytes are there of a content that broke off. @throws RemoteFailure */
  async received(remote: Remote, goal: UploadGoal, signal: AbortSignal): Promise<number> {
    const uploads = this.for(goal.push, remote);
    return (uploads && (await this.kept(uploads, goal, signal))?.bytes) ?? 0;
  }

  /**
   * Takes the rest of a content; all of one that begins anew.
   * @throws RemoteFailure, of which nothing stays when there is no room for the content; ServiceError CONFLICT for another content than
   * was told, of which nothing stays; SERVICE_UNAVAILABLE for a rest of something else than is there by now
   */
  async receive(uploads: ResumableUploads, goal: UploadGoal, rest: Rest): Promise<RemoteFile> {
    const kept = await this.begun(uploads, goal, rest);
    try {
      return await this.complete(uploads, goal, kept, rest);
    } catch (error) {
      // What stayed would keep the last room from everybody else, for a content that has none.
      if (hasNoRoom(error)) await this.abandon(uploads, goal, kept.handle);
      throw error;
    }
  }

  private async complete(uploads: ResumableUploads, goal: UploadGoal, kept: Kept, rest: Rest): Promise<RemoteFile> {
    const { expected, signal } = rest;
    const hash = await this.hashOf(uploads, goal, kept, signal);
    if (!(await this.append(uploads, goal, { ...kept, hash }, rest))) {
      await this.abandon(uploads, goal, kept.handle);
      throw hash.isReread ? damaged() : otherContent(goal);
    }
    await rest.confirm();
    const options = { expected, modifiedAt: goal.push.modified_at, signal };
    const file = await uploads.finish(kept.handle, options);
    await this.end(goal, kept.handle);
    return file;
  }

  /** Null for one of which nothing is kept, or not of this content in this place. */
  private async kept(
    uploads: ResumableUploads,
    { push, object }: UploadGoal,
    signal: AbortSignal,
  ): Promise<Kept | null> {
    const row = await this.database.row<UploadRow & Record<string, unknown>>(UPLOAD, [push.file_id]);
    if (row?.sha256 !== push.sha256 || row.remote_name !== object.remote || row.remote_path !== object.path)
      return null;
    const received = await uploads.received(row.handle, { signal }).catch((error: unknown) => {
      if (isGone(error)) return -1;
      throw error;
    });
    if (uploads.read)
      return received < 0 ? null : { handle: row.handle, bytes: wholeParts(received, push, uploads), hash: null };
    // The part that came last may be there although the process ended before it heard so.
    const ends = [
      { bytes: Number(row.next_bytes ?? -1), state: row.next_hash },
      { bytes: Number(row.done_bytes), state: row.done_hash },
    ];
    const end = ends.find(({ bytes }) => bytes >= 0 && bytes <= received);
    const hash = end && (await ResumedHash.from(end.state));
    return hash ? { handle: row.handle, bytes: end.bytes, hash } : null;
  }

  private async begun(uploads: ResumableUploads, goal: UploadGoal, { from, signal }: Rest): Promise<Kept> {
    if (from > 0) {
      const kept = await this.kept(uploads, goal, signal);
      if (kept?.bytes === from) return kept;
      throw wentOn();
    }
    const { push, object } = goal;
    const before = await this.database.row<UploadRow & Record<string, unknown>>(UPLOAD, [push.file_id]);
    if (before) this.hashes.forget(before.handle);
    if (before?.remote_name === object.remote) await uploads.abandon(before.handle, { signal });
    const handle = await uploads.begin(object.path, { signal });
    const { file_id, sha256, size_bytes } = push;
    await this.database.rows(BEGIN_UPLOAD, [file_id, object.remote, object.path, sha256, size_bytes, handle]);
    return { handle, bytes: 0, hash: uploads.read ? null : await ResumedHash.begin() };
  }

  private async hashOf(
    uploads: ResumableUploads,
    { push: { file_id: fileId } }: UploadGoal,
    { handle, bytes, hash }: Kept,
    signal: AbortSignal,
  ): Promise<UploadHash> {
    const { read } = uploads;
    if (hash) return new NotedUploadHash(this.database, { fileId, handle, bytes }, hash);
    if (!read) throw new Error('An upload has no hash');
    return await this.hashes.at({ read: read.bind(uploads) }, { handle, bytes }, signal);
  }

  /** Whether the content is the one that was told, when all of it has arrived. */
  private async append(
    uploads: ResumableUploads,
    { push }: UploadGoal,
    { handle, bytes: before, hash }: { readonly handle: string; readonly bytes: number; readonly hash: UploadHash },
    { bytes, signal }: Rest,
  ): Promise<boolean> {
    let done = before;
    for await (const part of passingParts(bytes, uploads.partBytes)) {
      if (done + part.byteLength > push.size_bytes) return false;
      await hash.announce(part);
      await uploads.append(handle, done, only(part), { signal });
      hash.arrived(part);
      done += part.byteLength;
    }
    return done === push.size_bytes && hash.end() === push.sha256;
  }

  private async abandon(uploads: ResumableUploads, goal: UploadGoal, handle: string): Promise<void> {
    await this.end(goal, handle);
    // What stays is seen by nobody, and is cleared away by the remote in time.
    await uploads.abandon(handle).catch((error: unknown) => {
      if (!(error instanceof RemoteFailure)) throw error;
    });
  }

  private async end({ push }: UploadGoal, handle: string): Promise<void> {
    this.hashes.forget(handle);
    await this.database.rows(END_UPLOAD, [push.file_id, handle]);
  }
}

/** Up to the end of a part: what a process that died was writing may lie behind it. */
function wholeParts(received: number, { size_bytes }: Push, { partBytes }: ResumableUploads): number {
  return received === size_bytes ? received : received - (received % partBytes);
}

/** The refusal of the rest of a content of which something else is there by now. */
export function wentOn(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The upload went on, or ended, elsewhere meanwhile: try again.');
}

/** The refusal of a content of which something else is there than arrived once, or than was told: the next try begins anew. */
function damaged(): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'What was there of the upload was damaged: it begins anew. Try again.',
  );
}

function hasNoRoom(error: unknown): boolean {
  return error instanceof RemoteFailure && (error.reason === 'full' || error.reason === 'too_large');
}

function isGone(error: unknown): boolean {
  return error instanceof RemoteFailure && error.reason === 'not_found';
}
