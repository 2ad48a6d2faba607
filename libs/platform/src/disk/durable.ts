import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface ReplaceOptions {
  /** Path at which the text is written first, on the same volume. Default: beside the file. */
  readonly draft?: string;
  /** Permissions of the file. Default: only for its owner. */
  readonly mode?: number;
}

/** Writes a small text file so that a reader or a crash sees the old content or the new one, never a part. */
export async function replaceText(
  path: string,
  text: string,
  { draft = `${path}.${process.pid}.tmp`, mode = 0o600 }: ReplaceOptions = {},
): Promise<void> {
  try {
    const file = await open(draft, 'w', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder; its rename is durable without this.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
