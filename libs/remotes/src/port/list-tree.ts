import type { RemoteEntry } from './entries.js';
import { RemoteFailure } from './failure.js';

const PAGE = 1_000;

/**
 * Lists a folder, and on demand all below it, of a backend that lists folders one by one; `entriesOf` answers null for one
 * that is not there. @throws RemoteFailure `not_found` for the folder itself: one below that is gone by then holds nothing
 */
export async function* listTree(
  folder: string,
  recursive: boolean,
  entriesOf: (folder: string) => Promise<readonly RemoteEntry[] | null>,
): AsyncGenerator<readonly RemoteEntry[]> {
  const waiting = [folder];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entries = await entriesOf(path);
    if (!entries && path === folder) throw new RemoteFailure('not_found', { path });
    yield* pagesOf(entries ?? []);
    if (recursive) for (const below of foldersOf(entries ?? [])) waiting.push(below);
  }
}

function* pagesOf(entries: readonly RemoteEntry[]): Generator<readonly RemoteEntry[]> {
  for (let start = 0; start < entries.length; start += PAGE) yield entries.slice(start, start + PAGE);
}

function* foldersOf(entries: readonly RemoteEntry[]): Generator<string> {
  for (const { kind, path } of entries) if (kind === 'folder') yield path;
}
