import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { HashKind, RemoteGrade } from '@workspace-graph/contracts';
import { ContentHashes, type Remote, type RemoteEntry, RemoteFailure, type RemoteFile } from '../port/index.js';

/** Hidden from synchronisation by its dot, and removed at the end of the trial. */
const FOLDER_PREFIX = '.workspace-graph-trial-';
const WRITERS = 6;

/** A remote that does not do what every remote must. */
export class RemoteUnfit extends Error {
  constructor(readonly problem: string) {
    super(problem);
    this.name = 'RemoteUnfit';
  }
}

/**
 * Tries what a remote claims, in a folder of its own that it removes again: what it is found to guarantee, never more than
 * it claims. Takes some twenty calls.
 * @throws RemoteUnfit for one that gives back another content, or writes where it must not; RemoteFailure
 */
export async function gradeRemote(remote: Remote): Promise<RemoteGrade> {
  const trial = new Trial(remote, `${FOLDER_PREFIX}${randomUUID()}`);
  try {
    return await trial.grade();
  } finally {
    await trial.clear();
  }
}

class Trial {
  constructor(
    private readonly remote: Remote,
    private readonly folder: string,
  ) {}

  async grade(): Promise<RemoteGrade> {
    const { capabilities, trash } = this.remote;
    const written = await this.write('first.txt', 'first', null);
    const listing = await this.listingOf(written);
    await this.givesBack(written, 'first');
    const hashes = await this.hashesOf(written, 'first');
    const conditions = await this.conditions(written);
    return {
      conditions,
      listing,
      case_sensitive: capabilities.caseSensitive && (await this.tellsCases()),
      hashes,
      server_side_copy: capabilities.serverSideCopy,
      trash_days: trash?.keptDays ?? null,
      graded_at: new Date().toISOString(),
    };
  }

  /** What is left of a trial is no harm: nothing synchronises it. */
  async clear(): Promise<void> {
    try {
      for (const entry of await this.entries()) if (entry.kind === 'file') await this.remove(entry);
      await this.remote.removeFolder(this.folder);
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error;
    }
  }

  private async listingOf(written: RemoteFile): Promise<RemoteGrade['listing']> {
    const found = (await this.entries()).find(({ path }) => path === written.path);
    return found?.kind === 'file' && found.revision === written.revision ? 'immediate' : 'delayed';
  }

  private async givesBack({ path }: RemoteFile, content: string): Promise<void> {
    await using read = await this.remote.read(path);
    if ((await buffer(read.bytes)).toString() !== content)
      throw new RemoteUnfit('It gives back another content than was written.');
  }

  /** Of those that it claims to list, those that are right. */
  private async hashesOf({ path }: RemoteFile, content: string): Promise<HashKind[]> {
    const entry = await this.remote.stat(path);
    if (entry?.kind !== 'file') throw new RemoteUnfit('It does not find what was just written.');
    const computed = new ContentHashes(this.remote.capabilities.listedHashes);
    computed.update(Buffer.from(content));
    const right = computed.end();
    return this.remote.capabilities.listedHashes.filter((kind) => entry.hashes[kind] === right[kind]);
  }

  /** `checked` unless one alone of many writers wins, each time. */
  private async conditions(first: RemoteFile): Promise<RemoteGrade['conditions']> {
    await this.refusesStale(first);
    const created = await this.race('race.txt', null);
    const replaced = await this.race('race.txt', await this.revisionOf('race.txt'));
    return created === 1 && replaced === 1 ? this.remote.capabilities.conditions : 'checked';
  }

  private async refusesStale(first: RemoteFile): Promise<void> {
    await this.write('first.txt', 'the second', first.revision);
    const stale = await this.write('first.txt', 'the third, blindly', first.revision).catch((error: unknown) => error);
    if (!(stale instanceof RemoteFailure)) throw new RemoteUnfit('It overwrites what another writer has changed.');
    if (stale.reason !== 'changed') throw stale;
  }

  /** How many writers win who all expect the same. */
  private async race(name: string, expected: string | null): Promise<number> {
    const writers = Array.from({ length: WRITERS }, (_, writer) => this.write(name, `of ${writer}`, expected));
    const ends = await Promise.allSettled(writers);
    for (const end of ends) if (end.status === 'rejected' && !isLost(end.reason)) throw end.reason;
    return ends.filter(({ status }) => status === 'fulfilled').length;
  }

  private async tellsCases(): Promise<boolean> {
    await this.write('cases.txt', 'small', null);
    return (await this.remote.stat(`${this.folder}/CASES.txt`)) === null;
  }

  private async revisionOf(name: string): Promise<string> {
    const entry = await this.remote.stat(`${this.folder}/${name}`);
    if (entry?.kind !== 'file') throw new RemoteUnfit('It does not find what was just written.');
    return entry.revision;
  }

  private async write(name: string, text: string, expected: string | null): Promise<RemoteFile> {
    return this.remote.write(`${this.folder}/${name}`, bytesOf(text), { expected });
  }

  private async remove({ path, revision }: RemoteFile): Promise<void> {
    await this.remote.remove(path, { expected: revision });
  }

  private async entries(): Promise<RemoteEntry[]> {
    const entries: RemoteEntry[] = [];
    for await (const page of this.remote.list(this.folder)) entries.push(...page);
    return entries;
  }
}

function isLost(error: unknown): boolean {
  return error instanceof RemoteFailure && (error.reason === 'changed' || error.reason === 'exists');
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
