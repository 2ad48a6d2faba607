import { buffer } from 'node:stream/consumers';
import { type Remote, type RemoteEntry, RemoteFailure, type RemoteFile, type TransferOptions } from '../port/index.js';
import type { RemoteWorld } from './world.js';

/** The world of the scenario that runs. */
export class Stage {
  constructor(readonly world: RemoteWorld) {}

  get remote(): Remote {
    return this.world.remote;
  }

  put(path: string, content: string, expected: string | null = null): Promise<RemoteFile> {
    return this.remote.write(path, bytesOf(content), { expected });
  }

  async textOf(path: string): Promise<string> {
    await using content = await this.remote.read(path);
    return (await buffer(content.bytes)).toString();
  }

  /** Revision of a file that is there. */
  async holding(path: string): Promise<TransferOptions> {
    const entry = await this.remote.stat(path);
    if (entry?.kind !== 'file') throw new Error(`${path} is no file`);
    return { expected: entry.revision };
  }

  async listed(folder: string, recursive = false): Promise<RemoteEntry[]> {
    const entries: RemoteEntry[] = [];
    for await (const page of this.remote.list(folder, { recursive })) entries.push(...page);
    return entries.sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  async pathsIn(folder: string, recursive = false): Promise<string[]> {
    return (await this.listed(folder, recursive)).map(({ path }) => path);
  }
}

export async function* bytesOf(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) if (chunk !== '') yield Buffer.from(chunk);
}

/** The reason of a failure; whatever else happens is thrown. */
export async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('it was done'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof RemoteFailure)) throw error;
  return error.reason;
}
