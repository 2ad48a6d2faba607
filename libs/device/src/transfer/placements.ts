import { Inject, Injectable } from '@nestjs/common';
import { type FileRecord, type FileRefusal, refusalOf } from '@workspace-graph/contracts';
import {
  locate,
  type MirrorPath,
  only,
  removeEmptyFolders,
  removeFile,
  type SeenContent,
  StagedFile,
} from '@workspace-graph/disk';
import { checkedPath, pathKey } from '@workspace-graph/domain';
import pMap from 'p-map';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { mustBeFree } from '../files/file-changes.js';
import { sameFolder } from '../files/node-folders.js';
import type { FileDelta } from '../records/file-delta.js';
import type { MirrorRow } from '../store/device-store.js';
import { AsideFiles, type NotedAsides } from '../trash/aside-files.js';

/** What a remote was found to have of a file. */
export interface Placing {
  readonly file: FileRecord;
  readonly bytes: Uint8Array;
}

interface Staged {
  readonly file: FileRecord;
  readonly at: MirrorPath;
  readonly staged: StagedFile;
}

interface Placed {
  readonly file: FileRecord;
  readonly at: MirrorPath;
  readonly seen: SeenContent;
}

/** Contents that are written at once. */
const AT_ONCE = 8;

/** Puts contents of remotes into a folder where nothing lies: written and synced by themselves, entered together. */
@Injectable()
export class Placements {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(AsideFiles) private readonly asides: AsideFiles,
  ) {}

  /** What was refused, by the ids of the files; each of the others is there. @throws what is no refusal */
  async place(row: MirrorRow, placings: readonly Placing[], signal: AbortSignal): Promise<Map<string, FileRefusal>> {
    const refused = new Map<string, FileRefusal>();
    const unlessRefused = async <T>({ id }: FileRecord, work: () => Promise<T>): Promise<T | null> => {
      try {
        return await work();
      } catch (error) {
        refused.set(id, refusalOf(error));
        return null;
      }
    };
    await using stack = new AsyncDisposableStack();
    const stage = async ({ file, bytes }: Placing): Promise<Staged> => {
      const at = await this.freeAt(row, file);
      // After the content itself is out of the way.
      stack.defer(() => (refused.has(file.id) ? removeEmptyFolders(at, at.found) : undefined));
      return { file, at, staged: stack.use(await StagedFile.of(at, only(bytes), { signal })) };
    };
    const staged = await pMap(placings, (placing) => unlessRefused(placing.file, () => stage(placing)), {
      concurrency: AT_ONCE,
    });
    const places = staged.flatMap((each) => (each ? { nodeId: row.nodeId, path: each.at.path } : []));
    await this.parts.locks.run([row.nodeId], async () => {
      sameFolder(this.parts, row);
      await this.asides.noted(places, async (noted) => {
        const placed: Placed[] = [];
        for (const each of staged) {
          if (!each) continue;
          const seen = await unlessRefused(each.file, async () => {
            mustBeFree(this.parts.store, row.nodeId, each.at);
            return each.staged.commit();
          });
          if (seen) placed.push({ file: each.file, at: each.at, seen });
        }
        await this.enter(row, placed, noted);
      });
    });
    return refused;
  }

  private async freeAt(row: MirrorRow, file: FileRecord): Promise<MirrorPath> {
    const at = await locate(row.path, checkedPath(file.path, 'path', { portable: true }).path);
    mustBeFree(this.parts.store, row.nodeId, at);
    return at;
  }

  private async enter({ nodeId }: MirrorRow, placed: readonly Placed[], noted: NotedAsides): Promise<void> {
    const deltas = placed.map(({ file: record, at, seen }): FileDelta => {
      return { kind: 'pulled', record, replaces: this.parts.store.fileAt(nodeId, pathKey(at.path)), seen };
    });
    try {
      await this.parts.files.apply(nodeId, deltas, { action: 'pull_file', asker: null, strict: true });
      this.parts.store.removeUntracked(
        nodeId,
        placed.map(({ at }) => pathKey(at.path)),
      );
    } catch (error) {
      for (const each of placed) await this.takeBack(each, noted);
      throw error;
    }
  }

  /** What stays all the same is found by the next scan. */
  private async takeBack({ at, seen }: Placed, noted: NotedAsides): Promise<void> {
    await this.asides
      .run(async (asides) => {
        await removeFile(at, seen, asides);
        asides.discard(at);
      }, noted)
      .catch((err: unknown) => this.parts.logger.warn({ err }, 'a pulled file could not be taken back'));
  }
}
