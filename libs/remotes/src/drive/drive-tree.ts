import type { HttpCall } from '../http/network.js';
import { folderOf, joinPath, markTwins, nameBeside, nameOf, type RemoteEntry, RemoteFailure } from '../port/index.js';
import { type DriveApi, quoted } from './drive-api.js';
import { byAge, type DriveFile, entryIn, FOLDER_TYPE, isFolder } from './drive-file.js';
import { KnownIds } from './known-ids.js';

/** Where a path leads. */
export interface DrivePlace {
  readonly path: string;
  /** The folder that it lies in, the oldest first; empty where there is none. */
  readonly folderIds: readonly string[];
  /** What lies there, the oldest first; empty for nothing. */
  readonly found: readonly DriveFile[];
  /** The path of what is in the way: the same but for case, or a file where a folder is meant. */
  readonly occupant: string | null;
}

/** How many folders one search names. */
const FOLDERS_AT_ONCE = 40;

/**
 * Paths over ids. Names in Drive are no keys: folders of one name in one place are one folder here, whose content is that of
 * all, and of files of one name the oldest is the one that is meant.
 */
export class DriveTree {
  private readonly known: KnownIds;

  constructor(
    private readonly api: DriveApi,
    private readonly rootId: string,
  ) {
    this.known = new KnownIds(rootId);
  }

  /** @throws RemoteFailure `unavailable` when the root is not there */
  async locate(path: string, call: HttpCall): Promise<DrivePlace> {
    const folder = folderOf(path);
    const chain = this.known.chain(folder);
    if (!chain) return this.walk(path, call);
    // What is known is looked at while it is used.
    const [isStill, place] = await Promise.all([
      this.isStill(chain, folder, call),
      this.within({ path, folderIds: chain.at(-1) ?? [] }, call).catch(nullWhereGone),
    ]);
    if (isStill && place) return place;
    this.known.forget(folder);
    return this.walk(path, call);
  }

  /** The folder under a path; empty where there is none. */
  async folderIds(path: string, call: HttpCall): Promise<readonly string[]> {
    if (path === '') return [await this.root(call)];
    const { found } = await this.locate(path, call);
    return found.filter(isFolder).map(({ id }) => id);
  }

  /** Null where there is no such folder. */
  async entriesOf(path: string, call: HttpCall): Promise<RemoteEntry[] | null> {
    const ids = await this.folderIds(path, call);
    if (ids.length === 0) return null;
    const found = onceEach(await this.in(ids, 'trashed = false', call)).filter((file) => isIn(file, ids));
    const folders = new Map<string, string[]>();
    const entries: RemoteEntry[] = [];
    for (const file of found) {
      const entry = entryIn(path, file);
      const same = entry.kind === 'folder' ? folders.get(entry.path) : undefined;
      if (!same) entries.push(entry);
      same?.push(file.id);
      if (entry.kind === 'folder' && !same) folders.set(entry.path, [file.id]);
    }
    for (const [folder, folderIds] of folders) this.known.note(folder, folderIds);
    return markTwins(entries);
  }

  /** Notes what a change has made of a path; nothing for what was moved or removed. */
  note(path: string, file?: DriveFile): void {
    this.known.note(path, file ? [file.id] : []);
  }

  /** Whether folders hold anything that is seen, or that is in the trash because they are. */
  async holdsAnything(ids: readonly string[], isTrashed: boolean, call: HttpCall): Promise<boolean> {
    for (const id of ids)
      for await (const page of this.api.pages(`${quoted(id)} in parents and trashed = ${isTrashed}`, {}, call))
        if (page.some(({ explicitlyTrashed }) => !explicitlyTrashed)) return true;
    return false;
  }

  /** What was removed from folders under a name, by itself and not with them. */
  async removedFrom(folderIds: readonly string[], name: string, call: HttpCall): Promise<DriveFile[]> {
    const found = await this.in(folderIds, `name = ${quoted(name)} and trashed = true`, call);
    return found.filter((file) => file.explicitlyTrashed && file.name.normalize('NFC') === name);
  }

  /** The path of something that a search found; null for what lies outside of the root, or in what is in the trash. */
  async pathOf(
    file: DriveFile,
    call: HttpCall,
    seen = new Map<string, Promise<string | null>>(),
  ): Promise<string | null> {
    const folder = await this.pathOfFolder(file.parents[0], call, seen);
    return folder === null ? null : entryIn(folder, file).path;
  }

  private pathOfFolder(
    id: string | undefined,
    call: HttpCall,
    seen: Map<string, Promise<string | null>>,
  ): Promise<string | null> {
    if (id === this.rootId) return Promise.resolve('');
    if (id === undefined) return Promise.resolve(null);
    const told = seen.get(id) ?? this.climb(id, call, seen);
    seen.set(id, told);
    return told;
  }

  private async climb(id: string, call: HttpCall, seen: Map<string, Promise<string | null>>): Promise<string | null> {
    const folder = await this.api.file(id, call);
    return folder && !folder.trashed ? this.pathOf(folder, call, seen) : null;
  }

  private async root(call: HttpCall): Promise<string> {
    const root = await this.api.file(this.rootId, call);
    if (root && !root.trashed && isFolder(root)) return root.id;
    throw new RemoteFailure(
      'unavailable',
      { path: '' },
      { cause: new Error('The root is no folder, or in the trash') },
    );
  }

  /** Whether the folders that are known are where they were. */
  private async isStill(chain: readonly (readonly string[])[], folder: string, call: HttpCall): Promise<boolean> {
    const names = folder.split('/');
    const below = chain.slice(1).flatMap((ids, depth) =>
      ids.map(async (id) => {
        const found = await this.api.file(id, call);
        return found !== null && isFolder(found) && isAt(found, names[depth] ?? '', chain[depth] ?? []);
      }),
    );
    const [still] = await Promise.all([Promise.all(below), this.root(call)]);
    return still.every(Boolean);
  }

  /** Finds each folder on the way by its name. */
  private async walk(path: string, call: HttpCall): Promise<DrivePlace> {
    const above = folderOf(path);
    if (above === '') return this.within({ path, folderIds: [await this.root(call)] }, call);
    const folder = await this.walk(above, call);
    if (folder.found.length === 0) return { path, folderIds: [], found: [], occupant: folder.occupant };
    const ids = folder.found.filter(isFolder).map(({ id }) => id);
    if (ids.length === 0) return { path, folderIds: [], found: [], occupant: above };
    this.known.note(above, ids);
    return this.within({ path, folderIds: ids }, call);
  }

  private async within(
    { path, folderIds }: Pick<DrivePlace, 'path' | 'folderIds'>,
    call: HttpCall,
  ): Promise<DrivePlace> {
    const name = nameOf(path);
    const [known, named] = await Promise.all([
      Promise.all(this.known.at(path).map((id) => this.api.file(id, call))),
      this.in(folderIds, `name = ${quoted(name)} and trashed = false`, call),
    ]);
    const found = [...known.filter((file) => file !== null), ...named].filter((file) => isAt(file, name, folderIds));
    if (found.length > 0) return { path, folderIds, found: onceEach(found), occupant: null };
    return this.beside({ path, folderIds }, call);
  }

  /** A name that is stored in another normal form is found; one that differs by case is in the way. */
  private async beside(
    { path, folderIds }: Pick<DrivePlace, 'path' | 'folderIds'>,
    call: HttpCall,
  ): Promise<DrivePlace> {
    const all = await this.in(folderIds, 'trashed = false', call);
    const name = nameOf(path);
    const beside = nameBeside(
      all.map((file) => file.name),
      name,
    );
    if (!beside) return { path, folderIds, found: [], occupant: null };
    if ('twin' in beside) return { path, folderIds, found: [], occupant: joinPath(folderOf(path), beside.twin) };
    return { path, folderIds, found: onceEach(all.filter((file) => isAt(file, name, folderIds))), occupant: null };
  }

  /** What a search finds in some folders. */
  private async in(folderIds: readonly string[], terms: string, call: HttpCall): Promise<DriveFile[]> {
    const parts: Promise<DriveFile[]>[] = [];
    for (let start = 0; start < folderIds.length; start += FOLDERS_AT_ONCE) {
      const folders = folderIds.slice(start, start + FOLDERS_AT_ONCE).map((id) => `${quoted(id)} in parents`);
      parts.push(this.api.search(`(${folders.join(' or ')}) and ${terms}`, call));
    }
    return (await Promise.all(parts)).flat();
  }
}

/** A folder that is made, as Drive is told of it. */
export function folderIn(folderId: string, name: string) {
  return { name, mimeType: FOLDER_TYPE, parents: [folderId] };
}

/** What a search answers is looked at again: it may be late. */
function isIn({ parents, trashed }: DriveFile, folderIds: readonly string[]): boolean {
  return !trashed && parents.some((id) => folderIds.includes(id));
}

function isAt(file: DriveFile, name: string, folderIds: readonly string[]): boolean {
  return isIn(file, folderIds) && file.name.normalize('NFC') === name;
}

/** Drive knows no search in a folder that is gone. */
function nullWhereGone(error: unknown): null {
  if (error instanceof RemoteFailure && error.reason === 'not_found') return null;
  throw error;
}

function onceEach(files: readonly DriveFile[]): DriveFile[] {
  return [...new Map(files.map((file) => [file.id, file])).values()].sort(byAge);
}
