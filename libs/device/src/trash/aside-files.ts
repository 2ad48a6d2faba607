import type { BigIntStats } from 'node:fs';
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  type Asides,
  asideName,
  bringBackTo,
  locate,
  type MirrorPath,
  readContent,
  statOrNull,
} from '@workspace-graph/disk';
import { pathKey } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DiskParts } from '../device-parts.js';
import type { AsideRow } from '../store/aside-store.js';
import type { TrashRow } from '../store/device-store.js';
import { TakenAside } from './taken-aside.js';
import { Trash } from './trash.js';

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
/** Within our own folder. */
const FOLDER = 'aside';

/** Where a file lies that is about to be changed. */
export interface AsidePlace {
  readonly nodeId: string;
  /** Within the node. */
  readonly path: string;
  /** Content that is to be kept elsewhere by the time the change is done. */
  readonly sha256?: string;
}

/** Rows that were noted before and not taken yet, by node and path: one for each time a file is taken from there. */
export type NotedAsides = Map<string, AsideRow[]>;

interface Settling {
  readonly isDone: boolean;
  /** Whether what lies aside lies elsewhere too, where it stays, or is of no use to anybody. */
  readonly isKept: (aside: BigIntStats) => Promise<boolean>;
}

/**
 * Files that a change took from their names, see `Asides`. A change that fails gives them back, or leaves them to the
 * trash where their names are taken by then. After one that is carried out, what lies elsewhere too goes at once, and
 * anything else in a day: a program that had it open may save into it until then. Until then it lies in our own folder, or
 * where that is on another disk in the root of its mirror.
 */
@Injectable()
export class AsideFiles implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  /** Rows of files that are gone; removed with the next ones that are noted. */
  private readonly finished = new Set<string>();
  /** Rows of files whose change is done; written with the next ones that are noted. */
  private readonly done = new Map<string, AsideRow>();

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DiskParts,
    readonly trash: Trash,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.sweeping = this.sweeping.then(() => this.sweep(Date.now()));
    }, HOUR_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.sweeping;
    this.flush();
  }

  /**
   * Carries out a change that may take files aside, and then decides what becomes of these. Call it while their nodes
   * are locked.
   */
  async run<T>(work: (asides: Asides) => Promise<T>, noted: NotedAsides = new Map()): Promise<T> {
    const taken = new TakenAside((at) => this.takeNoted(noted, at));
    try {
      const result = await work(taken);
      await this.settleAll(taken, true);
      return result;
    } catch (error) {
      await this.settleAll(taken, false);
      throw error;
    }
  }

  /**
   * Notes in one write that all these may be taken aside by calls of `run` within the work. What undoing will need is noted
   * with it: the disk of the registry may be full by then. What became of them is noted with the next ones; until then
   * the disk tells it.
   */
  async noted<T>(places: readonly AsidePlace[], work: (noted: NotedAsides) => Promise<T>): Promise<T> {
    const noted = this.note(places);
    try {
      return await work(noted);
    } finally {
      for (const { id } of [...noted.values()].flat()) this.finished.add(id);
    }
  }

  /** Ends what a killed process left. Call it before anybody works with the folders, with all nodes locked. */
  async recover(): Promise<void> {
    for (const row of this.parts.store.asides.all())
      if (!row.isDone) await this.trySettle(row, { isDone: false, isKept: () => Promise.resolve(false) });
    this.flush();
  }

  /** Removes what was taken aside more than a day ago, unless somebody saved into it: that goes to the trash. */
  async sweep(nowMs: number): Promise<void> {
    this.flush();
    const isDue = ({ isDone, takenAt }: AsideRow): boolean => isDone && Date.parse(takenAt) < nowMs - DAY_MS;
    for (const row of this.parts.store.asides.all().filter(isDue))
      await this.parts.locks.run([row.nodeId], () => this.tryEnd(row));
    this.flush();
  }

  private note(places: readonly AsidePlace[]): NotedAsides {
    const takenAt = new Date().toISOString();
    const known = new Map(
      [...Map.groupBy(places, ({ nodeId }) => nodeId)].map(([nodeId, group]) => [
        nodeId,
        this.parts.store.filesAt(
          nodeId,
          group.map(({ path }) => pathKey(path)),
        ),
      ]),
    );
    const rows = places.map(({ nodeId, path, sha256 = null }): AsideRow => {
      const file = known.get(nodeId)?.get(pathKey(path));
      const fileId = file?.path === path ? file.fileId : null;
      return { id: newId(), nodeId, fileId, path, sha256, isDone: false, takenAt };
    });
    this.write(rows);
    const noted: NotedAsides = new Map();
    for (const row of rows) noted.set(keyOf(row), [...(noted.get(keyOf(row)) ?? []), row]);
    return noted;
  }

  /** Notes what became of them; later, when the registry cannot be written now. */
  private flush(): void {
    try {
      this.write([]);
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'notes of files that are no longer aside could not be removed yet');
    }
  }

  private write(noted: readonly AsideRow[]): void {
    const [put, remove] = [[...this.done.values()], [...this.finished]];
    this.parts.store.asides.change({ put: [...put, ...noted], remove });
    for (const { id } of put) this.done.delete(id);
    for (const id of remove) this.finished.delete(id);
  }

  private takeNoted(noted: NotedAsides, { mirrorRoot, path }: MirrorPath): AsideRow {
    const nodeId = this.parts.store.mirrors().find((row) => row.path === mirrorRoot)?.nodeId ?? '';
    const key = keyOf({ nodeId, path });
    const row = noted.get(key)?.shift() ?? this.note([{ nodeId, path }]).get(key)?.shift();
    if (!row) throw new Error('the note that was just written is missing');
    return row;
  }

  private async settleAll(taken: TakenAside, isDone: boolean): Promise<void> {
    for (const { row, at, keptAt, isUseless } of taken.all()) {
      const isKept = async (aside: BigIntStats): Promise<boolean> =>
        isUseless || (keptAt !== null && isOneFile(aside, await statOrNull(keptAt)));
      await this.trySettle(row, { isDone: isDone || isUseless, isKept }, at.mirrorRoot);
    }
  }

  private async trySettle(row: AsideRow, how: Settling, root?: string): Promise<void> {
    try {
      if (await this.settle(row, how, root ?? this.rootOf(row))) this.finished.add(row.id);
    } catch (error) {
      this.warn(row, error);
    }
  }

  /** Whether nothing of it lies aside any more. */
  private async settle(row: AsideRow, { isDone, isKept }: Settling, root: string | null): Promise<boolean> {
    const aside = await find(root, posix.join(posix.dirname(row.path), asideName(row.id)));
    if (!aside) return this.isGone(row, root);
    if (!isDone && (await bringBackTo(aside, row.path))) return true;
    if (await isKept(await lstat(aside.absolute, { bigint: true }))) return removed(aside);
    const entry = isDone ? null : await this.keep(aside, row);
    if (entry && entry.edit !== null) return removed(aside);
    await this.park(aside, row);
    this.done.set(row.id, { ...row, isDone: true, sha256: entry?.sha256 ?? row.sha256 });
    return false;
  }

  /** Whether it does not lie where it stays for a day either, to where it came before that could be noted. */
  private async isGone(row: AsideRow, root: string | null): Promise<boolean> {
    if (!(await this.parked(row, root))) return true;
    this.done.set(row.id, { ...row, isDone: true });
    return false;
  }

  private async park({ absolute, mirrorRoot }: MirrorPath, { id }: AsideRow): Promise<void> {
    try {
      await mkdir(join(this.own, FOLDER), { recursive: true, mode: 0o700 });
      await rename(absolute, join(this.own, FOLDER, id));
    } catch {
      // Our own folder is on another disk, or cannot be written.
      await rename(absolute, join(mirrorRoot, asideName(id)));
    }
  }

  private async parked({ id }: AsideRow, root: string | null): Promise<MirrorPath | null> {
    return (await find(this.own, posix.join(FOLDER, id))) ?? (await find(root, asideName(id)));
  }

  /** Puts it into the trash. */
  private keep(aside: MirrorPath, { nodeId, fileId, path }: AsideRow): Promise<TrashRow> {
    return this.trash.keep(aside, { nodeId, fileId, path, reason: 'replaced', seen: null });
  }

  private async tryEnd(row: AsideRow): Promise<void> {
    try {
      const aside = await this.parked(row, this.rootOf(row));
      if (aside) {
        if ((await readContent(aside)).sha256 !== row.sha256) await this.keep(aside, row);
        await removed(aside);
      }
      this.finished.add(row.id);
    } catch (error) {
      this.warn(row, error);
    }
  }

  private get own(): string {
    return this.parts.settings.own;
  }

  private rootOf({ nodeId }: AsideRow): string | null {
    return this.parts.store.mirror(nodeId)?.path ?? null;
  }

  private warn({ nodeId, id }: AsideRow, error: unknown): void {
    this.parts.logger.warn({ err: error, node: nodeId, aside: id }, 'a file aside could not be settled');
  }
}

function keyOf({ nodeId, path }: Omit<AsidePlace, 'sha256'>): string {
  return `${nodeId}/${path}`;
}

/** Null when it is not there, nor its mirror. */
async function find(root: string | null, path: string): Promise<MirrorPath | null> {
  if (root === null || (await statOrNull(root)) === null) return null;
  const at = await locate(root, path);
  return at.exists ? at : null;
}

async function removed({ absolute }: MirrorPath): Promise<true> {
  await rm(absolute, { force: true });
  return true;
}

function isOneFile(one: BigIntStats, other: BigIntStats | null): boolean {
  return other !== null && one.ino === other.ino && one.dev === other.dev;
}
