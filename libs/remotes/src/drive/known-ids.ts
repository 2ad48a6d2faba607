import { foldersAbove } from '../port/index.js';

const MOST_PATHS = 10_000;

/**
 * What was last found or made under paths. It proves nothing: each id is looked at before it is used. It saves the searches
 * for it, which Drive answers late for what is new.
 */
export class KnownIds {
  private readonly ids = new Map<string, readonly string[]>();

  constructor(private readonly rootId: string) {}

  /** Ids of each folder on the way to a folder, the root and itself included; null where one is not known. */
  chain(folder: string): readonly (readonly string[])[] | null {
    const paths = folder === '' ? [] : [...foldersAbove(folder), folder];
    const found = paths.map((path) => this.at(path));
    return found.every((ids) => ids.length > 0) ? [[this.rootId], ...found] : null;
  }

  at(path: string): readonly string[] {
    return this.ids.get(path) ?? [];
  }

  /** The paths that were noted longest ago are forgotten first. */
  note(path: string, ids: readonly string[]): void {
    this.ids.delete(path);
    if (path === '' || ids.length === 0) return;
    this.ids.set(path, ids);
    const [oldest] = this.ids.keys();
    if (this.ids.size > MOST_PATHS && oldest !== undefined) this.ids.delete(oldest);
  }

  /** Forgets the folders on the way to one, and itself. */
  forget(folder: string): void {
    for (const path of [...foldersAbove(folder), folder]) this.ids.delete(path);
  }
}
