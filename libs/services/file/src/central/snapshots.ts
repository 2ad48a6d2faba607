import { Injectable } from '@nestjs/common';
import {
  type Caller,
  type ExportFormat,
  type OutputOf,
  type ParsedInputOf,
  RawJson,
  type RemoteType,
  ServiceError,
  type snapshotDocument,
  type TrackedFile,
  validationFailed,
} from '@workspace-graph/contracts';
import { appliedBefore, type CommandContext, Database, DatabaseScopes } from '@workspace-graph/database';
import { pathOfNewFile } from '@workspace-graph/domain';
import { mayHaveDocuments, type RemoteDocument, RemoteFailure } from '@workspace-graph/remotes';
import { onRemote } from '../remotes/refusals.js';
import { LIST_REMOTES } from '../remotes/remote.statements.js';
import { RemotePool } from '../remotes/remote-pool.js';
import { seenBy } from '../shared/caller.js';
import { type FolderOwner, OWNER_OF_PATH } from './document.statements.js';
import { RemoteWrites } from './remote-writes.js';

type Input = ParsedInputOf<typeof snapshotDocument>;
type Output = OutputOf<typeof snapshotDocument>;

interface Snapshot {
  readonly input: Input;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** A document, and the remote on which it lies. */
interface FoundDocument {
  readonly remote: string;
  readonly document: RemoteDocument;
}

const EXTENSIONS: Readonly<Record<ExportFormat, string>> = { pdf: 'pdf', markdown: 'md', docx: 'docx' };

/** Files made of documents that have no bytes of their own. */
@Injectable()
export class Snapshots {
  constructor(
    private readonly database: Database,
    private readonly pool: RemotePool,
    private readonly writes: RemoteWrites,
  ) {}

  /**
   * @throws ServiceError FILE_NOT_FOUND for no document, for one of a hidden node and for one beside all folders of nodes
   * unless the caller has `manage`; scope_expansion_required for one of a node that the session does not hold; VALIDATION_FAILED
   * for a format that it cannot have; as `RemoteWrites.create`
   */
  async take({ input, context, signal }: Snapshot): Promise<Output> {
    // A name by the time would be another one.
    const before = await appliedBefore(this.database, context);
    if (before) return answerOf(before);
    const { format, node_id: nodeId } = input;
    const { section, subpath = null, filename = nameOf(format) } = input;
    const path = pathOfNewFile({ section, subpath, filename });
    const target = { nodeId, path, field: 'filename' };
    await this.writes.mayBegin({ ...target, context, isNew: true });
    const found = await this.find(idIn(input.doc_url), context.caller, signal);
    if (!found.document.formats.includes(format)) throw unfitFormat(found.document, format);
    const bytes = this.exported(found, format, signal);
    return answerOf(await this.writes.create({ ...target, bytes, text: false, context, signal }));
  }

  /** Ids of documents are unique in all of a service: the first remote that has it is the one. */
  private async find(id: string, caller: Caller, signal: AbortSignal): Promise<FoundDocument> {
    const remotes = await this.database.rows<{ name: string; type: RemoteType }>(LIST_REMOTES);
    let unreachable: ServiceError | null = null;
    for (const { name, type } of remotes) {
      if (!mayHaveDocuments(type)) continue;
      const document = await this.ask(name, id, signal).catch((error: unknown) => {
        if (signal.aborted || !(error instanceof ServiceError)) throw error;
        unreachable = error;
        return null;
      });
      if (document && (await this.mayRead(document, caller))) return { remote: name, document };
    }
    throw unreachable ?? noDocument(id);
  }

  private ask(name: string, id: string, signal: AbortSignal): Promise<RemoteDocument | null> {
    return onRemote(name, () =>
      this.pool.use(name, async ({ remote }) => (await remote.documents?.find(id, { signal })) ?? null),
    );
  }

  /** Whoever sees a node sees what lies in its folder. @throws ServiceError scope_expansion_required */
  private async mayRead({ path }: RemoteDocument, caller: Caller): Promise<boolean> {
    const owner = await this.database.row<FolderOwner & Record<string, unknown>>(OWNER_OF_PATH, [
      ...seenBy(caller),
      path,
    ]);
    if (!owner) return caller.scope === 'manage';
    const { session_id } = caller;
    if (owner.is_seen && session_id)
      await new DatabaseScopes(this.database).admit({ ...caller, session_id }, [
        { kind: 'node', id: owner.id, access: 'read' },
      ]);
    return owner.is_seen;
  }

  /** Asked for when it is to be stored. @throws ServiceError, as a failure of the remote of the document */
  private async *exported(
    { remote: name, document }: FoundDocument,
    format: ExportFormat,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const refused = (error: unknown): Promise<never> => onRemote(name, () => Promise.reject(hidden(error)));
    try {
      yield* await this.pool.use(name, async ({ remote }) => {
        if (!remote.documents) throw noDocument(document.id);
        return remote.documents.export(document, format, { signal });
      });
    } catch (error) {
      await refused(error);
    }
  }
}

/** What the storage calls a document is not told: its path may name what is hidden. */
function hidden(error: unknown): unknown {
  if (!(error instanceof RemoteFailure)) return error;
  return new RemoteFailure(error.reason, { ...error.facts, path: 'the document' }, { cause: error });
}

function answerOf(reply: TrackedFile | RawJson): Output {
  const { id: file_id, filename, remote_path } = reply instanceof RawJson ? (reply.parse() as TrackedFile) : reply;
  return { file_id, filename, remote_path, local_path: null };
}

function idIn(url: string): string {
  const [, id = ''] = /\/d\/([A-Za-z0-9_-]+)/.exec(url) ?? [];
  return id;
}

function nameOf(format: ExportFormat): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return `snapshot-${time}.${EXTENSIONS[format]}`;
}

function noDocument(id: string): ServiceError {
  const message = `No remote has a document ${id} in the folder of a node that you may see.`;
  return new ServiceError('FILE_NOT_FOUND', message, { document_id: id });
}

function unfitFormat({ formats }: RemoteDocument, format: ExportFormat): ServiceError {
  const message =
    formats.length === 0
      ? 'this document cannot be exported: its service offers no format for it'
      : `this document cannot be exported as ${format}, only as ${formats.join(', ')}`;
  return validationFailed([{ path: 'format', message }]);
}
