import { Controller } from '@nestjs/common';
import { fileStatus, type OutputOf, type ParsedInputOf, type StatusEntry } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { classifyFile, type FileFacts, filePathParts, StatusBuckets, statusFilter } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { seenBy } from '../shared/caller.js';
import { RemoteFiles, storedHashOf } from './remote-files.js';
import { type RecordedObject, RemoteSurveys, type Survey } from './remote-surveys.js';
import { RECORDS_IN_SIGHT } from './status.statements.js';

type Input = ParsedInputOf<typeof fileStatus>;
type Node = Pick<StatusEntry, 'node_id'>;

/** Where files are told: those that are kept on a remote, or all. */
interface Target {
  readonly buckets: StatusBuckets;
  readonly remoteName: string | null;
}

/** Records that are classified in one go. */
const PAGE = 5_000;
/** Whoever has no workstation has no file: what lies on a remote is there to be pulled. */
const NOWHERE = { workspace: 'central', disk: 'never', synced: null } as const;

/** The state of files for whoever has no workstation: of one node as its remotes list it, of all others as recorded. */
@Controller()
export class CentreStatusHandlers {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly surveys: RemoteSurveys,
  ) {}

  @Handles(fileStatus)
  async status(input: Input, { caller, signal }: OperationContext): Promise<OutputOf<typeof fileStatus>> {
    const buckets = new StatusBuckets(statusFilter(input));
    const { node_id, include_discovery, remote_name: remoteName = null } = input;
    const to = { buckets, remoteName };
    if (node_id !== undefined && include_discovery) {
      addNode(to, node_id, await this.surveys.of(node_id, caller, signal));
      return buckets.answer();
    }
    if (node_id !== undefined) await this.files.node(node_id, caller);
    await this.addRecorded(to, [...seenBy(caller), caller.session_id ?? null, node_id ?? null]);
    return buckets.answer();
  }

  private async addRecorded(to: Target, asker: readonly unknown[]): Promise<void> {
    for (let after: string | null = null; ; ) {
      const rows: (RecordedObject & Node & Record<string, unknown>)[] = await this.database.rows(RECORDS_IN_SIGHT, [
        ...asker,
        after,
        PAGE,
      ]);
      for (const row of rows) addRecord(to, row, { remote: remoteOf(row), problem: null });
      after = rows.at(-1)?.id ?? null;
      if (after === null || rows.length < PAGE) return;
    }
  }
}

function addNode(to: Target, node_id: string, survey: Survey): void {
  const missing = new Set(survey.missing);
  const failed = new Map(survey.failed.map(({ remote_name, message }) => [remote_name, message]));
  for (const record of survey.records) {
    const problem = failed.get(record.remote_name ?? '') ?? null;
    addRecord(to, { ...record, node_id }, { remote: problem === null ? remoteOf(record, missing) : 'error', problem });
  }
  const facts = { ...NOWHERE, record: 'none', native: false, pushed: false, remote: { sha256: null } } as const;
  for (const { path, size_bytes } of survey.untracked)
    add(to, facts, { ...entryOf({ node_id, path, size_bytes }), remote_name: null });
}

function remoteOf(record: RecordedObject, missing: ReadonlySet<string> = new Set()): FileFacts['remote'] {
  if (record.remote_name === null) return 'unasked';
  return missing.has(record.id) ? 'absent' : { sha256: storedHashOf({ file: record }) };
}

function addRecord(
  to: Target,
  record: RecordedObject & Node,
  { remote, problem }: Pick<FileFacts, 'remote'> & Pick<StatusEntry, 'problem'>,
): void {
  const { id: file_id, is_native_format: native, remote_name } = record;
  const facts = { ...NOWHERE, record: 'tracked', native, pushed: remote_name !== null, remote } as const;
  add(to, facts, { ...entryOf(record), file_id, problem, remote_name });
}

function add(
  { buckets, remoteName }: Target,
  facts: FileFacts,
  { remote_name, ...entry }: StatusEntry & Pick<RecordedObject, 'remote_name'>,
): void {
  const verdict = classifyFile(facts);
  const isAsked = remoteName === null || remoteName === remote_name;
  if (verdict !== null) buckets.add(verdict, entry.path, isAsked ? async () => entry : null);
}

function entryOf({ node_id, path, size_bytes }: Pick<StatusEntry, 'node_id' | 'path' | 'size_bytes'>): StatusEntry {
  const { section } = filePathParts(path);
  return { file_id: null, node_id, path, section, size_bytes, local_path: null, problem: null };
}
