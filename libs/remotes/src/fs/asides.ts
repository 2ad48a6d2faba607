import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Asides,
  asideName,
  bringBackTo,
  diskCode,
  isAbsent,
  locate,
  type MirrorPath,
  statOrNull,
} from '@workspace-graph/disk';

/** Notes of what was taken aside; listings leave it out. */
const NOTES = '.svc-asides';
/** An older note is of a call that did not live to end it. */
const ABANDONED_MS = 60_000;

interface Taken {
  readonly id: string;
  readonly at: MirrorPath;
}

/**
 * What one call takes aside in a folder. Each name is noted on the disk first, so that a file that a killed process had in
 * its hands is found again.
 */
export class FsAsides implements Asides {
  private readonly taken: Taken[] = [];

  constructor(private readonly root: string) {}

  /** Whether the call found nothing that it could take. */
  get isEmpty(): boolean {
    return this.taken.length === 0;
  }

  next(at: MirrorPath): string {
    const id = randomUUID();
    makeNotes(join(this.root, NOTES));
    writeFileSync(join(this.root, NOTES, id), at.path, { flag: 'wx', flush: true });
    this.taken.push({ id, at });
    return id;
  }

  keptAt(): void {
    // `done` removes what was taken in either case.
  }

  discard(): void {
    // As above.
  }

  /** Removes what the call displaced, for it was the expected content. */
  async done(): Promise<void> {
    for (const { id, at } of this.taken) {
      await removeIfThere(asideOf(at, id).absolute);
      await removeIfThere(join(this.root, NOTES, id));
    }
  }

  /** Gives names back; what finds its name taken stays aside, with its note. */
  async undone(): Promise<void> {
    for (const { id, at } of this.taken) await giveBack(this.root, id, at.path);
  }

  /** Gives the files back that abandoned calls took aside. */
  static async recover(root: string, nowMs: number): Promise<void> {
    for (const id of await notesIn(root)) {
      const note = join(root, NOTES, id);
      const found = await statOrNull(note);
      if (!found || nowMs - Number(found.mtimeMs) < ABANDONED_MS) continue;
      await giveBack(root, id, await readFile(note, 'utf8'));
    }
  }
}

/** Not `recursive`, which tells a disk that is read-only as a folder that is not there. */
function makeNotes(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (diskCode(error) !== 'EEXIST') throw error;
  }
}

async function giveBack(root: string, id: string, path: string): Promise<void> {
  const aside = asideOf(await locate(root, path), id);
  const isAside = (await statOrNull(aside.absolute)) !== null;
  if (isAside && !(await bringBackTo(aside, path))) return;
  await removeIfThere(join(root, NOTES, id));
}

function asideOf(at: MirrorPath, id: string): MirrorPath {
  const names = [...at.names.slice(0, -1), asideName(id)];
  return { ...at, names, absolute: join(at.mirrorRoot, ...names) };
}

async function notesIn(root: string): Promise<string[]> {
  try {
    return await readdir(join(root, NOTES));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}
