import type { CallOptions, ChangeFeed, ChangePage, RemoteFile, TextSearch, Trash } from '../port/index.js';
import { RemoteFailure } from '../port/index.js';
import type { DropboxApi } from './dropbox-api.js';
import { DropboxError } from './dropbox-failure.js';
import { type DropboxPaths, schemas } from './dropbox-metadata.js';

const MOST_RESULTS = 1_000;

export class DropboxChanges implements ChangeFeed {
  constructor(
    private readonly api: DropboxApi,
    private readonly paths: DropboxPaths,
  ) {}

  async now({ signal }: CallOptions = {}): Promise<string> {
    const argument = { path: this.paths.root, recursive: true, include_deleted: true };
    const call = { path: '', signal, isRead: true };
    return schemas.cursor.parse(await this.api.rpc('files/list_folder/get_latest_cursor', argument, call)).cursor;
  }

  async *since(moment: string, options: CallOptions = {}): AsyncGenerator<ChangePage> {
    const call = { path: '', signal: options.signal, isRead: true };
    for (let cursor = moment; ; ) {
      const answer = await this.api.rpc('files/list_folder/continue', { cursor }, call).catch(lost);
      if (answer === null) {
        yield { paths: 'everything', moment: await this.now(options) };
        return;
      }
      const page = schemas.page.parse(answer);
      const paths = page.entries.map((entry) => this.paths.relative(entry.path_display)).filter((path) => path !== '');
      yield { paths, moment: page.cursor };
      if (!page.has_more) return;
      cursor = page.cursor;
    }
  }
}

/** Null for a cursor that Dropbox gave up. */
function lost(error: unknown): null {
  if (error instanceof DropboxError && error.has('reset')) return null;
  throw error;
}

export class DropboxSearch implements TextSearch {
  constructor(
    private readonly api: DropboxApi,
    private readonly paths: DropboxPaths,
    private readonly checked: (folder: string) => string,
  ) {}

  async find(
    words: string,
    { folder, limit, signal }: CallOptions & { readonly folder: string; readonly limit: number },
  ): Promise<readonly string[]> {
    const path = this.checked(folder);
    const call = { path, signal, isRead: true };
    const options = {
      path: this.paths.absolute(path),
      max_results: Math.min(limit, MOST_RESULTS),
      filename_only: false,
      file_status: 'active',
    };
    const found: string[] = [];
    let answer = await this.api.rpc('files/search_v2', { query: words, options }, call);
    for (;;) {
      const page = schemas.found.parse(answer);
      for (const match of page.matches) {
        const entry = match.metadata.metadata;
        if (entry?.['.tag'] === 'file') found.push(this.paths.relative(entry.path_display));
      }
      if (!page.has_more || !page.cursor || found.length >= limit) return found.slice(0, limit);
      answer = await this.api.rpc('files/search/continue_v2', { cursor: page.cursor }, call);
    }
  }
}

/** What was removed, by the revisions that Dropbox keeps. */
export class DropboxTrash implements Trash {
  readonly keptDays = 30;

  constructor(
    private readonly api: DropboxApi,
    private readonly paths: DropboxPaths,
    private readonly checked: (path: string) => string,
  ) {}

  /** Dropbox restores without a condition: what takes the path between the look and the restoring stays as a revision of it. */
  async restore(path: string, { signal }: CallOptions = {}): Promise<RemoteFile> {
    const at = this.checked(path);
    const absolute = this.paths.absolute(at);
    const revisions = { path: absolute, mode: 'path', limit: 1 };
    const call = { path: at, signal };
    const answer = await this.api.rpc('files/list_revisions', revisions, { ...call, isRead: true });
    const { is_deleted: isDeleted, entries } = schemas.revisions.parse(answer);
    const rev = entries[0]?.rev;
    if (!isDeleted) throw new RemoteFailure('exists', { path: at });
    if (rev === undefined) throw new RemoteFailure('not_found', { path: at });
    return this.paths.fileOf(schemas.file.parse(await this.api.rpc('files/restore', { path: absolute, rev }, call)));
  }
}
