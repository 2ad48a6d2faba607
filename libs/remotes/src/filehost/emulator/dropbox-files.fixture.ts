import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  type DropboxStore,
  keyOf,
  now,
  parentOf,
  Refusal,
  type Stored,
  type StoredFile,
} from './dropbox-store.fixture.js';

const PAGE = 700;
const FORBIDDEN_NAMES = new Set(['.dropbox', '.dropbox.attr', '.dropbox.cache']);

const rev = z.string().regex(/^[0-9a-f]{9,}$/);
const writePath = z.string().startsWith('/');
const readPath = z.string().regex(/^(\/|$)/);
const commit = z.strictObject({
  path: writePath,
  mode: z.union([z.enum(['add', 'overwrite']), z.strictObject({ '.tag': z.literal('update'), update: rev })]),
  autorename: z.literal(false),
  strict_conflict: z.boolean().default(false),
  mute: z.boolean().default(false),
  client_modified: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    .optional(),
});
const cursor = z.strictObject({ session_id: z.string(), offset: z.number().int().min(0) });
const transfer = z.strictObject({ from_path: writePath, to_path: writePath, autorename: z.literal(false) });
const scope = {
  path: readPath,
  recursive: z.boolean().default(false),
  include_deleted: z.boolean().default(false),
  limit: z.number().int().min(1).max(2_000).default(500),
};

/** Arguments of the endpoints that the emulator knows. What is not named here is refused. */
export const ARGUMENTS = {
  'files/get_metadata': z.strictObject({ path: writePath }),
  'files/list_folder': z.strictObject(scope),
  'files/list_folder/continue': z.strictObject({ cursor: z.string().min(1) }),
  'files/list_folder/get_latest_cursor': z.strictObject(scope),
  'files/create_folder_v2': z.strictObject({ path: writePath, autorename: z.literal(false) }),
  'files/move_v2': transfer,
  'files/copy_v2': transfer,
  'files/delete_v2': z.strictObject({ path: writePath, parent_rev: rev.optional() }),
  'files/list_revisions': z.strictObject({
    path: writePath,
    mode: z.literal('path'),
    limit: z.number().int().min(1).max(100),
  }),
  'files/restore': z.strictObject({ path: writePath, rev }),
  'files/search_v2': z.strictObject({
    query: z.string().min(1).max(1_000),
    options: z.strictObject({
      path: readPath,
      max_results: z.number().int().min(1).max(1_000),
      filename_only: z.boolean(),
      file_status: z.literal('active'),
    }),
  }),
  'files/search/continue_v2': z.strictObject({ cursor: z.string().min(1) }),
  'files/download': z.strictObject({ path: writePath }),
  'files/upload': commit,
  'files/upload_session/start': z.strictObject({ close: z.boolean() }),
  'files/upload_session/append_v2': z.strictObject({ cursor, close: z.boolean() }),
  'files/upload_session/finish': z.strictObject({ cursor, commit }),
};
export type Endpoint = keyof typeof ARGUMENTS;
type Arguments = { [Name in Endpoint]: z.infer<(typeof ARGUMENTS)[Name]> };
type Commit = z.infer<typeof commit>;

interface Cursor {
  readonly path: string;
  readonly recursive: boolean;
  readonly limit: number;
  readonly pending: readonly object[];
  readonly logged: number;
}
interface Session {
  readonly parts: Buffer[];
  isClosed: boolean;
}

/** The endpoints, as functions of what they are given. */
export class DropboxFiles {
  private readonly cursors = new Map<string, Cursor>();
  private readonly searches = new Map<string, readonly object[]>();
  private readonly sessions = new Map<string, Session>();
  /** What every write is refused with. */
  refusing: 'no_write_permission' | 'insufficient_space' | null = null;

  constructor(private readonly store: DropboxStore) {}

  readonly handlers: { [Name in Endpoint]: (argument: Arguments[Name], body: Buffer) => object } = {
    'files/get_metadata': ({ path }) => this.within('path', () => metadataOf(this.found(path))),
    'files/list_folder': (argument) => this.list(argument),
    'files/list_folder/continue': ({ cursor: id }) => this.page(this.cursorAt(id)),
    'files/list_folder/get_latest_cursor': ({ path, recursive, limit }) => {
      this.mustBeFolder(path);
      return { cursor: this.keep({ path, recursive, limit, pending: [], logged: this.store.log.length }) };
    },
    'files/create_folder_v2': ({ path }) => this.within('path', () => this.createFolder(path)),
    'files/move_v2': (argument) => this.transfer(argument, true),
    'files/copy_v2': (argument) => this.transfer(argument, false),
    'files/delete_v2': (argument) => this.delete(argument),
    'files/list_revisions': ({ path, limit }) => this.within('path', () => this.revisions(path, limit)),
    'files/restore': ({ path, rev: wanted }) => this.restore(path, wanted),
    'files/search_v2': ({ query, options }) => this.search(query, options.path, options.max_results),
    'files/search/continue_v2': ({ cursor: id }) => this.results(this.searches.get(id) ?? []),
    'files/download': ({ path }) => this.within('path', () => this.store.fileAt(path)),
    'files/upload': (argument, body) => fileOf(this.within('path', () => this.commit(argument, body), 'reason')),
    'files/upload_session/start': ({ close }, body) => {
      const id = randomBytes(12).toString('base64url');
      this.sessions.set(id, { parts: [body], isClosed: close });
      return { session_id: id };
    },
    'files/upload_session/append_v2': ({ cursor: at, close }, body) => this.append(at, close, body),
    'files/upload_session/finish': (argument, body) => this.finish(argument, body),
  };

  private within<T>(tag: string, work: () => T, field = tag): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Refusal([tag, ...error.tags], { ...error.more, field });
    }
  }

  private found(path: string): Stored {
    const found = this.store.at(path);
    if (!found) throw new Refusal(['not_found']);
    return found;
  }

  private mustBeFolder(path: string): void {
    if (path === '') return;
    if (this.within('path', () => this.found(path)).kind === 'file') throw new Refusal(['path', 'not_folder']);
  }

  private mayWrite(): void {
    if (this.refusing) throw new Refusal([this.refusing]);
  }

  private list({ path, recursive, limit }: Arguments['files/list_folder']): object {
    this.mustBeFolder(path);
    const folder = recursive && path !== '' ? [this.found(path)] : [];
    const pending = [...folder, ...this.store.below(path, recursive)].map(metadataOf);
    return this.page({ path, recursive, limit, pending, logged: this.store.log.length });
  }

  /** What is left of the listing; when nothing is, what changed since. */
  private page(at: Cursor): object {
    const isListing = at.pending.length > 0;
    const all = isListing ? at.pending : this.changesSince(at);
    const logged = isListing ? at.logged : this.store.log.length;
    const count = Math.min(at.limit, PAGE);
    const pending = all.slice(count);
    const next = this.keep({ ...at, pending, logged });
    return { entries: all.slice(0, count), cursor: next, has_more: pending.length > 0 };
  }

  private changesSince({ path, recursive, logged }: Cursor): object[] {
    const prefix = `${keyOf(path)}/`;
    const isIn = (key: string): boolean =>
      key.startsWith(prefix) && (recursive || !key.slice(prefix.length).includes('/'));
    const changed = new Map(this.store.log.slice(logged).map(({ key, display }) => [key, display]));
    return [...changed]
      .filter(([key]) => isIn(key))
      .map(([key, display]) => {
        const found = this.store.at(key);
        return found ? metadataOf(found) : { '.tag': 'deleted', ...namesOf(display) };
      });
  }

  private cursorAt(id: string): Cursor {
    const found = this.cursors.get(id);
    if (!found) throw new Refusal(['reset']);
    return found;
  }

  /** Every cursor that was given out is lost. */
  forgetCursors(): void {
    this.cursors.clear();
  }

  private keep(at: Cursor): string {
    const id = randomBytes(18).toString('base64url');
    this.cursors.set(id, at);
    return id;
  }

  private createFolder(path: string): object {
    this.mayWrite();
    mustBeName(path);
    const found = this.store.at(path);
    if (found) throw new Refusal(['conflict', found.kind]);
    this.store.makeFolders(path);
    return { metadata: folderOf(this.found(path)) };
  }

  private commit(argument: Commit, bytes: Buffer): StoredFile {
    this.mayWrite();
    mustBeName(argument.path);
    const found = this.store.at(argument.path);
    this.mayReplace(argument, found, bytes);
    const file = found?.kind === 'file' ? found : null;
    return this.store.put(argument.path, bytes, argument.client_modified ?? now(), file?.id);
  }

  private mayReplace({ mode, strict_conflict: isStrict }: Commit, found: Stored | undefined, bytes: Buffer): void {
    if (found?.kind === 'folder') throw new Refusal(['conflict', 'folder']);
    if (mode === 'overwrite') return;
    // Without the strict condition Dropbox takes an equal content for no conflict, and a removed file for a new one.
    const isEqual = found?.bytes.equals(bytes) ?? false;
    if (mode === 'add') {
      if (found && (isStrict || !isEqual)) throw new Refusal(['conflict', 'file']);
    } else if (found ? found.rev !== mode.update && (isStrict || !isEqual) : isStrict)
      throw new Refusal(['conflict', 'file']);
  }

  private transfer({ from_path: from, to_path: to }: z.infer<typeof transfer>, moves: boolean): object {
    this.within('from_lookup', () => this.found(from));
    this.within('to', () => {
      this.mayWrite();
      mustBeName(to);
      const found = this.store.at(to);
      if (found) throw new Refusal(['conflict', found.kind]);
      this.store.makeFolders(parentOf(to));
    });
    return { metadata: metadataOf(this.store.transfer(from, to, moves)) };
  }

  private delete({ path, parent_rev: expected }: Arguments['files/delete_v2']): object {
    const found = this.within('path_lookup', () => this.found(path));
    this.within('path_write', () => {
      if (this.refusing === 'no_write_permission') this.mayWrite();
      if (expected !== undefined && (found.kind === 'folder' || found.rev !== expected))
        throw new Refusal(['conflict', found.kind]);
    });
    this.store.delete(path);
    return { metadata: metadataOf(found) };
  }

  private revisions(path: string, limit: number): object {
    const revisions = this.store.revisionsAt(path);
    const found = this.store.at(path);
    if (found?.kind === 'folder') throw new Refusal(['not_file']);
    if (revisions.length === 0) throw new Refusal(['not_found']);
    return { is_deleted: !found, entries: revisions.slice(0, limit).map(fileOf) };
  }

  private restore(path: string, wanted: string): object {
    const revision = this.store.revisionsAt(path).find((file) => file.rev === wanted);
    if (!revision) throw new Refusal(['invalid_revision']);
    return this.within('path_write', () => {
      this.mayWrite();
      return fileOf(this.store.put(path, revision.bytes, revision.clientModified, revision.id));
    });
  }

  private search(query: string, path: string, limit: number): object {
    this.mustBeFolder(path);
    const words = query.toLowerCase().split(/\s+/);
    const isHit = (node: Stored): boolean =>
      node.kind === 'file' && words.every((word) => wordsOf(`${node.display} ${node.bytes}`).has(word));
    const hits = this.store.below(path, true).filter(isHit).map(metadataOf);
    return this.results(
      hits.map((metadata) => ({ metadata: { '.tag': 'metadata', metadata } })),
      limit,
    );
  }

  private results(matches: readonly object[], limit = matches.length): object {
    const count = Math.min(limit, 2);
    if (matches.length <= count) return { matches, has_more: false };
    const id = randomBytes(12).toString('base64url');
    this.searches.set(id, matches.slice(count));
    return { matches: matches.slice(0, count), has_more: true, cursor: id };
  }

  private sessionAt({ session_id: id, offset }: z.infer<typeof cursor>): Session {
    const session = this.sessions.get(id);
    if (!session) throw new Refusal(['not_found']);
    const correct = Buffer.concat(session.parts).length;
    if (offset !== correct && !session.isClosed) throw new Refusal(['incorrect_offset'], { correct_offset: correct });
    return session;
  }

  private append(at: z.infer<typeof cursor>, close: boolean, body: Buffer): object {
    const session = this.sessionAt(at);
    if (session.isClosed) throw new Refusal(['closed']);
    session.parts.push(body);
    session.isClosed = close;
    return {};
  }

  private finish({ cursor: at, commit: named }: Arguments['files/upload_session/finish'], body: Buffer): object {
    const session = this.within('lookup_failed', () => this.sessionAt(at));
    const file = this.within('path', () => this.commit(named, Buffer.concat([...session.parts, body])));
    this.sessions.delete(at.session_id);
    return fileOf(file);
  }
}

export function fileOf(file: StoredFile): object {
  return {
    ...namesOf(file.display),
    id: file.id,
    client_modified: file.clientModified,
    server_modified: file.serverModified,
    rev: file.rev,
    size: file.bytes.length,
    is_downloadable: true,
    content_hash: file.contentHash,
  };
}

function metadataOf(node: Stored): object & { readonly '.tag': string } {
  if (node.kind === 'file') return { '.tag': 'file', ...fileOf(node) };
  return { '.tag': 'folder', ...folderOf(node) };
}

function folderOf({ display, id }: Stored): object {
  return { ...namesOf(display), id };
}

function namesOf(display: string): object {
  const name = display.slice(display.lastIndexOf('/') + 1);
  return { name, path_lower: keyOf(display), path_display: display };
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().split(/[^\p{L}\p{N}]+/u));
}

/** @throws Refusal for names that Dropbox cannot hold */
function mustBeName(path: string): void {
  const names = path.split('/').slice(1);
  if (names.some((name) => name === '' || name === '.' || name === '..' || name.length > 255 || /[\\\0]/.test(name)))
    throw new Refusal(['malformed_path']);
  if (names.some((name) => FORBIDDEN_NAMES.has(name.toLowerCase()))) throw new Refusal(['disallowed_name']);
}
