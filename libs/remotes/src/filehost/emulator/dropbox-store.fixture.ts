import { randomBytes } from 'node:crypto';
import { ContentHashes } from '../../port/index.js';

export interface StoredFile {
  readonly kind: 'file';
  readonly display: string;
  readonly id: string;
  readonly rev: string;
  readonly bytes: Buffer;
  readonly clientModified: string;
  readonly serverModified: string;
  readonly contentHash: string;
}
export interface StoredFolder {
  readonly kind: 'folder';
  readonly display: string;
  readonly id: string;
}
export type Stored = StoredFile | StoredFolder;

/** A tagged error, from the outermost tag on, as an endpoint answers it with status 409. */
export class Refusal extends Error {
  constructor(
    readonly tags: readonly string[],
    readonly more: object = {},
  ) {
    super(tags.join('/'));
  }
}

/** The files of one account. Paths are taken without regard to case, and shown as they were first written. */
export class DropboxStore {
  private readonly nodes = new Map<string, Stored>();
  private readonly history = new Map<string, StoredFile[]>();
  /** Keys in the order of their changes. */
  readonly log: { readonly key: string; readonly display: string }[] = [];

  at(path: string): Stored | undefined {
    return this.nodes.get(keyOf(path));
  }

  fileAt(path: string): StoredFile {
    const found = this.at(path);
    if (!found) throw new Refusal(['not_found']);
    if (found.kind === 'folder') throw new Refusal(['not_file']);
    return found;
  }

  below(path: string, recursive: boolean): Stored[] {
    const prefix = `${keyOf(path)}/`;
    const isIn = (key: string): boolean =>
      key.startsWith(prefix) && (recursive || !key.slice(prefix.length).includes('/'));
    // The key of a folder sorts before those of its content.
    return [...this.nodes.keys()]
      .filter(isIn)
      .sort()
      .flatMap((key) => this.nodes.get(key) ?? []);
  }

  revisionsAt(path: string): readonly StoredFile[] {
    return [...(this.history.get(keyOf(path)) ?? [])].reverse();
  }

  /** @throws Refusal `conflict` when a file lies on the way */
  makeFolders(path: string): void {
    const names = path.split('/').slice(1);
    for (let depth = 1; depth <= names.length; depth += 1) {
      const display = `/${names.slice(0, depth).join('/')}`;
      const found = this.at(display);
      if (found?.kind === 'file') throw new Refusal(['conflict', 'file_ancestor']);
      if (!found) this.set({ kind: 'folder', display: this.displayOf(display), id: newId() });
    }
  }

  put(path: string, bytes: Buffer, clientModified: string, id = newId()): StoredFile {
    this.makeFolders(parentOf(path));
    const hashes = new ContentHashes(['dropbox']);
    hashes.update(bytes);
    const file: StoredFile = {
      kind: 'file',
      display: this.displayOf(path),
      id,
      rev: `0${randomBytes(9).toString('hex')}`,
      bytes,
      clientModified,
      serverModified: now(),
      contentHash: hashes.end().dropbox ?? '',
    };
    this.set(file);
    this.history.set(keyOf(path), [...(this.history.get(keyOf(path)) ?? []), file]);
    return file;
  }

  delete(path: string): void {
    const found = this.at(path);
    if (!found) throw new Refusal(['not_found']);
    for (const inner of [...this.below(path, true), found]) {
      this.nodes.delete(keyOf(inner.display));
      this.note(inner.display);
    }
  }

  transfer(from: string, to: string, keepsId: boolean): Stored {
    const source = this.at(from);
    if (!source) throw new Refusal(['from_lookup', 'not_found']);
    const all = [source, ...this.below(from, true)];
    const places = all.map((node) => `${to}${node.display.slice(from.length)}`);
    if (keepsId) this.delete(from);
    for (const [index, node] of all.entries()) {
      const place = places[index] ?? to;
      if (node.kind === 'folder') this.makeFolders(place);
      else this.put(place, node.bytes, node.clientModified, keepsId ? node.id : newId());
    }
    return this.at(to) ?? source;
  }

  private set(node: Stored): void {
    this.nodes.set(keyOf(node.display), node);
    this.note(node.display);
  }

  private note(display: string): void {
    this.log.push({ key: keyOf(display), display });
  }

  /** A path in the spelling of the folders that are there. */
  private displayOf(path: string): string {
    const parent = this.at(parentOf(path))?.display ?? parentOf(path);
    return this.at(path)?.display ?? `${parent}/${path.slice(path.lastIndexOf('/') + 1)}`;
  }
}

export function keyOf(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** Dropbox tells times in whole seconds. */
export function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

function newId(): string {
  return `id:${randomBytes(16).toString('base64url')}`;
}
