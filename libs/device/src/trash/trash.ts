import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { SeenContent } from '@workspace-graph/disk';
import { editOf, isAbsent, keepAs, locate, type MirrorPath, readContent, stampOf } from '@workspace-graph/disk';
import { newId, syncFolder } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DiskParts } from '../device-parts.js';
import type { TrashRow } from '../store/device-store.js';

const DAY_MS = 24 * 60 * 60_000;
const AGAIN_MS = 60_000;
/** Bytes without an entry that are younger may belong to a change that is under way. */
const ORPHAN_MS = DAY_MS;

/** What is put into the trash. */
export interface Discarded {
  readonly nodeId: string;
  readonly fileId: string | null;
  readonly reason: TrashRow['reason'];
  /** What the file held a moment ago, so that it need not be read once more; null where nobody knows. */
  readonly seen: SeenContent | null;
  /** Where it lay within the node, when it lies aside by now. */
  readonly path?: string;
}

/**
 * Content that was deleted or replaced on this device: the bytes under `.svc/trash`, one row each in the registry. First
 * come the bytes and go the rows, so that no entry ever stands for bytes that are not there, or not all there.
 */
@Injectable()
export class Trash implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly folder: string;
  private timer: NodeJS.Timeout | undefined;
  private again: NodeJS.Timeout | undefined;
  /** Ids of entries that nobody needs and that could not be removed. */
  private readonly unneeded = new Set<string>();
  private sweeping: Promise<void> = Promise.resolve();

  constructor(@Inject(DEVICE_PARTS) private readonly parts: DiskParts) {
    this.folder = join(parts.settings.own, 'trash');
  }

  onApplicationBootstrap(): void {
    this.sweeping = this.sweepSafely();
    this.timer = setInterval(() => {
      this.sweeping = this.sweeping.then(() => this.sweepSafely());
    }, DAY_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    clearTimeout(this.again);
    await this.sweeping;
  }

  /** Where the bytes of an entry lie. */
  pathOf({ id }: Pick<TrashRow, 'id'>): string {
    return join(this.folder, id);
  }

  /** When an entry goes by itself. */
  expiryOf({ trashedAt }: TrashRow): string {
    return new Date(Date.parse(trashedAt) + this.parts.settings.trashDays * DAY_MS).toISOString();
  }

  /** Keeps what lies at a path; it stays there too. Call it while the node is locked. @throws ServiceError STORAGE_FULL */
  async keep(at: MirrorPath, { nodeId, fileId, reason, seen, path = at.path }: Discarded): Promise<TrashRow> {
    const id = newId();
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const { sha256, sizeBytes, edit } = await keepAs(at, this.pathOf({ id }), seen);
    await syncFolder(this.folder);
    const entry = { id, nodeId, fileId, path, reason, sha256, sizeBytes, edit, trashedAt: new Date().toISOString() };
    try {
      this.parts.store.putTrash(entry);
    } catch (error) {
      await rm(this.pathOf(entry), { force: true });
      throw error;
    }
    return entry;
  }

  /** An entry as it is now: the bytes of one that is no copy may have been written since. */
  async current(row: TrashRow): Promise<TrashRow> {
    if (row.edit === null) return row;
    try {
      const at = await locate(this.folder, row.id);
      if (editOf(stampOf(await lstat(at.absolute, { bigint: true }))) === row.edit) return row;
      const { sha256, sizeBytes, stamp } = await readContent(at);
      const now = { ...row, sha256, sizeBytes, edit: editOf(stamp ?? '') };
      if (this.parts.store.trashEntry(row.id)) this.parts.store.putTrash(now);
      return now;
    } catch (error) {
      this.parts.logger.warn({ err: error, trash: row.id }, 'an entry of the trash could not be re-read');
      return row;
    }
  }

  /** Takes an entry back whose file was to stay where it lay. When that is not there any more, the entry stays. */
  async withdraw(entry: TrashRow, { absolute }: MirrorPath): Promise<void> {
    if (entry.edit === null || (await isOneFile(this.pathOf(entry), absolute))) await this.discard(entry);
  }

  /** Removes an entry with its bytes; later, when the registry cannot be written now. */
  async discard({ id }: Pick<TrashRow, 'id'>): Promise<void> {
    try {
      await this.forget({ id });
    } catch (error) {
      this.parts.logger.warn({ err: error, trash: id }, 'an entry of the trash could not be removed yet');
      this.unneeded.add(id);
      this.tryAgain();
    }
  }

  /** Removes an entry with its bytes. */
  async forget({ id }: Pick<TrashRow, 'id'>): Promise<void> {
    this.parts.store.removeTrash(id);
    await rm(this.pathOf({ id }), { force: true });
  }

  /** Removes what is older than it is kept, entries without bytes, and bytes that no entry has known for a day. */
  async sweep(nowMs: number): Promise<void> {
    const { store, settings } = this.parts;
    for (const id of this.unneeded) {
      await this.forget({ id });
      this.unneeded.delete(id);
    }
    const expired = new Date(nowMs - settings.trashDays * DAY_MS).toISOString();
    for (const row of store.trashBefore(expired)) await this.forget(row);
    // Rows first: the bytes of one that is added while the folder is listed may not be in the list.
    const ids = store.trashIds();
    const names = new Set(await this.names());
    for (const id of ids) if (!names.has(id)) store.removeTrash(id);
    for (const name of names) if (!ids.has(name)) await this.removeOrphan(name, nowMs);
  }

  private async sweepSafely(): Promise<void> {
    try {
      await this.sweep(Date.now());
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'the trash could not be cleaned up; retrying in a minute');
      this.tryAgain();
    }
  }

  private tryAgain(): void {
    clearTimeout(this.again);
    this.again = setTimeout(() => {
      this.sweeping = this.sweeping.then(() => this.sweepSafely());
    }, AGAIN_MS).unref();
  }

  private async removeOrphan(name: string, nowMs: number): Promise<void> {
    const path = join(this.folder, name);
    const { ctimeMs } = await lstat(path);
    if (nowMs - ctimeMs > ORPHAN_MS && !this.parts.store.trashEntry(name))
      await rm(path, { force: true, recursive: true });
  }

  private async names(): Promise<string[]> {
    try {
      return await readdir(this.folder);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }
}

async function isOneFile(...paths: readonly [string, string]): Promise<boolean> {
  try {
    const [one, other] = await Promise.all(paths.map((path) => lstat(path, { bigint: true })));
    return one?.ino === other?.ino && one?.dev === other?.dev;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
