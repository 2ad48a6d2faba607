import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import { chunksOf, inodeOf, stampOf } from '@workspace-graph/disk';
import { pathKey } from '@workspace-graph/domain';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';

const READ_ATTEMPTS = 3;
const MAX_REMEMBERED = 1_000;
/** A file that was changed so short a time ago can change again without another time of change. */
const RACY_NS = 2_000_000_000n;

/** A file of a node that is open for reading. */
export interface OpenFile {
  readonly nodeId: string;
  /** Within the node, in NFC. */
  readonly path: string;
  readonly handle: FileHandle;
}

export interface HashedFile {
  readonly sha256: string;
  /** As the file was when it had this hash. */
  readonly found: BigIntStats;
}

/** Tells the hashes of files: as the registry knows them while the file is the same, else by reading it. */
@Injectable()
export class ContentHashes {
  /** By device, inode and stamp, the one used last at the end. */
  private readonly known = new Map<string, string>();
  /** Marks under which something else was read than the registry told. */
  private readonly distrusted = new Set<string>();

  constructor(@Inject(DEVICE_PARTS) private readonly parts: DeviceParts) {}

  /** @throws ServiceError SERVICE_UNAVAILABLE for a file that is written without a pause; the reason of `signal` */
  async of(file: OpenFile, signal?: AbortSignal): Promise<HashedFile> {
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt += 1) {
      const found = await file.handle.stat({ bigint: true });
      const told = this.registered(file, found) ?? this.remembered(found);
      if (told !== null) return { sha256: told, found };
      const sha256 = await hashOf(file.handle, signal);
      const after = await file.handle.stat({ bigint: true });
      if (markOf(after) !== markOf(found)) continue;
      this.remember(found, sha256);
      return { sha256, found };
    }
    throw beingWritten(file.path);
  }

  /** Of a file that no folder of a node holds. @throws the reason of `signal` */
  async ofPath(path: string, signal: AbortSignal): Promise<string> {
    await using handle = await open(path);
    return await hashOf(handle, signal);
  }

  /** Notes that the content of a file was not the one of its hash. */
  distrust({ found }: HashedFile): void {
    if (this.distrusted.size >= MAX_REMEMBERED) this.distrusted.clear();
    this.distrusted.add(markOf(found));
    this.known.delete(markOf(found));
  }

  private registered({ nodeId, path }: OpenFile, found: BigIntStats): string | null {
    const state = this.parts.store.fileAt(nodeId, pathKey(path));
    if (!state || state.isDeleted || state.path !== path || state.stamp !== stampOf(found)) return null;
    if (state.inode !== null && state.inode !== inodeOf(found)) return null;
    return this.distrusted.has(markOf(found)) ? null : state.sha256;
  }

  private remembered(found: BigIntStats): string | null {
    const mark = markOf(found);
    const sha256 = this.known.get(mark);
    if (sha256 === undefined) return null;
    this.known.delete(mark);
    this.known.set(mark, sha256);
    return sha256;
  }

  private remember(found: BigIntStats, sha256: string): void {
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    if ([found.mtimeNs, found.ctimeNs].some((timeNs) => nowNs - timeNs < RACY_NS)) return;
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= MAX_REMEMBERED) this.known.delete(oldest);
    this.known.set(markOf(found), sha256);
  }
}

export function beingWritten(path: string): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', `The file ${path} is being written; try again in a moment.`, { path });
}

async function hashOf(handle: FileHandle, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(handle)) {
    signal?.throwIfAborted();
    hash.update(chunk);
  }
  return hash.digest('hex');
}

function markOf(found: BigIntStats): string {
  return `${found.dev}:${found.ino}:${stampOf(found)}`;
}
