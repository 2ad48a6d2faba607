import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs';
import { posix } from 'node:path';

/** More changed paths are not kept apart. */
const MOST_PATHS = 5_000;
/** What the system answers for a folder that is gone, or is none any more, or may not be looked into. */
const PASSED_OVER = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM']);

export interface FolderTreeOptions {
  readonly root: string;
  /** Absolute paths of folders that are left out. */
  readonly others: ReadonlySet<string>;
  /** Called at the first event since `take`. */
  readonly stirred: () => void;
}

/** What happened in a tree. */
export interface TreeChanges {
  /** Paths within the root; '' for any. */
  readonly changed: readonly string[];
  /** What the system refused: from then on something may be missed. */
  readonly error: unknown;
}

interface Watched {
  readonly watcher: FSWatcher;
  /** Tells a folder from another one that took its place. */
  readonly identity: string;
  readonly folders: Map<string, Watched>;
}

/**
 * Watches a folder and every folder in it, one by one, as Linux wants it: for a worker thread. Folders that vanish while
 * they are being watched are no hindrance: the folder above is watched first and tells of them. An event is only noted
 * when it comes, for a storm of events ends only where each costs less than the making of the next one.
 */
export class FolderTree {
  /** The root lies in it under the empty name. */
  private readonly top = new Map<string, Watched>();
  /** Changed paths; true for those under which folders may have come or gone. */
  private changed = new Map<string, boolean>();
  /** Folders that may be gone, or be another one with the same identity. */
  private ended = new Set<string>();
  private error: unknown = null;

  constructor(private readonly options: FolderTreeOptions) {}

  /** Watches all that is there and is not watched yet. @throws Error when the system refuses the root, or any more */
  watchAll(): void {
    if (!this.watchUnder('')) throw this.rootGone();
  }

  close(): void {
    this.forget(this.top, '');
  }

  /** What happened since the last time, once folders that came are watched: who looks then misses nothing in them. */
  take(): TreeChanges {
    const { changed, ended } = this;
    this.changed = new Map();
    this.ended = new Set();
    const isMuch = changed.size >= MOST_PATHS;
    const doubtful = isMuch ? [''] : [...changed].flatMap(([path, mayBeFolder]) => (mayBeFolder ? [path] : []));
    try {
      for (const path of ended) this.forget(this.foldersBeside(path), posix.basename(path));
      for (const path of doubtful) this.watchUnder(path);
      if (this.top.size === 0) throw this.rootGone();
    } catch (error) {
      this.error ??= error;
    }
    return { changed: isMuch ? [''] : [...changed.keys()], error: this.error };
  }

  /** Whether the folder is watched now, with all that is in it. */
  private watchUnder(top: string): boolean {
    if (!this.watchOne(top)) return false;
    for (const paths = [top]; paths.length > 0; ) {
      const above = paths.pop() ?? '';
      for (const name of this.foldersIn(above)) {
        const path = above === '' ? name : `${above}/${name}`;
        if (!this.isLeftOut(path) && this.watchOne(path)) paths.push(path);
      }
    }
    return true;
  }

  private watchOne(path: string): boolean {
    const siblings = this.foldersBeside(path);
    const name = posix.basename(path);
    try {
      // Looked at first: what takes its place from now on is told by the folder above, and is another one.
      const found = lstatSync(this.at(path), { bigint: true });
      const identity = `${found.ino}:${found.birthtimeNs}`;
      if (siblings?.get(name)?.identity === identity) return true;
      this.forget(siblings, name);
      if (!siblings || !found.isDirectory()) return false;
      const watcher = watch(this.at(path), (event, changed) => this.hear(path, event, changed));
      watcher.on('error', (error) => this.fail(error));
      siblings.set(name, { watcher, identity, folders: new Map() });
      return true;
    } catch (error) {
      if (!isPassedOver(error)) throw error;
      this.forget(siblings, name);
      return false;
    }
  }

  private hear(folder: string, event: string, name: string | null): void {
    const path = folder === '' || name === null ? (name ?? folder) : `${folder}/${name}`;
    if (this.changed.size >= MOST_PATHS || (path !== '' && this.isLeftOut(path))) return;
    if (this.changed.size === 0) this.options.stirred();
    this.changed.set(path, event === 'rename' || (this.changed.get(path) ?? false));
    // The end of a folder itself is told by its own name.
    if (event !== 'rename' || name !== posix.basename(this.at(folder))) return;
    this.ended.add(folder);
    this.changed.set(folder, true);
  }

  private rootGone(): Error {
    return new Error(`ENOENT: the folder ${this.options.root} is missing`);
  }

  private fail(error: unknown): void {
    this.error ??= error;
    this.hear('', 'change', null);
  }

  private forget(siblings: Map<string, Watched> | null, name: string): void {
    const left = [siblings?.get(name)];
    siblings?.delete(name);
    for (let each = left.pop(); each !== undefined; each = left.pop()) {
      each.watcher.close();
      left.push(...each.folders.values());
    }
  }

  /** Null where the folder above is not watched. */
  private foldersBeside(path: string): Map<string, Watched> | null {
    if (path === '') return this.top;
    let folders = this.top.get('')?.folders;
    for (const name of path.split('/').slice(0, -1)) folders = folders?.get(name)?.folders;
    return folders ?? null;
  }

  private foldersIn(path: string): string[] {
    try {
      const entries = readdirSync(this.at(path), { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    } catch (error) {
      if (!isPassedOver(error)) throw error;
      return [];
    }
  }

  private isLeftOut(path: string): boolean {
    return posix.basename(path) === '.git' || this.options.others.has(this.at(path));
  }

  private at(path: string): string {
    return path === '' ? this.options.root : `${this.options.root}/${path}`;
  }
}

function isPassedOver(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && PASSED_OVER.has(String(error.code));
}
