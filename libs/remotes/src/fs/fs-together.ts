import type { BigIntStats } from 'node:fs';
import { HeldFolder, locate, type MirrorPath, NewFiles, readSmall } from '@workspace-graph/disk';
import pMap from 'p-map';
import {
  type CallOptions,
  folderOf,
  type NewContent,
  nameOf,
  type RemoteFile,
  type SmallContents,
  type WholeContent,
} from '../port/index.js';
import { DraftNotes } from './draft-notes.js';
import { onRemote } from './fs-failure.js';

/** What the remote does with a path, and with what lies there. */
interface Means {
  /** @throws RemoteFailure `name_refused` */
  checked(path: string): string;
  fileOf(path: string, found: BigIntStats): RemoteFile;
}

type Told = Map<NewContent, PromiseSettledResult<string>>;

/** Files that are read or written at once. */
const AT_ONCE = 8;
/** Files that get their names together. */
const GROUP = 256;

/** Small files of one folder of this machine, with one look at that folder for many of them. */
export class FsTogether implements SmallContents {
  constructor(
    private readonly root: string,
    private readonly means: Means,
  ) {}

  async write(contents: readonly NewContent[], { signal }: CallOptions = {}): Promise<PromiseSettledResult<string>[]> {
    const told: Told = new Map();
    for (const [folder, group] of Map.groupBy(contents, ({ path }) => folderOf(path)))
      for (let start = 0; start < group.length; start += GROUP) {
        signal?.throwIfAborted();
        await this.writeIn(folder, group.slice(start, start + GROUP), told);
      }
    return contents.map((content) => told.get(content) ?? refused(new Error(`${content.path} was not written`)));
  }

  async read(
    files: readonly { readonly path: string; readonly maxBytes: number }[],
    { signal }: CallOptions = {},
  ): Promise<(WholeContent | null)[]> {
    const found = new Map<string, WholeContent>();
    for (const [folder, group] of Map.groupBy(files, ({ path }) => folderOf(path))) {
      signal?.throwIfAborted();
      // What stands in the way of all of them is told of each that is read by itself.
      const contents = await this.readIn(folder, group).catch(() => []);
      for (const content of contents) found.set(content.file.path, content);
    }
    return files.map(({ path }) => found.get(path) ?? null);
  }

  private async writeIn(folder: string, contents: readonly NewContent[], told: Told): Promise<void> {
    const unlessRefused = async (content: NewContent, work: () => Promise<void>): Promise<void> => {
      try {
        await onRemote(content.path, work);
      } catch (error) {
        told.set(content, refused(error));
      }
    };
    try {
      const at = await this.placeIn(folder);
      await using _noted = DraftNotes.begin(this.root, `${folder}/`);
      await using files = await NewFiles.of(at);
      const write = (content: NewContent): Promise<void> =>
        unlessRefused(content, () => {
          const { bytes, modifiedAt } = content;
          const path = this.means.checked(content.path);
          return files.write({
            path,
            bytes,
            modifiedMs: modifiedAt === undefined ? undefined : Date.parse(modifiedAt),
          });
        });
      await pMap(contents, write, { concurrency: AT_ONCE });
      const written = contents.filter((content) => !told.has(content));
      const outcomes = await files.name(written.map(({ path }) => this.means.checked(path)));
      for (const content of written)
        await unlessRefused(content, async () => {
          const path = this.means.checked(content.path);
          const outcome = outcomes.get(path);
          if (outcome?.status === 'rejected') throw outcome.reason;
          if (outcome) told.set(content, done(this.means.fileOf(path, outcome.value.found).revision));
        });
    } catch (error) {
      for (const content of contents.filter((each) => !told.has(each)))
        await unlessRefused(content, () => Promise.reject(error));
    }
  }

  private async readIn(
    folder: string,
    files: readonly { readonly path: string; readonly maxBytes: number }[],
  ): Promise<WholeContent[]> {
    await using held = await HeldFolder.of(await this.placeIn(folder));
    const read = async ({ path, maxBytes }: { readonly path: string; readonly maxBytes: number }) => {
      const content = await readSmall(held, nameOf(this.means.checked(path)), maxBytes);
      return content ? [{ file: this.means.fileOf(path, content.found), bytes: content.bytes }] : [];
    };
    const contents = await pMap(files, read, { concurrency: AT_ONCE });
    await held.mustBeInside();
    return contents.flat();
  }

  /** A path whose folder is this one. */
  private async placeIn(folder: string): Promise<MirrorPath> {
    const { root: mirrorRoot } = this;
    if (folder === '') return { mirrorRoot, path: '', absolute: mirrorRoot, exists: true, names: [''], found: 0 };
    const at = await locate(mirrorRoot, this.means.checked(folder));
    return { ...at, names: [...at.names, ''] };
  }
}

function done(revision: string): PromiseSettledResult<string> {
  return { status: 'fulfilled', value: revision };
}

function refused(reason: unknown): PromiseSettledResult<string> {
  return { status: 'rejected', reason };
}
