import { askAgain, type HttpCall } from '../http/network.js';
import {
  entryNamed,
  folderOf,
  joinPath,
  markTwins,
  nameBeside,
  nameOf,
  type RemoteEntry,
  RemoteFailure,
  type RemoteFile,
  SharedLooks,
} from '../port/index.js';
import type { DavEntry, DavHttp, DavPath } from './dav-http.js';

/** Names under which the product writes for a moment. */
export const OURS = '.svc-';
const ROOT: DavPath = [];

/** Where a path leads. */
export interface DavPlace {
  readonly path: string;
  /** As the server spells it. */
  readonly at: DavPath;
  /** What lies there; null for nothing. */
  readonly found: DavEntry | null;
  /** The path of what is in the way: the same but for case, or a file where a folder is meant. */
  readonly occupant: string | null;
}

/** Finds what lies under paths. */
export class DavTree {
  private readonly listings = new SharedLooks<DavEntry[] | null>();

  constructor(private readonly http: DavHttp) {}

  /** @throws RemoteFailure `unavailable` when nothing lies there, and the root is not there either */
  async locate(path: string, call: HttpCall): Promise<DavPlace> {
    const at = path === '' ? ROOT : path.split('/');
    const found = await this.http.look(at, call);
    if (found) return { path, at, found, occupant: null };
    if (path === '') throw new RemoteFailure('unavailable', { path });
    return this.step(await this.locate(folderOf(path), call), path, call);
  }

  /** Null where there is no such folder. */
  async entriesOf(path: string, call: HttpCall): Promise<RemoteEntry[] | null> {
    const folder = await this.locate(path, call);
    if (folder.found?.kind !== 'folder') return null;
    const listed = await this.http.children(folder.at, call);
    if (!listed) return null;
    return markTwins(listed.filter(({ name }) => !name?.startsWith(OURS)).map((entry) => entryIn(folder.path, entry)));
  }

  /** Makes the folders down to a path. @throws RemoteFailure `exists` for what is in the way */
  async makeFolders(path: string, call: HttpCall): Promise<DavPlace> {
    const there = await this.locate(path, call);
    if (there.found?.kind === 'folder') return there;
    if (there.found || there.occupant !== null) throw new RemoteFailure('exists', { path: there.occupant ?? path });
    const above = await this.makeFolders(folderOf(path), call);
    const at = [...above.at, nameOf(path)];
    const found = await this.made(at, call);
    if (!found) throw new RemoteFailure('exists', { path });
    return { path, at, found, occupant: null };
  }

  /**
   * A folder, made unless it is there; null for something else. Another call may have been first, and servers have many
   * answers to that: 405, and for one of the same moment 403, 409 or 500. A server that has not yet seen the folder above,
   * made a moment ago, answers 409 too, so it is asked again.
   */
  made(at: DavPath, call: HttpCall): Promise<DavEntry | null> {
    return askAgain(call, () => this.makeOnce(at, call));
  }

  private async makeOnce(at: DavPath, call: HttpCall): Promise<DavEntry | null> {
    const refusal = await this.http.done('MKCOL', at, { ...call, accept: [405] }).then(
      () => null,
      (error: unknown) => {
        if (error instanceof RemoteFailure) return error;
        throw error;
      },
    );
    const made = await this.http.look(at, call);
    if (made?.kind === 'folder') return made;
    if (refusal !== null) throw refusal;
    return null;
  }

  private async step(folder: DavPlace, path: string, call: HttpCall): Promise<DavPlace> {
    const name = nameOf(path);
    const at = [...folder.at, name];
    if (folder.occupant !== null || !folder.found) return { ...folder, path, at, found: null };
    if (folder.found.kind !== 'folder') return { path, at, found: null, occupant: folder.path };
    return this.underOtherForm(folder, { path, name, at }, call);
  }

  /** A name that is stored in another normal form is found; one that differs by case is in the way. */
  private async underOtherForm(
    folder: DavPlace,
    { path, name, at }: { readonly path: string; readonly name: string; readonly at: DavPath },
    call: HttpCall,
  ): Promise<DavPlace> {
    const listed = await this.listings.take(folder.path, () => this.http.children(folder.at, { path: folder.path }));
    const names = (listed ?? []).flatMap((entry) => entry.name ?? []);
    const beside = nameBeside(names, name);
    if (!beside) return { path, at, found: null, occupant: null };
    if ('twin' in beside) return { path, at, found: null, occupant: joinPath(folder.path, beside.twin) };
    const spelt = [...folder.at, beside.same];
    const found = await this.http.look(spelt, call);
    if (!found) throw new RemoteFailure('unavailable', { path }, { cause: new Error('It is listed and not found') });
    return { path, at: spelt, found, occupant: null };
  }
}

function entryIn(folder: string, entry: DavEntry): RemoteEntry {
  return entryNamed(folder, entry.name ?? '\uFFFD', (path) =>
    entry.name === null ? { kind: 'other', path, hasTwin: false } : entryOf(path, entry),
  );
}

export function entryOf(path: string, found: DavEntry): RemoteEntry {
  return found.kind === 'file' ? fileOf(path, found) : { kind: found.kind, path, hasTwin: false };
}

/** A tag is opaque, and taken without the mark of a weak one: servers take that away when a second has passed. */
export function fileOf(path: string, { sizeBytes, etag, modified }: DavEntry): RemoteFile {
  const modifiedMs = Date.parse(modified);
  const modifiedAt = new Date(Number.isNaN(modifiedMs) ? 0 : modifiedMs).toISOString();
  const revision = etag === null ? `${sizeBytes}:${modifiedAt}` : etag.replace(/^W\//, '');
  return { kind: 'file', path, sizeBytes, revision, modifiedAt, hashes: {}, hasTwin: false };
}

/** The tag as a condition; null where the server has none that it would keep. */
export function strongTagOf({ etag }: DavEntry): string | null {
  return etag !== null && /^"[^"]*"$/.test(etag) ? etag : null;
}
