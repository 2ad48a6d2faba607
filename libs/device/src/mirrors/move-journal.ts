import { rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Id } from '@workspace-graph/contracts';
import { z } from 'zod';
import { writeText } from './client-config/text-file.js';

const PRIVATE = 0o600;

/** A move of a mirror's folder that is under way. */
const MoveNote = z.object({
  node_id: Id,
  from: z.string(),
  to: z.string(),
  /** Identity of a finished copy at `to` or about to be there; null while there is none. */
  copied: z.string().nullable(),
});
export type MoveNote = z.infer<typeof MoveNote>;

/** Notes in `.svc/moves` of moves under way, so that the next start ends what a killed process began. */
export class MoveJournal {
  private readonly folder: string;

  constructor(own: string) {
    this.folder = join(own, 'moves');
  }

  /** On disk when it returns. */
  async note(note: MoveNote): Promise<void> {
    await writeText(join(this.folder, `${note.node_id}.json`), `${JSON.stringify(note)}\n`, PRIVATE);
  }

  done(nodeId: string): void {
    rmSync(join(this.folder, `${nodeId}.json`), { force: true });
  }

  async open(): Promise<MoveNote[]> {
    const names = await readdir(this.folder).catch(() => []);
    const notes: MoveNote[] = [];
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      const found = MoveNote.safeParse(parseJson(await readFile(join(this.folder, name), 'utf8')));
      if (found.success) notes.push(found.data);
    }
    return notes;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
