import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { isAbsent, isTemporaryName, locate, removeTemporary } from '@workspace-graph/disk';
import { ABANDONED_DRAFT_MS, folderOf, joinPath } from '../port/index.js';
import { Notes } from './notes.js';

const FOLDER = '.svc-drafts';

/** Where drafts are being written, so that those of a killed process are found without looking into every folder. */
export class DraftNotes {
  /** Notes a write to a path until it is disposed of. */
  static begin(root: string, path: string): AsyncDisposable {
    const notes = new Notes(root, FOLDER);
    const id = randomUUID();
    notes.make(id, folderOf(path), { durable: false });
    return { [Symbol.asyncDispose]: () => notes.forget(id) };
  }

  /** Removes what abandoned writes left. */
  static async recover(root: string, nowMs: number): Promise<void> {
    const notes = new Notes(root, FOLDER);
    for await (const { id, path } of notes.olderThan(nowMs - ABANDONED_DRAFT_MS)) {
      await clear(root, path, nowMs);
      await notes.forget(id);
    }
  }
}

async function clear(root: string, folder: string, nowMs: number): Promise<void> {
  const at = folder === '' ? root : (await locate(root, folder)).absolute;
  const names = await readdir(at).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  for (const name of names.filter(isTemporaryName))
    await removeTemporary(await locate(root, joinPath(folder, name)), (madeMs) => madeMs <= nowMs - ABANDONED_DRAFT_MS);
}
