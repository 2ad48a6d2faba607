import { mkdirSync, writeFileSync } from 'node:fs';
import { readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { diskCode, isAbsent, statOrNull } from '@workspace-graph/disk';

/** A path that a call works on, noted on the disk before it does: a killed process has not ended what it noted. */
export interface Note {
  readonly id: string;
  readonly path: string;
  readonly madeMs: number;
}

/** Notes in one folder of the root of a remote; listings leave it out. */
export class Notes {
  private readonly folder: string;

  constructor(root: string, name: `.svc-${string}`) {
    this.folder = join(root, name);
  }

  /** @param durable whether it must outlast a power cut */
  make(id: string, path: string, { durable }: { readonly durable: boolean }): void {
    // Not `recursive`, which tells a disk that is read-only as a folder that is not there.
    try {
      mkdirSync(this.folder);
    } catch (error) {
      if (diskCode(error) !== 'EEXIST') throw error;
    }
    writeFileSync(join(this.folder, id), path, { flag: 'wx', flush: durable });
  }

  async *olderThan(madeMs: number): AsyncGenerator<Note> {
    for (const id of await this.ids()) {
      const file = join(this.folder, id);
      const found = await statOrNull(file);
      if (found && Number(found.mtimeMs) <= madeMs)
        yield { id, path: await readFile(file, 'utf8'), madeMs: Number(found.mtimeMs) };
    }
  }

  async forget(id: string): Promise<void> {
    await removeIfThere(join(this.folder, id));
  }

  private async ids(): Promise<string[]> {
    try {
      return await readdir(this.folder);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }
}

export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}
