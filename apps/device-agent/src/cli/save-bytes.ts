import { open, rename, rm, stat } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';
import { CliError } from './cli-error.js';
import type { ConfirmOptions } from './confirm.js';
import { writeOut } from './output.js';

/**
 * Refuses to write over a file unless that is wanted, and over what is no file at all, such as a device.
 * @throws CliError FILE_EXISTS, FILE_UNWRITABLE
 */
export async function requireNewFile(file: string, { yes }: ConfirmOptions): Promise<void> {
  // What else is wrong with the path is told when it is written.
  const found = file === '-' ? null : await stat(file).catch(() => null);
  if (found === null || (found.isFile() && yes)) return;
  if (!found.isFile())
    throw new CliError('FILE_UNWRITABLE', `${file} is not a file.`, { hint: 'Name a file, or - for standard output.' });
  throw new CliError('FILE_EXISTS', `The file ${file} already exists.`, {
    hint: 'Choose another name, or add --yes to replace it.',
  });
}

/**
 * Writes an answer to a file, or to standard output for `-`; answers the number of bytes. Writes beside the target
 * first, so that a broken transfer never leaves half of it under its name.
 */
export async function saveBytes(response: Response, file: string): Promise<number> {
  // An answer without content has no body.
  const chunks = (response.body ?? []) as unknown as AsyncIterable<Uint8Array>;
  // No faster than it is read.
  if (file === '-') return pipe(chunks, writeOut);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    const target = await open(draft, 'w', 0o600);
    try {
      const bytes = await pipe(chunks, async (chunk) => void (await target.writeFile(chunk)));
      await target.sync();
      await rename(draft, file);
      return bytes;
    } finally {
      await target.close();
    }
  } catch (cause) {
    await rm(draft, { force: true });
    if (cause instanceof CliError) throw cause;
    throw new CliError('FILE_UNWRITABLE', `${file} cannot be written: ${reasonOf(cause)}.`, {
      hint: 'Name a file in a folder that exists and that you may write to, or - for standard output.',
      cause,
    });
  }
}

/** Without the name of the draft, which nobody asked for. */
function reasonOf(cause: unknown): string {
  const { errno } = cause as NodeJS.ErrnoException;
  if (errno !== undefined) return getSystemErrorMessage(errno);
  return cause instanceof Error ? cause.message : String(cause);
}

async function pipe(chunks: AsyncIterable<Uint8Array>, write: (chunk: Uint8Array) => Promise<void>): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) {
    await write(chunk);
    bytes += chunk.byteLength;
  }
  return bytes;
}
