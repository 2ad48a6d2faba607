import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Asides, asideName, bringBackTo, locate, type MirrorPath, statOrNull } from '@workspace-graph/disk';
import { type Note, Notes, removeIfThere } from './notes.js';

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
  private readonly notes: Notes;

  constructor(private readonly root: string) {
    this.notes = new Notes(root, NOTES);
  }

  /** Whether the call found nothing that it could take. */
  get isEmpty(): boolean {
    return this.taken.length === 0;
  }

  next(at: MirrorPath): string {
    const id = randomUUID();
    this.notes.make(id, at.path, { durable: true });
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
      await this.notes.forget(id);
    }
  }

  /** Gives names back; what finds its name taken stays aside, with its note. */
  async undone(): Promise<void> {
    for (const { id, at } of this.taken) await giveBack(this.root, this.notes, { id, path: at.path });
  }

  /** Gives the files back that abandoned calls took aside. */
  static async recover(root: string, nowMs: number): Promise<void> {
    const notes = new Notes(root, NOTES);
    for await (const note of notes.olderThan(nowMs - ABANDONED_MS)) await giveBack(root, notes, note);
  }
}

async function giveBack(root: string, notes: Notes, { id, path }: Pick<Note, 'id' | 'path'>): Promise<void> {
  const aside = asideOf(await locate(root, path), id);
  const isAside = (await statOrNull(aside.absolute)) !== null;
  if (isAside && !(await bringBackTo(aside, path))) return;
  await notes.forget(id);
}

function asideOf(at: MirrorPath, id: string): MirrorPath {
  const names = [...at.names.slice(0, -1), asideName(id)];
  return { ...at, names, absolute: join(at.mirrorRoot, ...names) };
}
