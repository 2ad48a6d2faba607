import {
  type CallOptions,
  type ListOptions,
  type ReadOptions,
  type Remote,
  type RemoteContent,
  type RemoteEntry,
  RemoteFailure,
  type RemoteFile,
  type TransferOptions,
  type WriteOptions,
} from '../port/index.js';
import { bytesOf } from './stage.js';
import type { RemoteWorld } from './world.js';

/** One folder of a remote as a remote of its own. */
export class BelowRemote implements Remote {
  constructor(
    private readonly whole: Remote,
    private readonly folder: string,
  ) {}

  get capabilities(): Remote['capabilities'] {
    // Nobody can make twins here: others write through remotes, too, which refuse them.
    return { ...this.whole.capabilities, caseSensitive: false };
  }

  async stat(path: string, options?: CallOptions): Promise<RemoteEntry | null> {
    const found = await this.whole.stat(this.at(path), options);
    return found && this.above(found);
  }

  async *list(folder: string, options?: ListOptions): AsyncGenerator<readonly RemoteEntry[]> {
    const at = folder === '' ? this.folder : this.at(folder);
    for await (const page of this.whole.list(at, options)) yield page.map((entry) => this.above(entry));
  }

  async read(path: string, options?: ReadOptions): Promise<RemoteContent> {
    const { file, bytes, [Symbol.asyncDispose]: dispose } = await this.whole.read(this.at(path), options);
    return { file: this.above(file), bytes, [Symbol.asyncDispose]: dispose };
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<RemoteFile> {
    return this.above(await this.whole.write(this.at(path), bytes, options));
  }

  makeFolder(path: string, options?: CallOptions): Promise<void> {
    return this.whole.makeFolder(this.at(path), options);
  }

  async move(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    return this.above(await this.whole.move(this.at(from), this.at(to), options));
  }

  async copy(from: string, to: string, options: TransferOptions): Promise<RemoteFile> {
    return this.above(await this.whole.copy(this.at(from), this.at(to), options));
  }

  remove(path: string, options: TransferOptions): Promise<void> {
    return this.whole.remove(this.at(path), options);
  }

  removeFolder(path: string, options?: CallOptions): Promise<void> {
    return this.whole.removeFolder(this.at(path), options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.whole[Symbol.asyncDispose]();
  }

  private at(path: string): string {
    return `${this.folder}/${path}`;
  }

  private above<T extends RemoteEntry>(entry: T): T {
    return { ...entry, path: entry.path.slice(this.folder.length + 1) };
  }
}

/** A storage that others use, too: a folder of its own for each scenario, which is removed again. */
export async function worldBelow(open: () => Promise<Remote>, folder: string): Promise<RemoteWorld> {
  const [whole, other] = [await open(), await open()];
  await whole.makeFolder(folder);
  const beside = new BelowRemote(other, folder);
  return {
    remote: new BelowRemote(whole, folder),
    plant: async (path, content) => {
      const there = await beside.stat(path);
      const expected = there?.kind === 'file' ? there.revision : null;
      await beside.write(path, bytesOf(content), { expected });
    },
    break: () => Promise.reject(new Error('Whoever uses a storage cannot break it')),
    mend: async () => undefined,
    leftOvers: async () => [],
    atMost: 20,
    close: async () => {
      await cleared(other, folder);
      await whole[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

async function cleared(remote: Remote, folder: string): Promise<void> {
  const folders = [folder];
  try {
    for await (const page of remote.list(folder, { recursive: true }))
      for (const entry of page)
        if (entry.kind === 'file') await remote.remove(entry.path, { expected: entry.revision });
        else if (entry.kind === 'folder') folders.push(entry.path);
    for (const each of folders.sort().reverse()) await remote.removeFolder(each);
  } catch (error) {
    // A storage without folders has nothing to list when it is empty.
    if (!(error instanceof RemoteFailure) || error.reason !== 'not_found') throw error;
  }
}
