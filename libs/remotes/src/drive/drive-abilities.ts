import type { ExportFormat } from '@workspace-graph/contracts';
import { callOf, type HttpCall } from '../http/network.js';
import type { CallOptions, NativeDocuments, RemoteDocument, RemoteFile, TextSearch, Trash } from '../port/index.js';
import { folderPath, nameOf, RemoteFailure } from '../port/index.js';
import { type DriveApi, quoted } from './drive-api.js';
import { type DriveFile, entryOf, fileOf } from './drive-file.js';
import type { DriveTree } from './drive-tree.js';

const MAX_NAME_BYTES = 255;
/** Hits of the drive that are looked at, page by page, for those below the root. */
const PAGE = '100';
const MOST_PAGES = 20;
const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  pdf: 'application/pdf',
  markdown: 'text/markdown',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

/** The search of Drive, which knows the text of many formats. */
export class DriveSearch implements TextSearch {
  constructor(
    private readonly api: DriveApi,
    private readonly tree: DriveTree,
  ) {}

  /** Drive searches the whole drive: what lies elsewhere is left out. */
  async find(
    words: string,
    { folder, limit, ...options }: CallOptions & { readonly folder: string; readonly limit: number },
  ): Promise<readonly string[]> {
    const below = folderPath(folder, MAX_NAME_BYTES);
    const call = callOf(below, options);
    const seen = new Map<string, Promise<string | null>>();
    const found = new Set<string>();
    // Each word is looked for as a whole one; without an order, the best ones come first.
    const terms = words.split(/[\s"]+/).filter(Boolean);
    const query = terms.map((word) => `fullText contains ${quoted(`"${word}"`)}`).join(' and ');
    if (terms.length === 0) return [];
    let pages = 0;
    for await (const page of this.api.pages(`${query} and trashed = false`, { pageSize: PAGE }, call)) {
      const paths = await Promise.all(page.map((file) => this.pathOf(file, seen, call)));
      for (const path of paths) if (path !== null && isBelow(path, below)) found.add(path);
      pages += 1;
      if (found.size >= limit || pages === MOST_PAGES) break;
    }
    return [...found].slice(0, limit);
  }

  private async pathOf(
    file: DriveFile,
    seen: Map<string, Promise<string | null>>,
    call: HttpCall,
  ): Promise<string | null> {
    const { kind } = entryOf('', file);
    return kind === 'file' || kind === 'document' ? this.tree.pathOf(file, call, seen) : null;
  }
}

/** Documents of Google's editors. */
export class DriveDocuments implements NativeDocuments {
  constructor(
    private readonly api: DriveApi,
    private readonly tree: DriveTree,
  ) {}

  find(documentId: string, options: CallOptions = {}): Promise<RemoteDocument | null> {
    return this.found(documentId, callOf('', options));
  }

  async export(
    { id, path }: RemoteDocument,
    format: ExportFormat,
    options: CallOptions = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const call = callOf(path, options);
    const now = await this.found(id, call);
    if (now?.path !== path) throw new RemoteFailure('not_found', call);
    return readOut(await this.api.exported(id, MEDIA_TYPES[format], call), path);
  }

  private async found(id: string, call: HttpCall): Promise<RemoteDocument | null> {
    const file = await this.api.file(id, call);
    const path = file && !file.trashed ? await this.tree.pathOf(file, call) : null;
    if (!file || path === null) return null;
    const entry = entryOf(path, file);
    return entry.kind === 'document' ? entry : null;
  }
}

/** What was removed from a folder, which Drive keeps for 30 days. */
export class DriveTrash implements Trash {
  readonly keptDays = 30;

  constructor(
    private readonly api: DriveApi,
    private readonly tree: DriveTree,
    private readonly checked: (path: string) => string,
  ) {}

  /** Drive restores without a condition: what takes the path between the look and the restoring lies beside it then. */
  async restore(path: string, options: CallOptions = {}): Promise<RemoteFile> {
    const at = this.checked(path);
    const call = callOf(at, options);
    const { found, occupant, folderIds } = await this.tree.locate(at, call);
    if (found.length > 0 || occupant !== null) throw new RemoteFailure('exists', { path: occupant ?? at });
    const removed = folderIds.length === 0 ? [] : await this.tree.removedFrom(folderIds, nameOf(at), call);
    const [last] = removed.filter((file) => fileOf(at, file)).sort(byRemoval);
    const restored = last && fileOf(at, await this.api.update(last.id, { trashed: false }, call));
    if (!last || !restored) throw new RemoteFailure('not_found', { path: at });
    this.tree.note(at, last);
    return restored;
  }
}

/** What was removed last comes first. */
function byRemoval({ trashedTime: one = '' }: DriveFile, { trashedTime: other = '' }: DriveFile): number {
  return one > other ? -1 : 1;
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`);
}

async function* readOut(response: Response, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* (response.body ?? []) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new RemoteFailure('unavailable', { path }, { cause });
  }
}
