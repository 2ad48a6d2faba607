import { Controller } from '@nestjs/common';
import { type Caller, type FileHit, type OutputOf, type ParsedInputOf, searchFiles } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { filePathParts, type Term, termsMatcher, termsOf } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import type { TextSearch } from '@workspace-graph/remotes';
import { LIST_REMOTES } from '../remotes/remote.statements.js';
import { RemotePool } from '../remotes/remote-pool.js';
import { seenBy } from '../shared/caller.js';
import { RemoteFiles } from './remote-files.js';
import { FILES_OF_OBJECTS, FILES_OF_WORDS, type FoundHit } from './search.statements.js';
import { type GrepHit, TextGrep } from './text-grep.js';

/** Files that are looked through for whole words, and paths that a remote is asked for. */
const CANDIDATES = 1_000;
const NOTHING: Found = { hits: [], complete: true };
type Input = ParsedInputOf<typeof searchFiles>;

/** What was found, and whether that is all. */
interface Found {
  readonly hits: readonly GrepHit[];
  readonly complete: boolean;
}

interface Search {
  readonly input: Input;
  readonly terms: readonly Term[];
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/**
 * Searching in files on remotes: in their names, which the records have, and in their texts, where a remote searches in them
 * itself or they can be looked through. Only what has a record that the caller sees is told.
 */
@Controller()
export class CentreSearchHandlers {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly pool: RemotePool,
    private readonly grep: TextGrep,
  ) {}

  @Handles(searchFiles)
  async search(input: Input, { caller, signal }: OperationContext): Promise<OutputOf<typeof searchFiles>> {
    if (input.node_id !== undefined) await this.files.node(input.node_id, { ...caller, session_id: undefined });
    const terms = termsOf(input.query);
    if (terms.length === 0) return { hits: [], complete: true, indexing: 0 };
    const search = { input, terms, caller, signal };
    const [named, told] = await Promise.all([this.byName(search), this.byText(search)]);
    const hits = new Map(named.hits.map((hit) => [hit.file_id, hit]));
    // A hit by its text shows it.
    for (const hit of told.hits) hits.set(hit.file_id, hit);
    const complete = named.complete && told.complete && hits.size <= input.limit;
    return { hits: [...hits.values()].slice(0, input.limit).map(hitOf), complete, indexing: 0 };
  }

  private async byName({ terms, input: { node_id }, caller }: Search): Promise<Found> {
    const words = [...new Set(terms.flat())].map((word) => `%${word}%`);
    const rows = await this.database.rows<FoundHit & Record<string, unknown>>(FILES_OF_WORDS, [
      ...seenBy(caller),
      words,
      node_id ?? null,
      CANDIDATES,
    ]);
    const matches = termsMatcher(terms);
    const hits = rows.filter(({ path }) => matches(filePathParts(path).filename));
    return { hits: hits.map(withoutSnippet), complete: rows.length < CANDIDATES };
  }

  private async byText(search: Search): Promise<Found> {
    const remotes = await this.database.rows<{ name: string }>(LIST_REMOTES);
    const found = await Promise.all(remotes.map(({ name }) => this.onRemote(name, search)));
    return { hits: found.flatMap(({ hits }) => hits), complete: found.every(({ complete }) => complete) };
  }

  /** A remote that cannot be asked now has no hits: the others answer all the same. */
  private async onRemote(name: string, search: Search): Promise<Found> {
    const { input, terms, caller, signal } = search;
    try {
      return await this.pool.use(name, async ({ remote }) => {
        if (remote.search) return this.placed(name, await this.askRemote(remote.search, search), search);
        if (!remote.capabilities.readsLocally) return NOTHING;
        const nodeId = input.node_id ?? null;
        return this.grep.find({ remote, name, terms, nodeId, caller, limit: input.limit + 1, signal });
      });
    } catch (error) {
      if (signal.aborted) throw error;
      return { ...NOTHING, complete: false };
    }
  }

  private askRemote(text: TextSearch, { input, signal }: Search): Promise<readonly string[]> {
    return text.find(input.query, { folder: '', limit: CANDIDATES, signal });
  }

  /** Those of some objects that are files which the caller sees. */
  private async placed(remote: string, paths: readonly string[], { input, caller }: Search): Promise<Found> {
    const hits = await this.database.rows<FoundHit & Record<string, unknown>>(FILES_OF_OBJECTS, [
      ...seenBy(caller),
      remote,
      paths,
      input.node_id ?? null,
    ]);
    return { hits: hits.map(withoutSnippet), complete: paths.length < CANDIDATES };
  }
}

function withoutSnippet(hit: FoundHit): GrepHit {
  return { ...hit, snippet: null };
}

function hitOf({ file_id, node_id, node_name, node_type, path, mime_type, modified_at, snippet }: GrepHit): FileHit {
  const { filename } = filePathParts(path);
  return { file_id, node_id, node_name, node_type, filename, path, mime_type, modified_at, snippet };
}
