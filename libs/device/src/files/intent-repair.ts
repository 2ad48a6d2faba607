import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type FileIntent, type FileRecord, findFiles, LIMITS, listFileIntents } from '@workspace-graph/contracts';
import type { SeenContent } from '@workspace-graph/disk';
import {
  deviceOf,
  locate,
  type MirrorPath,
  moveFile,
  removeEmptyFolders,
  removeFile,
  seenOrRead,
} from '@workspace-graph/disk';
import { pathKey } from '@workspace-graph/domain';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { AsideFiles } from '../trash/aside-files.js';
import { FileMover, messageOf, type PlannedMove } from './file-mover.js';
import { stateOf } from './file-states.js';
import { Intents } from './intents.js';
import { removeRecord } from './record-removal.js';

const AGAIN_MS = 60_000;
const BY = { asker: null, action: 'repair_file_intents' } as const;

/** What lies at the two ends of a move. */
interface Ends {
  readonly source: SeenContent | null;
  readonly target: SeenContent | null;
  /** Whether both mirrors lie on one volume. */
  readonly isOneVolume: boolean;
  /** Whether both are the file: the move was cut off before its last step. */
  readonly same: boolean;
}

/**
 * Finishes or takes back what is noted about files and was cut off: at the start, and every minute while something is
 * open. The disk decides: a move whose file has left its place is finished, one that has not begun is forgotten; a delete
 * whose copy is gone is finished, one whose copy is there is forgotten.
 */
@Injectable()
export class IntentRepair implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | null = null;
  private closed = false;
  private readonly first = Promise.withResolvers<void>();

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly mover: FileMover,
    private readonly asides: AsideFiles,
    private readonly intents: Intents,
  ) {
    intents.onOpen(() => this.schedule());
  }

  /** Settles once what an earlier run left was looked at. */
  get looked(): Promise<void> {
    return this.first.promise;
  }

  onApplicationBootstrap(): void {
    const ids = this.parts.store.mirrors().map(({ nodeId }) => nodeId);
    // The locks are taken before any scan asks for them: a scan would see half of a move.
    this.running = this.parts.locks
      .run(ids, () => this.recover())
      .finally(() => {
        this.running = null;
        this.first.resolve();
      });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    this.first.resolve();
    await this.running;
  }

  /** Looks at everything that is noted, and again in a minute while something stays. */
  run(): Promise<void> {
    this.running ??= this.lookAtAll(false).finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Has it looked at in a minute. */
  private schedule(): void {
    if (this.closed) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.run(), AGAIN_MS).unref();
  }

  /** First come the files that a killed process had taken from their names: where they lie decides the rest. */
  private async recover(): Promise<void> {
    await this.asides.recover();
    await this.lookAtAll(true);
  }

  private async lookAtAll(areLocked: boolean): Promise<void> {
    try {
      const intents = await this.open();
      for (const intent of intents) if (!this.closed) await this.tryOne(intent, areLocked);
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'intents of file operations could not be read; retrying in a minute');
      this.schedule();
    }
  }

  private async open(): Promise<FileIntent[]> {
    const ids = this.parts.store.mirrors().map(({ nodeId }) => nodeId);
    const found = new Map<string, FileIntent>();
    for (let start = 0; start < ids.length; start += LIMITS.filesPerChange) {
      const node_ids = ids.slice(start, start + LIMITS.filesPerChange);
      const { intents } = await this.parts.service.call(listFileIntents, { node_ids }, null);
      for (const intent of intents) found.set(intent.id, intent);
    }
    return [...found.values()];
  }

  private tryOne(intent: FileIntent, isLocked: boolean): Promise<void> {
    const { node_id, to_node_id } = intent;
    if (isLocked) return this.trySettle(intent);
    return this.parts.locks.run([node_id, to_node_id ?? node_id], () => this.trySettle(intent));
  }

  private async trySettle(intent: FileIntent): Promise<void> {
    const { id } = intent;
    try {
      await this.repair(intent);
      await this.intents.settle([{ id, error: null }]);
    } catch (error) {
      this.parts.logger.warn({ err: error, intent: id }, 'a file operation remains unfinished');
      await this.intents.settle([{ id, error: messageOf(error) }]);
    }
  }

  private async repair(intent: FileIntent): Promise<void> {
    const { files } = await this.parts.service.call(findFiles, { ids: [intent.file_id] }, null);
    const record = files[0]?.file;
    if (!record) return;
    if (intent.kind === 'delete') return this.repairDelete(intent, record);
    return this.repairMove(intent, record);
  }

  private async repairDelete(intent: FileIntent, record: FileRecord): Promise<void> {
    const mirror = this.parts.store.mirror(intent.node_id);
    if (!mirror || record.path !== intent.from_path) return;
    const found = this.parts.store.trashOfFile(record.id).find(({ reason }) => reason === 'deleted');
    if (!found) return;
    const entry = await this.asides.trash.current(found);
    const at = await locate(mirror.path, intent.from_path);
    const there = await seenAt(at);
    // What lies there under the same content is the file itself; another content is another file, and the copy stays.
    if (there?.sha256 === entry.sha256) await this.asides.trash.forget(entry);
    if (there) return;
    await removeRecord(this.parts, record, { ...BY, isDeleted: true });
    await removeEmptyFolders(at);
  }

  private async repairMove(intent: FileIntent, record: FileRecord): Promise<void> {
    const plan = this.planOf(intent, record);
    if (!plan) return;
    const from = await locate(plan.fromRoot, intent.from_path);
    const to = await locate(plan.toRoot, plan.path);
    const ends = await endsOf(from, to);
    const isOurs = (seen: SeenContent): boolean =>
      seen.sha256 === intent.sha256 || (ends.isOneVolume && isSameInode(seen.inode, plan.file.inode));
    if (isRecordAt(record, intent)) return this.finishDisk({ intent, plan, from, to, ends, isOurs });
    if (record.path !== intent.from_path || record.node_id !== intent.node_id) return;
    const { source, target } = ends;
    if (!target || !isOurs(target) || this.isTracked(plan)) return;
    if (source && !ends.same) return;
    if (source) await this.removeMoved(intent, { from, source, to });
    await this.mover.record([{ move: plan, seen: target }], BY);
    await removeEmptyFolders(from);
  }

  /** The record is at the target already: so is the file to be. */
  private async finishDisk({ intent, plan, from, to, ends, isOurs }: Interrupted): Promise<void> {
    const { source, target, same } = ends;
    if (source && target && same) await this.removeMoved(intent, { from, source, to });
    if (source && !target && isOurs(source)) await this.asides.run((asides) => moveFile(from, to, { asides }));
    const there = await seenAt(await locate(plan.toRoot, plan.path));
    if (!there) return;
    const file = { ...plan.file, nodeId: plan.toNodeId };
    await this.mover.record([{ move: { ...plan, file }, seen: there }], BY);
    await removeEmptyFolders(from);
  }

  private removeMoved({ node_id: nodeId }: FileIntent, { from, source, to }: Left): Promise<void> {
    const { sha256 } = source;
    return this.asides.noted([{ nodeId, path: from.path, sha256 }], (noted) =>
      this.asides.run((asides) => {
        asides.keptAt(from, to.absolute);
        return removeFile(from, source, asides);
      }, noted),
    );
  }

  private isTracked({ toNodeId, path, file }: PlannedMove): boolean {
    const known = this.parts.store.fileAt(toNodeId, pathKey(path));
    return known !== null && known.fileId !== file.fileId;
  }

  private planOf(intent: FileIntent, record: FileRecord): PlannedMove | null {
    const { store } = this.parts;
    const toNodeId = intent.to_node_id ?? intent.node_id;
    const from = store.mirror(intent.node_id);
    const to = store.mirror(toNodeId);
    if (!from || !to || intent.to_path === null) return null;
    const file = stateOf(store, record);
    return { file, fromRoot: from.path, toRoot: to.path, toNodeId, path: intent.to_path };
  }
}

/** What a move left at its old place. */
interface Left {
  readonly from: MirrorPath;
  readonly source: SeenContent;
  readonly to: MirrorPath;
}

interface Interrupted {
  readonly intent: FileIntent;
  readonly plan: PlannedMove;
  readonly from: MirrorPath;
  readonly to: MirrorPath;
  readonly ends: Ends;
  /** Whether content is the one that was to be moved. */
  readonly isOurs: (seen: SeenContent) => boolean;
}

function isRecordAt(record: FileRecord, { node_id, to_node_id, to_path }: FileIntent): boolean {
  return record.path === to_path && record.node_id === (to_node_id ?? node_id);
}

async function endsOf(from: MirrorPath, to: MirrorPath): Promise<Ends> {
  const [source, target] = [await seenAt(from), await seenAt(to)];
  const isOneVolume = (await deviceOf(from)) === (await deviceOf(to));
  if (!source || !target) return { source, target, isOneVolume, same: false };
  // On one volume a move makes a second name of the same file, to another one a copy.
  const areNames = isOneVolume && source.inode !== null && target.inode !== null;
  const same = areNames ? source.inode === target.inode : source.sha256 === target.sha256;
  return { source, target, isOneVolume, same };
}

/** A file on a disk that is mounted within the folder has no inode that tells it from others. */
function isSameInode(one: string | null, other: string | null): boolean {
  return one !== null && one === other;
}

async function seenAt(at: MirrorPath): Promise<SeenContent | null> {
  return at.exists ? seenOrRead(at, null) : null;
}
