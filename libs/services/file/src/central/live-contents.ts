import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import { ContentDigest } from '@workspace-graph/disk';
import type { RemoteEntry, RemoteFile } from '@workspace-graph/remotes';
import type { HeldRemote } from '../remotes/remote-pool.js';
import type { FoundFile } from './remote-file.statements.js';
import { isNative, objectOf, pathNotFound, storedHashOf } from './remote-files.js';

/** What lies under the path of a file at present, whoever put it there. */
export interface LiveContent {
  readonly entry: RemoteFile;
  readonly sha256: string;
}

/** Contents whose hashes are kept in mind. */
const KNOWN_HASHES = 10_000;

/**
 * Looks at the contents themselves: what lies on a remote is the truth, and the record is what was seen of it last. A hash
 * that neither the record nor the remote tells is found by reading, once for each revision.
 */
@Injectable()
export class LiveContents {
  private readonly hashes = new Map<string, string>();

  /** Null when nothing lies there. @throws ServiceError NATIVE_FORMAT, REMOTE_REFUSED; RemoteFailure */
  async find(held: HeldRemote, found: FoundFile, signal: AbortSignal): Promise<LiveContent | null> {
    const object = objectOf(found);
    if (object?.remote !== held.name) return null;
    const entry = await held.remote.stat(object.path, { signal });
    if (entry === null) {
      // An emptied or swapped root has nothing of what it should have: that is no absence.
      await held.confirmRoot();
      return null;
    }
    const known = found.remote_revision === revisionOf(entry) ? storedHashOf(found) : null;
    return this.of(held, { entry, known, path: found.file.path }, signal);
  }

  /** The same. @throws ServiceError also FILE_NOT_FOUND */
  async require(held: HeldRemote, found: FoundFile, signal: AbortSignal): Promise<LiveContent> {
    const live = await this.find(held, found, signal);
    if (!live) throw pathNotFound(found.file.node_id, found.file.path);
    return live;
  }

  /** @throws ServiceError NATIVE_FORMAT; FILE_NOT_FOUND for what is no file */
  async of(
    held: HeldRemote,
    { entry, known, path }: { readonly entry: RemoteEntry; readonly known: string | null; readonly path: string },
    signal: AbortSignal,
  ): Promise<LiveContent> {
    if (entry.kind === 'document') throw isNative(path);
    if (entry.kind !== 'file') throw new ServiceError('FILE_NOT_FOUND', `${path} is no file on the remote.`, { path });
    const sha256 = known ?? entry.hashes.sha256 ?? (await this.read(held, entry, signal));
    return { entry, sha256 };
  }

  private async read(
    { name, remote }: HeldRemote,
    { path, revision }: RemoteFile,
    signal: AbortSignal,
  ): Promise<string> {
    const key = JSON.stringify([name, path, revision]);
    const known = this.hashes.get(key);
    if (known !== undefined) return known;
    const hash = createHash('sha256');
    await using content = await remote.read(path, { expected: revision, signal });
    for await (const chunk of content.bytes) hash.update(chunk);
    const sha256 = hash.digest('hex');
    this.hashes.set(key, sha256);
    const [oldest] = this.hashes.keys();
    if (this.hashes.size > KNOWN_HASHES && oldest !== undefined) this.hashes.delete(oldest);
    return sha256;
  }
}

/** Whether a content is text, all of it. @throws RemoteFailure */
export async function isText({ remote }: HeldRemote, { entry }: LiveContent, signal: AbortSignal): Promise<boolean> {
  const digest = new ContentDigest(true);
  await using content = await remote.read(entry.path, { expected: entry.revision, signal });
  for await (const chunk of content.bytes) digest.update(chunk);
  return digest.isText();
}

/** The refusal of a change that builds on another content than the one that lies there. */
export function contentChanged(
  { entry, sha256 }: LiveContent,
  { version }: FoundFile['file'],
  message = 'The content of the file differs from the content that this change is based on.',
): ServiceError {
  return new ServiceError('CONFLICT', message, { current: { sha256, version, size_bytes: entry.sizeBytes } });
}

/** The refusal of a content that is not the one that was told before it was sent. */
export function otherContent({ file }: Pick<FoundFile, 'file'>): ServiceError {
  return new ServiceError('CONFLICT', 'The content that arrived is another one than was told: nothing was stored.', {
    current: { sha256: file.sha256, version: file.version },
  });
}

function revisionOf(entry: RemoteEntry): string | null {
  return 'revision' in entry ? entry.revision : null;
}
