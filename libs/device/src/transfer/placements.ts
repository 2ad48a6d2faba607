import { dirname } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { type FileRecord, type FileRefusal, refusalOf } from '@workspace-graph/contracts';
import {
  deviceOf,
  type MirrorPath,
  NewFiles,
  removeEmptyFolders,
  removeFile,
  type SeenContent,
  seenContent,
} from '@workspace-graph/disk';
import { checkedPath, pathKey } from '@workspace-graph/domain';
import pMap from 'p-map';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { mustBeFree } from '../files/file-changes.js';
import { sameFolder } from '../files/node-folders.js';
import type { FileDelta } from '../records/file-delta.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import { AsideFiles, type NotedAsides } from '../trash/aside-files.js';

/** What a remote was found to have of a file. */
export interface Placing {
  readonly file: FileRecord;
  /** Where it is to lie, in the folder of its node. */
  readonly at: MirrorPath;
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

interface Placed {
  readonly file: FileRecord;
  readonly at: MirrorPath;
  readonly seen: SeenContent;
}

type Refused = Map<string, FileRefusal>;

/** Contents of one folder that were written, and have no names yet. */
interface Staged {
  readonly files: NewFiles;
  readonly group: readonly Placing[];
}

/** A file that was tracked where it lay has the name that it was given there: what only Windows refuses, others take. */
export const NAMES_HERE = { portable: process.platform === 'win32' };

/** Contents that are written at once. */
const AT_ONCE = 8;

/** Puts contents of remotes into a folder where nothing lies: written and synced by themselves, named and entered together. */
@Injectable()
export class Placements {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(AsideFiles) private readonly asides: AsideFiles,
  ) {}

  /** What was refused, by the ids of the files; each of the others is there. @throws what is no refusal */
  async place(row: MirrorRow, placings: readonly Placing[], signal: AbortSignal): Promise<Map<string, FileRefusal>> {
    const refused: Refused = new Map();
    await using stack = new AsyncDisposableStack();
    const groups = [...Map.groupBy(placings, ({ at }) => dirname(at.path)).values()];
    const staged = await pMap(groups, (group) => this.stage(row, group, { refused, stack, signal }), {
      concurrency: 1,
    });
    const places = placings.flatMap(({ file, at: { path } }) =>
      refused.has(file.id) ? [] : { nodeId: row.nodeId, path },
    );
    await this.parts.locks.run([row.nodeId], async () => {
      sameFolder(this.parts, row);
      await this.asides.noted(places, async (noted) => {
        const placed: Placed[] = [];
        for (const each of staged) if (each) placed.push(...(await this.name(row, each, refused)));
        await this.enter(row, placed, noted);
      });
    });
    return refused;
  }

  /** Writes those of one folder. Null where none of them could be. */
  private async stage(
    row: MirrorRow,
    group: readonly Placing[],
    {
      refused,
      stack,
      signal,
    }: { readonly refused: Refused; readonly stack: AsyncDisposableStack; readonly signal: AbortSignal },
  ): Promise<Staged | null> {
    const [first] = group;
    if (!first) return null;
    // After the contents themselves are out of the way.
    stack.defer(() =>
      group.every(({ file }) => refused.has(file.id)) ? removeEmptyFolders(first.at, first.at.found) : undefined,
    );
    let files: NewFiles;
    try {
      files = stack.use(await NewFiles.of(first.at));
    } catch (error) {
      for (const { file } of group) refused.set(file.id, refusalOf(error));
      return null;
    }
    const known = this.knownAt(row, group);
    const write = async ({ file, at, bytes }: Placing): Promise<void> => {
      signal.throwIfAborted();
      await unlessRefused(file, refused, () => {
        checkedPath(file.path, 'path', NAMES_HERE);
        if (at.exists || known.has(pathKey(at.path))) mustBeFree(this.parts.store, row.nodeId, at);
        return files.write({ path: at.path, bytes });
      });
    };
    await pMap(group, write, { concurrency: AT_ONCE });
    return { files, group };
  }

  private async name(row: MirrorRow, { files, group }: Staged, refused: Refused): Promise<Placed[]> {
    const free: Placing[] = [];
    const known = this.knownAt(row, group);
    for (const placing of group) {
      const { file, at } = placing;
      if ((at.exists || known.has(pathKey(at.path))) && !refused.has(file.id))
        await unlessRefused(file, refused, async () => mustBeFree(this.parts.store, row.nodeId, at));
      if (!refused.has(file.id)) free.push(placing);
    }
    const [first] = free;
    if (!first) return [];
    try {
      const outcomes = await files.name(free.map(({ at }) => at.path));
      const rootDevice = await deviceOf(first.at);
      return free.flatMap(({ file, at, sha256, bytes }): Placed[] => {
        const outcome = outcomes.get(at.path);
        if (outcome?.status !== 'fulfilled') {
          refused.set(file.id, refusalOf(outcome?.reason));
          return [];
        }
        const { found, isAsWritten } = outcome.value;
        const seen = seenContent(at.path, found, { sha256, sizeBytes: bytes.length, rootDevice });
        return [{ file, at, seen: isAsWritten ? seen : { ...seen, stamp: null } }];
      });
    } catch (error) {
      for (const { file } of free) refused.set(file.id, refusalOf(error));
      return [];
    }
  }

  /** What is tracked where these are to lie, by the keys of their paths. */
  private knownAt({ nodeId }: MirrorRow, placings: readonly Pick<Placing, 'at'>[]): ReadonlyMap<string, FileState> {
    return this.parts.store.filesAt(
      nodeId,
      placings.map(({ at }) => pathKey(at.path)),
    );
  }

  private async enter(row: MirrorRow, placed: readonly Placed[], noted: NotedAsides): Promise<void> {
    const { nodeId } = row;
    const known = this.knownAt(row, placed);
    const deltas = placed.map(({ file: record, at, seen }): FileDelta => {
      return { kind: 'pulled', record, replaces: known.get(pathKey(at.path)) ?? null, seen };
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

/** @throws what is no refusal */
async function unlessRefused({ id }: FileRecord, refused: Refused, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    refused.set(id, refusalOf(error));
  }
}
