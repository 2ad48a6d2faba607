import { Controller } from '@nestjs/common';
import { type Caller, type FileHit, type OutputOf, type ParsedInputOf, searchFiles } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { filePathParts, type Term, termsOf, wordsOf } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { LIST_REMOTES } from '../remotes/remote.statements.js';
import { RemotePool } from '../remotes/remote-pool.js';
import { seenBy } from '../shared/caller.js';
import { RemoteFiles } from './remote-files.js';
import { FILES_OF_OBJECTS, FILES_OF_WORDS, type FoundHit } from './search.statements.js';

/** Files that are looked through for whole words, and paths that a remote is asked for. */
const CANDIDATES = 1_000;
type Input = ParsedInputOf<typeof searchFiles>;

/** What was found, and whether that is all. */
interface Found {
  readonly hits: readonly FoundHit[];
  readonly complete: boolean;
}

/**
 * Searching in files on remotes: in their names, which the records have, and in their texts, where a remote searches in them
 * itself. Only what has a record that the caller sees is told.
 */
@Controller()
export class CentreSearchHandlers {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly pool: RemotePool,
  ) {}

  @Handles(searchFiles)
  async search(input: Input, { caller, signal }: OperationContext): Promise<OutputOf<typeof searchFiles>> {
    if (input.node_id !== undefined) await this.files.node(input.node_id, { ...caller, session_id: undefined });
    const terms = termsOf(input.query);
    if (terms.length === 0) return { hits: [], complete: true, indexing: 0 };
    const [named, told] = await Promise.all([this.byName(terms, input, caller), this.byText(input, caller, signal)]);
    const hits = [...new Map([...named.hits, ...told.hits].map((hit) => [hit.file_id, hit])).values()];
    const complete = named.complete && told.complete && hits.length <= input.limit;
    return { hits: hits.slice(0, input.limit).map(hitOf), complete, indexing: 0 };
  }

  private async byName(terms: readonly Term[], { node_id }: Input, caller: Caller): Promise<Found> {
    const words = [...new Set(terms.flat())].map((word) => `%${word}%`);
    const rows = await this.database.rows<FoundHit & Record<string, unknown>>(FILES_OF_WORDS, [
      ...seenBy(caller),
      words,
      node_id ?? null,
      CANDIDATES,
    ]);
    const hits = rows.filter(({ path }) => terms.every((term) => holds(wordsOf(filePathParts(path).filename), term)));
    return { hits, complete: rows.length < CANDIDATES };
  }

  private async byText({ query, node_id }: Input, caller: Caller, signal: AbortSignal): Promise<Found> {
    const remotes = await this.database.rows<{ name: string }>(LIST_REMOTES);
    const found = await Promise.all(remotes.map(({ name }) => this.askRemote(name, query, signal)));
    const paths = found.flatMap((one, index) => one?.map((path) => ({ remote: remotes[index]?.name, path })) ?? []);
    const hits = await this.database.rows<FoundHit & Record<string, unknown>>(FILES_OF_OBJECTS, [
      ...seenBy(caller),
      paths.map(({ remote }) => remote),
      paths.map(({ path }) => path),
      node_id ?? null,
    ]);
    return { hits, complete: found.every((one) => one !== null && one.length < CANDIDATES) };
  }

  /** Null for a remote that cannot be asked now: the others answer all the same. */
  private async askRemote(name: string, words: string, signal: AbortSignal): Promise<readonly string[] | null> {
    try {
      return await this.pool.use(name, async ({ remote }) =>
        remote.search ? remote.search.find(words, { folder: '', limit: CANDIDATES, signal }) : [],
      );
    } catch (error) {
      if (signal.aborted) throw error;
      return null;
    }
  }
}

/** Whether the words of a term stand one after the other. */
function holds(words: readonly string[], term: Term): boolean {
  return words.some((_word, start) => term.every((word, place) => words[start + place] === word));
}

function hitOf({ file_id, node_id, node_name, node_type, path, mime_type, modified_at }: FoundHit): FileHit {
  const { filename } = filePathParts(path);
  return { file_id, node_id, node_name, node_type, filename, path, mime_type, modified_at, snippet: null };
}
