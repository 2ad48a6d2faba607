import { randomUUID } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Asides, asideName, type MirrorPath, readContent, StagedFile, type StageOptions } from './index.js';

/** Asides of which nobody keeps a note; `end` removes what was taken. */
export function unnotedAsides(): Asides & { end(): Promise<void> } {
  const taken: string[] = [];
  return {
    next: ({ absolute }) => {
      const id = randomUUID();
      taken.push(join(dirname(absolute), asideName(id)));
      return id;
    },
    keptAt: () => undefined,
    discard: () => undefined,
    end: async () => {
      for (const path of taken) await unlink(path).catch(() => undefined);
    },
  };
}

/** Writes a file as a whole, as the product does; answers its hash. */
export async function writeWhole(
  at: MirrorPath,
  bytes: AsyncIterable<Uint8Array>,
  { replace, ...options }: StageOptions & { readonly replace: boolean },
): Promise<string> {
  await using staged = await StagedFile.of(at, bytes, options);
  const asides = unnotedAsides();
  const replaces = replace && at.exists ? { expected: await readContent(at), asides } : null;
  const { sha256 } = await staged.commit({ replaces });
  await asides.end();
  return sha256;
}
