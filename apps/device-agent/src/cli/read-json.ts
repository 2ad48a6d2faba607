import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import { CliError } from './cli-error.js';

/** A JSON value in a file, or on standard input for `-`; whoever receives it checks its form. @throws CliError */
export async function readJson<T>(file: string): Promise<T> {
  const name = file === '-' ? 'Standard input' : file;
  const content = await text(file === '-' ? process.stdin : createReadStream(file)).catch((error: Error) => {
    throw new CliError('FILE_UNREADABLE', `${name} cannot be read: ${error.message}`, { cause: error });
  });
  try {
    return JSON.parse(content) as T;
  } catch (error) {
    // The message of the parser shows a part of the text, which may be a secret.
    throw new CliError('FILE_UNREADABLE', `${name} holds no JSON.`, { cause: error });
  }
}
