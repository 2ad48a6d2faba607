import { Inject, Injectable } from '@nestjs/common';
import {
  type Envelope,
  type FileHit,
  type FileRecord,
  findFiles,
  LIMITS,
  type NodePlace,
  type OutputOf,
  type ParsedInputOf,
  ServiceError,
  type searchFiles,
  validationFailed,
} from '@workspace-graph/contracts';
import { mimeTypeOf } from '@workspace-graph/disk';
import { filePathParts, type Term, termsOf } from '@workspace-graph/domain';
import type { OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { isOutage } from '../records/file-service.js';
import { FileIndexer } from './file-indexer.js';
import type { FoundFile, IndexSearch } from './index/index-messages.js';
import { IndexThread } from './index/index-thread.js';

/** Hits read from the index at once: few at first, then as many as can be asked about. */
const FIRST_HITS = 200;
const MORE_HITS = LIMITS.filesPerChange;

type Input = ParsedInputOf<typeof searchFiles>;
type Output = OutputOf<typeof searchFiles>;
type Asking = Pick<OperationContext, 'envelope' | 'signal'>;

/** As much of a file as a hit tells. */
interface HitFile {
  readonly file: Pick<FileRecord, 'id' | 'node_id' | 'path' | 'mime_type' | 'modified_at'>;
  readonly place: NodePlace;
}

interface Search {
  readonly terms: readonly Term[];
  readonly nodeId: string | undefined;
  readonly envelope: Envelope;
}

/** Searches the files of this device for a caller, who meets only those of nodes that he sees. */
@Injectable()
export class FileSearch {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(IndexThread) private readonly index: IndexThread,
    @Inject(FileIndexer) private readonly indexer: FileIndexer,
  ) {}

  /**
   * What is found in the folders here comes first, then what the centre finds on remotes.
   * @throws ServiceError VALIDATION_FAILED for a query without a word, NODE_NOT_FOUND
   */
  async search(input: Input, { envelope, signal }: Asking): Promise<Output> {
    const [here, there] = await Promise.all([
      this.searchHere(input, envelope),
      this.searchThere(input, { envelope, signal }),
    ]);
    const known = new Set(here.hits.map(({ file_id }) => file_id));
    const hits = [...here.hits, ...there.hits.filter(({ file_id }) => !known.has(file_id))];
    const complete = here.complete && there.complete && hits.length <= input.limit;
    return { hits: hits.slice(0, input.limit), complete, indexing: here.indexing };
  }

  /** Without a way to the centre, what is here is found. */
  private async searchThere(input: Input, { envelope, signal }: Asking): Promise<Omit<Output, 'indexing'>> {
    if (!this.parts.centre) return { hits: [], complete: true };
    try {
      return await this.parts.centre.search(input, envelope, signal);
    } catch (error) {
      if (!(error instanceof ServiceError) || !error.retryable || signal.aborted) throw error;
      return { hits: [], complete: false };
    }
  }

  private async searchHere({ query, node_id: nodeId, limit }: Input, envelope: Envelope): Promise<Output> {
    const terms = termsOf(query);
    if (terms.length === 0)
      throw validationFailed([{ path: 'query', message: 'must contain a word: letters or digits to search for' }]);
    if (nodeId !== undefined) await this.parts.service.place(nodeId, envelope);
    const found = await this.visible({ terms, nodeId, envelope }, limit + 1);
    const hits = found.slice(0, limit);
    const ids = hits.map(({ file }) => file.id);
    const snippets = ids.length === 0 ? [] : await this.ask(() => this.index.snippets(ids, terms));
    return {
      hits: hits.map((hit, index) => hitOf(hit, snippets[index] ?? null)),
      complete: found.length <= limit,
      indexing: await this.indexing(nodeId, envelope),
    };
  }

  /** The first `count` hits that the caller may see, in order. */
  private async visible({ terms, nodeId, envelope }: Search, count: number): Promise<HitFile[]> {
    const nodes = new VisibleNodes(this.parts, envelope);
    const visible = new Map<string, HitFile>();
    for (let [offset, limit] = [0, FIRST_HITS]; ; [offset, limit] = [offset + limit, MORE_HITS]) {
      const search: IndexSearch = { terms, limit, offset, ...(nodeId !== undefined && { nodeId }) };
      const found = await this.ask(() => this.index.search(search));
      await this.addFiles(visible, await nodes.filter(found), { count, nodeId, envelope });
      if (visible.size >= count || found.length < limit) return [...visible.values()];
    }
  }

  /** Adds candidates that are tracked and seen until there are `count`. */
  private async addFiles(
    visible: Map<string, HitFile>,
    candidates: readonly FoundFile[],
    { count, nodeId, envelope }: Omit<Search, 'terms'> & { readonly count: number },
  ): Promise<void> {
    for (let at = 0; at < candidates.length && visible.size < count; ) {
      const ids = candidates.slice(at, at + count - visible.size).map(({ fileId }) => fileId);
      at += ids.length;
      const placed = await this.filesOf(ids, envelope);
      for (const hit of placed) if (nodeId === undefined || hit.place.node_id === nodeId) visible.set(hit.file.id, hit);
    }
  }

  /** Files in the order of the ids; those that are gone or hidden are left out. */
  private async filesOf(ids: readonly string[], envelope: Envelope): Promise<HitFile[]> {
    const files = await this.recorded(ids, envelope).catch((error: unknown) => {
      if (!this.parts.centre || !isOutage(error)) throw error;
      return this.remembered(ids, envelope);
    });
    const byId = new Map(files.map((placed) => [placed.file.id, placed]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  private async recorded(ids: readonly string[], envelope: Envelope): Promise<readonly HitFile[]> {
    return (await this.parts.service.call(findFiles, { ids: [...ids] }, envelope)).files;
  }

  /** As the registry has them, of nodes as they were last told: for times without a connection. */
  private async remembered(ids: readonly string[], envelope: Envelope): Promise<readonly HitFile[]> {
    const states = ids.flatMap((id) => this.parts.store.file(id) ?? []);
    const places = await this.parts.service.places([...new Set(states.map(({ nodeId }) => nodeId))], envelope);
    return states.flatMap(({ fileId: id, nodeId: node_id, path }) => {
      const place = places.get(node_id);
      return place ? [{ file: { id, node_id, path, mime_type: mimeTypeOf(path), modified_at: null }, place }] : [];
    });
  }

  /** Files that wait, of nodes that the caller sees and of no others. */
  private async indexing(nodeId: string | undefined, envelope: Envelope): Promise<number> {
    if (nodeId !== undefined) return this.indexer.waitingOf(nodeId);
    const waiting = this.indexer.waitingNodes().map((id) => ({ nodeId: id }));
    const seen = await new VisibleNodes(this.parts, envelope).filter(waiting);
    return seen.reduce((sum, node) => sum + this.indexer.waitingOf(node.nodeId), 0);
  }

  private async ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (cause) {
      throw new ServiceError('SERVICE_UNAVAILABLE', 'The search index of this device does not answer.', undefined, {
        cause,
      });
    }
  }
}

/** Which nodes a caller sees, asked once per node within one call. */
class VisibleNodes {
  private readonly known = new Map<string, boolean>();

  constructor(
    private readonly parts: DeviceParts,
    private readonly envelope: Envelope,
  ) {}

  /** Those whose node has its folder here and is seen, in the same order. */
  async filter<T extends Pick<FoundFile, 'nodeId'>>(items: readonly T[]): Promise<T[]> {
    const asked = [...new Set(items.map(({ nodeId }) => nodeId))].filter((nodeId) => !this.known.has(nodeId));
    const here = asked.filter((nodeId) => this.parts.store.mirror(nodeId) !== null);
    for (const nodeId of asked) this.known.set(nodeId, false);
    for (const nodeId of (await this.parts.service.places(here, this.envelope)).keys()) this.known.set(nodeId, true);
    return items.filter(({ nodeId }) => this.known.get(nodeId));
  }
}

function hitOf({ file, place }: HitFile, snippet: string | null): FileHit {
  return {
    file_id: file.id,
    node_id: place.node_id,
    node_name: place.name,
    node_type: place.type,
    filename: filePathParts(file.path).filename,
    path: file.path,
    mime_type: file.mime_type,
    modified_at: file.modified_at,
    snippet,
  };
}
