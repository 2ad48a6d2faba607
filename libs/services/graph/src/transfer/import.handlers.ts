import { hash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import {
  GraphDocument,
  type ImportReport,
  LIMITS,
  type ParsedInputOf,
  putImportPart,
  runImport,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import {
  changeAccess,
  Database,
  runCommand,
  type Statement,
  statement,
  type Transaction,
} from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import type { z } from 'zod';
import { readExisting } from './existing.js';
import * as sql from './import.statements.js';
import { planImport } from './import-plan.js';
import type { ImportPlan } from './import-rows.js';
import { type ParsedDocument, parseDocument } from './parse-document.js';

type Report = z.infer<typeof ImportReport>;

const IMPORT_TIMEOUT_MS = 590_000;

/**
 * Takes documents in: parts first, then one transaction that validates everything before it writes anything. Parts are
 * kept for an hour, so that a call whose answer was lost can be repeated.
 */
@Injectable()
export class ImportHandlers {
  constructor(private readonly database: Database) {}

  @Handles(putImportPart)
  async putPart(input: ParsedInputOf<typeof putImportPart>, context: OperationContext) {
    await this.database.rows(PUT_PART, [
      input.upload_id,
      input.index,
      context.caller.user_id,
      Buffer.from(input.data, 'base64'),
    ]);
    return { done: true as const };
  }

  @Handles(runImport)
  async run(input: ParsedInputOf<typeof runImport>, context: OperationContext) {
    const bytes = await this.readUpload(input, context);
    const parsed = parseDocument(bytes);
    const { dry_run, confirmed } = input;
    // What is asked is the document, by whichever upload it came.
    const asked = { ...context, input: { document: hash('sha256', bytes), dry_run, confirmed } };
    return runCommand(this.database, asked, (tx) => applyDocument(tx, parsed, input), {
      timeoutMs: IMPORT_TIMEOUT_MS,
    });
  }

  private async readUpload(input: ParsedInputOf<typeof runImport>, context: OperationContext): Promise<Buffer> {
    const parts = await this.database.rows<{ data: Buffer }>(READ_PARTS, [input.upload_id, context.caller.user_id]);
    if (parts.length !== input.parts)
      throw new ServiceError('UPLOAD_NOT_FOUND', `The upload has ${parts.length} of ${input.parts} parts.`);
    const pieces: Buffer[] = [];
    let left: number = LIMITS.importBytes;
    for (const part of parts) {
      const piece = unzip(part.data, left);
      left -= piece.byteLength;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}

function unzip(data: Buffer, limitBytes: number): Buffer {
  try {
    return gunzipSync(data, { maxOutputLength: Math.max(limitBytes, 1) });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw cause;
    throw new ServiceError(
      'PAYLOAD_TOO_LARGE',
      'The document is too large.',
      { limit_bytes: LIMITS.importBytes },
      { cause },
    );
  }
}

async function applyDocument(
  tx: Transaction,
  { document, issues: unreadable, pathSent }: ParsedDocument,
  input: ParsedInputOf<typeof runImport>,
): Promise<Report> {
  const counts: Report = { applied: true, preview: null, created: {}, updated: {}, unchanged: {} };
  const { preview } = await changeAccess(
    tx,
    { confirmed: input.confirmed, dryRun: input.dry_run },
    async () => {
      const { plan, issues } = planImport(document, await readExisting(tx, document.files.length > 0));
      const contradictions = issues.flatMap(({ path, message }) => {
        const sent = pathSent(path);
        return sent === null ? [] : [{ path: sent, message }];
      });
      if (unreadable.length + contradictions.length > 0) throw validationFailed([...unreadable, ...contradictions]);
      await writePlan(tx, document, plan, counts);
      tx.audit({
        action: 'run_import',
        targetKind: 'workspace',
        targetId: null,
        after: { source: document.source ?? null, created: counts.created, updated: counts.updated },
      });
      tx.emit('graph.changed', { node_ids: [], action: 'run_import' });
      return { result: counts, ...(await reachOf(tx, plan)) };
    },
    (preview, result) => ({ ...result, applied: false, preview: preview.widens ? preview : null }),
  );
  return {
    ...counts,
    preview: preview.gains.length + preview.loses.length + preview.opens_to_everyone > 0 ? preview : null,
  };
}

/** The nodes whose access a plan may move: its own, those that it puts under others, and those of owners that it ties. */
async function reachOf(tx: Transaction, plan: ImportPlan): Promise<{ refresh: string[]; regrant: string[] }> {
  const moved = plan.edges.filter((edge) => edge['relation'] === 'belongs_to').map((edge) => edge['source_id']);
  const refresh = new Set([...plan.nodes.map((node) => node['id']), ...moved].map(String));
  const tied = plan.actors.filter((actor) => actor['has_user'] === true).map((actor) => actor['id']);
  const gates = await tx.rows<{ id: string }>(sql.GATES_OF_ACTORS, [tied]);
  return { refresh: [...refresh], regrant: gates.map(({ id }) => id) };
}

async function writePlan(tx: Transaction, document: GraphDocument, plan: ImportPlan, report: Report): Promise<void> {
  const userId = tx.context.caller.user_id;
  const write = async (kind: string, rows: readonly unknown[], text: Statement): Promise<void> => {
    if (rows.length > 0) count(report, kind, rows.length, await tx.row<Counted>(text, [JSON.stringify(rows), userId]));
  };
  await write('users', plan.users, sql.IMPORT_USERS);
  await write('groups', plan.groups, sql.IMPORT_GROUPS);
  await write('members', plan.members, sql.IMPORT_MEMBERS);
  await write('actors', plan.actors, sql.IMPORT_ACTORS);
  await writeNodes(tx, document, plan, report);
  await write('edges', plan.edges, sql.IMPORT_EDGES);
  await write('events', plan.events, sql.IMPORT_EVENTS);
  await tx.execute(sql.IMPORT_SUPERSEDED, [JSON.stringify(plan.events)]);
  await writeFiles(tx, document, plan, report);
  await write('access_requests', plan.accessRequests, sql.IMPORT_ACCESS_REQUESTS);
  await write('audit', plan.audit, sql.IMPORT_AUDIT);
}

async function writeNodes(tx: Transaction, document: GraphDocument, plan: ImportPlan, report: Report): Promise<void> {
  if (plan.nodes.length === 0) return;
  await tx.execute(sql.LOCK_NODES, [plan.nodes.map((node) => node['id'])]);
  const rows = JSON.stringify(plan.nodes);
  const { caller, envelope } = tx.context;
  const made = await tx.row<Counted>(sql.IMPORT_NEW_NODES, [rows, caller.user_id]);
  const changed = await tx.row<Counted>(sql.IMPORT_CHANGED_NODES, [
    rows,
    caller.user_id,
    caller.via,
    envelope.requestId,
  ]);
  count(report, 'nodes', plan.nodes.length, { created: made?.created ?? 0, updated: changed?.updated ?? 0 });
  await tx.execute(sql.IMPORT_POSITIONS, [rows]);
  const idsWhere = (states: (node: GraphDocument['nodes'][number]) => boolean): string[] =>
    document.nodes.flatMap((node, index) => (states(node) ? [String(plan.nodes[index]?.['id'])] : []));
  const sharing = idsWhere((node) => node.sharing !== undefined);
  if (sharing.length > 0) await tx.execute(sql.IMPORT_SHARES, [sharing, JSON.stringify(plan.shares)]);
  const dutied = idsWhere((node) => node.responsibilities !== undefined);
  if (dutied.length > 0) {
    count(
      report,
      'responsibilities',
      plan.responsibilities.length,
      await tx.row<Counted>(sql.IMPORT_RESPONSIBILITIES, [dutied, JSON.stringify(plan.responsibilities)]),
    );
  }
  const linked = [
    ...idsWhere((node) => node.data_sources !== undefined).map((id) => ({ node_id: id, kind: 'data_source' })),
    ...idsWhere((node) => node.tools !== undefined).map((id) => ({ node_id: id, kind: 'tool' })),
  ];
  if (linked.length > 0) {
    count(
      report,
      'links',
      plan.links.length,
      await tx.row<Counted>(sql.IMPORT_LINKS, [JSON.stringify(linked), JSON.stringify(plan.links)]),
    );
  }
}

/** The nodes may stand in the workspace alone; changes of their files wait until the import is done. */
async function writeFiles(tx: Transaction, document: GraphDocument, plan: ImportPlan, report: Report): Promise<void> {
  if (document.files.length === 0) return;
  const nodeIds = [...new Set(plan.files.map((file) => String(file['node_id'])))];
  await tx.execute(sql.LOCK_NODES, [nodeIds]);
  const rows = [JSON.stringify(plan.files), tx.context.caller.user_id];
  count(report, 'files', document.files.length, await tx.row<Counted>(sql.IMPORT_FILES, rows));
  for (const nodeId of nodeIds) tx.emit('file.changed', { node_id: nodeId });
}

interface Counted {
  readonly created: number;
  readonly updated: number;
}

function count(report: Report, kind: string, total: number, counted: Counted | null): void {
  const created = counted?.created ?? 0;
  const updated = counted?.updated ?? 0;
  if (created > 0) report.created[kind] = created;
  if (updated > 0) report.updated[kind] = updated;
  const unchanged = Math.max(total - created - updated, 0);
  if (unchanged > 0) report.unchanged[kind] = unchanged;
}

const PUT_PART = statement(
  'import.put_part',
  `
  INSERT INTO graph.import_part (upload_id, index, user_id, data) VALUES ($1, $2, $3, $4)
  ON CONFLICT (upload_id, index) DO UPDATE SET data = excluded.data WHERE graph.import_part.user_id = excluded.user_id`,
);

const READ_PARTS = statement(
  'import.read_parts',
  `SELECT data FROM graph.import_part WHERE upload_id = $1 AND user_id = $2 ORDER BY index`,
);
