import { Injectable } from '@nestjs/common';
import {
  type Caller,
  type FileRecord,
  LIMITS,
  type OutputOf,
  type RemoteFind,
  SECTIONS,
  ServiceError,
  type surveyRemote,
} from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { parseFilePath } from '@workspace-graph/domain';
import { type RemoteDocument, RemoteFailure, type RemoteFile } from '@workspace-graph/remotes';
import { onNode } from '../remotes/refusals.js';
import { type HeldRemote, RemotePool } from '../remotes/remote-pool.js';
import { NODE_OBJECTS } from './remote-file.statements.js';
import { RemoteFiles, storedHashOf } from './remote-files.js';

/** A record, as far as its object goes. */
export interface RecordedObject
  extends Pick<
    FileRecord,
    'id' | 'path' | 'size_bytes' | 'sha256' | 'remote_name' | 'current_remote_hash' | 'is_native_format'
  > {
  readonly remote_path: string | null;
  readonly remote_revision: string | null;
}

/** What the remotes of a node list in its folder, beside its records. */
export interface Survey extends OutputOf<typeof surveyRemote> {
  readonly records: readonly RecordedObject[];
}

type Listed = RemoteFile | RemoteDocument;
type Comparison = Pick<Survey, 'untracked' | 'missing' | 'changed'> & { readonly isWhole: boolean };

interface Comparing {
  readonly folder: string;
  readonly records: readonly RecordedObject[];
  readonly caller: Caller;
}

/** Compares the records of nodes with what their remotes list: in one listing, and without reading a content. */
@Injectable()
export class RemoteSurveys {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly pool: RemotePool,
  ) {}

  /** A remote that cannot be asked is told, and the others are compared. @throws ServiceError NODE_NOT_FOUND */
  async of(nodeId: string, caller: Caller, signal: AbortSignal): Promise<Survey> {
    const node = await this.files.node(nodeId, caller);
    const found = await this.database.rows<RecordedObject & Record<string, unknown>>(NODE_OBJECTS, [
      nodeId,
      LIMITS.surveyMax + 1,
    ]);
    const records = found.slice(0, LIMITS.surveyMax);
    const routed = await this.files.remoteOf(node).catch(ignoreNoRemote);
    const names = new Set([routed, ...records.map(({ remote_name }) => remote_name)].filter((name) => name !== null));
    const untracked: RemoteFind[] = [];
    const missing: string[] = [];
    const changed: Survey['changed'] = [];
    const failed: Survey['failed'] = [];
    let complete = found.length <= LIMITS.surveyMax;
    for (const remote_name of names) {
      try {
        const own = records.filter((record) => record.remote_name === remote_name);
        const told = await onNode(remote_name, node, () =>
          this.pool.use(remote_name, (held) =>
            this.compare(held, { folder: node.folder, records: own, caller }, signal),
          ),
        );
        untracked.push(...told.untracked);
        missing.push(...told.missing);
        changed.push(...told.changed);
        complete &&= told.isWhole;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        failed.push({ remote_name, message: error.message });
      }
    }
    return { records, untracked: untracked.slice(0, LIMITS.surveyMax), missing, changed, failed, complete };
  }

  private async compare(
    held: HeldRemote,
    { folder, records, caller }: Comparing,
    signal: AbortSignal,
  ): Promise<Comparison> {
    // Where the node was before, its objects may have stayed. These come first: what is brought here meanwhile is met.
    const left = await listAll(held, leftSections(records, folder), signal);
    const listed = await listAll(
      held,
      SECTIONS.map((section) => `${folder}/${section}`),
      signal,
    );
    // What was not listed to its end proves nothing of what it lacks.
    if (left === null || listed === null) return { untracked: [], missing: [], changed: [], isWhole: false };
    const isHere = ({ remote_path: path }: RecordedObject): boolean => path?.startsWith(`${folder}/`) === true;
    const compared = records.filter((record) => isHere(record) || sectionOf(record) !== null);
    const entryOf = ({ remote_path: path }: RecordedObject): Listed | undefined =>
      path === null ? undefined : (listed.get(path) ?? left.get(path));
    const missing = compared.filter((record) => entryOf(record) === undefined).map(({ id }) => id);
    // An emptied or swapped root has nothing of what it should have: that is no absence.
    if (missing.length > 0) await held.confirmRoot();
    const changed = compared.flatMap((record) => changeOf(record, entryOf(record)));
    const own = new Set(records.map(({ remote_path: path }) => path));
    const foreign = [...listed.values()].filter(({ path }) => !own.has(path));
    const paths = foreign.map(({ path }) => path);
    const known = await this.files.othersObjects(held.name, paths, caller);
    const untracked = foreign.flatMap((entry) => (known.has(entry.path) ? [] : findOf(entry, folder)));
    return { untracked, missing, changed, isWhole: true };
  }
}

/** What lies in the folders, by its path; null where that is too much. */
async function listAll(
  held: HeldRemote,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Listed> | null> {
  const listed = new Map<string, Listed>();
  for (const folder of folders) {
    await listInto(listed, held, folder, signal);
    if (listed.size > LIMITS.surveyMax) return null;
  }
  return listed;
}

async function listInto(
  listed: Map<string, Listed>,
  { remote }: HeldRemote,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const page of remote.list(folder, { recursive: true, signal })) {
      for (const entry of page) if (entry.kind === 'file' || entry.kind === 'document') listed.set(entry.path, entry);
      if (listed.size > LIMITS.surveyMax) return;
    }
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.reason !== 'not_found') throw error;
  }
}

/** Where on the remote the section of an object lies; null of one that is on its way to where its record tells. */
function sectionOf({ remote_path, path }: RecordedObject): string | null {
  if (!remote_path?.endsWith(`/${path}`)) return null;
  return remote_path.slice(0, -path.length) + (path.split('/')[0] ?? '');
}

/** Sections outside of the folder of their node. */
function leftSections(records: readonly RecordedObject[], folder: string): string[] {
  const sections = new Set(records.flatMap((record) => sectionOf(record) ?? []));
  return [...sections].filter((section) => !section.startsWith(`${folder}/`));
}

function changeOf(record: RecordedObject, entry: Listed | undefined): Survey['changed'] {
  if (!entry || entry.kind === 'document' || entry.revision === record.remote_revision) return [];
  const sha256 = entry.hashes.sha256 ?? null;
  return sha256 !== null && sha256 === storedHashOf({ file: record }) ? [] : [{ file_id: record.id, sha256 }];
}

/** Names that nobody could give a file of a node, and hidden ones, are nobody's files. */
function findOf(entry: Listed, folder: string): RemoteFind[] {
  const parsed = parseFilePath(entry.path.slice(folder.length + 1));
  if ('problem' in parsed || parsed.value.path.split('/').some((name) => name.startsWith('.'))) return [];
  const size_bytes = entry.kind === 'file' ? entry.sizeBytes : null;
  return [{ path: parsed.value.path, size_bytes, modified_at: new Date(entry.modifiedAt).toISOString() }];
}

function ignoreNoRemote(error: unknown): null {
  if (error instanceof ServiceError && error.code === 'NO_REMOTE') return null;
  throw error;
}
