import { pathKey } from '@workspace-graph/domain';
import pMap from 'p-map';
import { callOf, type HttpCall } from '../http/network.js';
import { childText, type XmlElement } from '../http/xml.js';
import {
  type CallOptions,
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
import type { S3Http } from './s3-http.js';

/** Keys that are looked at together. */
const LOOKS = 32;

/** An object, and what is told of it. */
export interface S3Object {
  readonly sizeBytes: number;
  /** As in a header: with quotes. */
  readonly etag: string;
  readonly modified: string;
}

/** Where a path leads. */
export interface S3Place {
  readonly path: string;
  readonly key: string;
  /** What lies there; null for nothing. */
  readonly found: S3Object | 'folder' | null;
  /** The path of what is in the way: the same but for case, or a file where a folder is meant. */
  readonly occupant: string | null;
}

/** What a folder holds, by the names that the storage has. */
interface Listed {
  readonly objects: ReadonlyMap<string, S3Object>;
  readonly folders: ReadonlySet<string>;
  /** Whether an object stands for the folder itself. */
  readonly isMarked: boolean;
  /** All names, by what those have in common that differ by case or normal form alone. */
  readonly alike: ReadonlyMap<string, readonly string[]>;
}

/**
 * Folders over keys: a folder is there while a key goes on behind it, be it the key of an empty object that stands for the
 * folder alone.
 */
export class S3Keys {
  private readonly listings = new SharedLooks<Listed>();

  constructor(
    private readonly http: S3Http,
    private readonly root: string,
  ) {}

  keyOf(path: string): string {
    return path === '' ? this.root : joinPath(this.root, path);
  }

  /** @throws RemoteFailure `unavailable` when there is no such bucket */
  async locate(path: string, call: HttpCall): Promise<S3Place> {
    const key = this.keyOf(path);
    const found = await this.look(key, call);
    if (found) return { path, key, found, occupant: null };
    return this.search(path, call);
  }

  /** Where many paths lead: those under whose keys nothing lies share listings. */
  async locateAll(paths: readonly string[], { signal }: CallOptions): Promise<S3Place[]> {
    const look = async (path: string): Promise<S3Object | null> =>
      this.look(this.keyOf(path), callOf(path, { signal }));
    const found = await pMap(paths, look, { concurrency: LOOKS });
    return await Promise.all(
      paths.map(async (path, index): Promise<S3Place> => {
        const object = found[index];
        if (object) return { path, key: this.keyOf(path), found: object, occupant: null };
        return this.search(path, { path, signal });
      }),
    );
  }

  /** What lies under a key; null for nothing. */
  async look(key: string, call: HttpCall): Promise<S3Object | null> {
    const response = await this.http.done('HEAD', key, { ...call, accept: [404] });
    return response.status === 404 ? null : objectOf(response.headers);
  }

  /** Null where there is no such folder. */
  async entriesOf(path: string, call: HttpCall): Promise<RemoteEntry[] | null> {
    const listed = await this.list(await this.folderKey(path, call), call);
    if (path !== '' && isNothing(listed)) return null;
    const files = [...listed.objects].map(([name, object]) => entryNamed(path, name, (at) => fileOf(at, object)));
    const folders = [...listed.folders].map((name) =>
      entryNamed(path, name, (at): RemoteEntry => ({ kind: 'folder', path: at, hasTwin: false })),
    );
    return markTwins([...files, ...folders]);
  }

  /** Whether a folder holds anything but its own mark. */
  async holdsAnything(key: string, call: HttpCall): Promise<boolean> {
    const { objects, folders } = await this.list(key, call, 2);
    return objects.size + folders.size > 0;
  }

  /** The key of a folder, as the storage spells it. */
  private async folderKey(path: string, call: HttpCall): Promise<string> {
    if (path === '') return this.root;
    const place = await this.search(path, call);
    return place.key;
  }

  /** Looks among the names of the folders on the way: no object has this very key. */
  private async search(path: string, call: HttpCall): Promise<S3Place> {
    const key = this.keyOf(path);
    const above = folderOf(path);
    const listed = await this.listing(this.keyOf(above), call);
    if (above === '' || !isNothing(listed)) return this.among(listed, { path, key }, call);
    const folder = await this.search(above, call);
    const at = joinPath(folder.key, nameOf(path));
    if (folder.occupant !== null) return { ...folder, path, key: at, found: null };
    if (folder.found === null) return { path, key: at, found: null, occupant: null };
    if (folder.found !== 'folder') return { path, key: at, found: null, occupant: above };
    return this.among(await this.listing(folder.key, call), { path, key: at }, call);
  }

  private async among(
    { folders, alike }: Listed,
    { path, key }: Pick<S3Place, 'path' | 'key'>,
    call: HttpCall,
  ): Promise<S3Place> {
    const name = nameOf(path);
    if (folders.has(name)) return { path, key, found: 'folder', occupant: null };
    // A name that is stored in another normal form is found; one that differs by case is in the way.
    const beside = nameBeside(alike.get(pathKey(name)) ?? [], name);
    if (!beside) return { path, key, found: null, occupant: null };
    if ('twin' in beside) return { path, key, found: null, occupant: joinPath(folderOf(path), beside.twin) };
    const spelt = joinPath(folderOf(key), beside.same);
    const found = folders.has(beside.same) ? 'folder' : await this.look(spelt, call);
    return { path, key: spelt, found, occupant: null };
  }

  /** All of a folder, for every call that looks for a name in it at this moment. */
  private listing(folderKey: string, { path }: HttpCall): Promise<Listed> {
    return this.listings.take(folderKey, () => this.list(folderKey, { path }));
  }

  /** @param atMost how many keys to ask for. Without it the listing is whole, or an error */
  private async list(folderKey: string, call: HttpCall, atMost?: number): Promise<Listed> {
    const prefix = folderKey === '' ? '' : `${folderKey}/`;
    const found = { objects: new Map<string, S3Object>(), folders: new Set<string>(), isMarked: false };
    const query = {
      'list-type': '2',
      delimiter: '/',
      prefix,
      'encoding-type': 'url',
      ...(atMost === undefined ? {} : { 'max-keys': String(atMost) }),
    };
    let page = await this.page(query, call);
    takePage(found, page, { prefix, call });
    for (let token = nextPage(page, call); token !== null && atMost === undefined; token = nextPage(page, call)) {
      page = await this.page({ ...query, 'continuation-token': token }, call);
      takePage(found, page, { prefix, call });
    }
    return { ...found, alike: Map.groupBy([...found.objects.keys(), ...found.folders], pathKey) };
  }

  private async page(query: Readonly<Record<string, string>>, call: HttpCall): Promise<XmlElement> {
    const page = await this.http.xml('GET', null, { ...call, query });
    if (page.name !== 'ListBucketResult') throw unreadable(call);
    return page;
  }
}

function takePage(
  found: { objects: Map<string, S3Object>; folders: Set<string>; isMarked: boolean },
  page: XmlElement,
  { prefix, call }: { readonly prefix: string; readonly call: HttpCall },
): void {
  for (const child of page.children) {
    const name = nameIn(child, prefix, call);
    if (name === null) continue;
    if (child.name === 'CommonPrefixes') found.folders.add(name.slice(0, -1));
    else if (name === '') found.isMarked = true;
    else found.objects.set(name, listedObject(child));
  }
}

function isNothing({ objects, folders, isMarked }: Listed): boolean {
  return objects.size + folders.size === 0 && !isMarked;
}

/** Null for what is neither object nor folder. @throws RemoteFailure for a key that was not asked for */
function nameIn(child: XmlElement, prefix: string, call: HttpCall): string | null {
  const text = childText(child, child.name === 'CommonPrefixes' ? 'Prefix' : 'Key');
  if ((child.name !== 'CommonPrefixes' && child.name !== 'Contents') || text === null) return null;
  const key = decodeURIComponent(text.replaceAll('+', ' '));
  if (!key.startsWith(prefix)) throw unreadable(call);
  return key.slice(prefix.length);
}

/** @throws RemoteFailure for a listing that is told to go on without saying where */
function nextPage(page: XmlElement, call: HttpCall): string | null {
  if (childText(page, 'IsTruncated') !== 'true') return null;
  const token = childText(page, 'NextContinuationToken');
  if (token === null || token === '') throw unreadable(call);
  return token;
}

function unreadable({ path }: HttpCall): RemoteFailure {
  return new RemoteFailure('unavailable', { path }, { cause: new Error('The server answered no listing') });
}

function listedObject(child: XmlElement): S3Object {
  return {
    sizeBytes: Number(childText(child, 'Size')),
    etag: childText(child, 'ETag') ?? '',
    modified: childText(child, 'LastModified') ?? '',
  };
}

export function objectOf(headers: Headers): S3Object {
  return {
    sizeBytes: Number(headers.get('content-length')),
    etag: headers.get('etag') ?? '',
    modified: headers.get('last-modified') ?? '',
  };
}

/** The tag is a hash of the content, or of its parts: whole seconds of the last edit would tell less. */
export function fileOf(path: string, { sizeBytes, etag, modified }: S3Object): RemoteFile {
  const revision = etag.replaceAll('"', '');
  const md5 = /^[0-9a-f]{32}$/.test(revision) ? { md5: revision } : {};
  const modifiedMs = Math.floor(Date.parse(modified) / 1_000) * 1_000;
  const modifiedAt = new Date(Number.isNaN(modifiedMs) ? 0 : modifiedMs).toISOString();
  return { kind: 'file', path, sizeBytes, revision, modifiedAt, hashes: md5, hasTwin: false };
}
