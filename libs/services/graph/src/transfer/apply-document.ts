import { type ImportReport, LIMITS, type ValidationIssue, validationFailed } from '@workspace-graph/contracts';
import { type AccessChangeOptions, changeAccess, type Statement, type Transaction } from '@workspace-graph/database';
import { suffixedSyncKey } from '@workspace-graph/domain';
import type { z } from 'zod';
import * as sql from './import.statements.js';
import { ImportProgress } from './import-progress.js';
import { RULES, SET_SYNC_KEYS, TAKEN_SYNC_KEYS } from './import-rules.statements.js';
import type { StagedDocument } from './stage-document.js';
import { ISSUES, RESOLVE } from './staging.statements.js';

type Report = z.infer<typeof ImportReport>;

/**
 * Writes a staged document, in the transaction of its connection.
 * @throws ServiceError VALIDATION_FAILED with everything that is wrong with the document; then nothing was written
 */
export async function applyDocument(
  tx: Transaction,
  staged: StagedDocument,
  options: AccessChangeOptions,
): Promise<Report> {
  const counts: Report = { applied: true, preview: null, created: {}, updated: {}, unchanged: {} };
  const { preview } = await changeAccess(
    tx,
    options,
    async () => {
      await check(tx, staged);
      await write(tx, counts);
      await tx.execute(sql.REFRESH_NODES);
      await tx.execute(sql.REFRESH_GRANTS);
      tx.audit({
        action: 'run_import',
        targetKind: 'workspace',
        targetId: null,
        after: { source: staged.source, created: counts.created, updated: counts.updated },
      });
      await tx.execute(sql.TELL_NODES);
      await tx.execute(sql.TELL_EDGES);
      return { result: counts, refresh: [] };
    },
    (preview, result) => ({ ...result, applied: false, preview: preview.widens ? preview : null }),
  );
  return {
    ...counts,
    preview: preview.gains.length + preview.loses.length + preview.opens_to_everyone > 0 ? preview : null,
  };
}

async function check(tx: Transaction, { issueCount }: StagedDocument): Promise<void> {
  const progress = new ImportProgress(tx);
  const steps = [...RESOLVE, ...RULES];
  for (const [index, step] of steps.entries()) {
    await progress.report('checking', index, steps.length);
    if (index === RESOLVE.length) await giveSyncKeys(tx);
    await tx.execute(step);
  }
  const found = await tx.row<{ issues: ValidationIssue[]; stored: number }>(ISSUES);
  if (!found) throw new Error('The problems of a document are one row');
  const uncounted = Math.max(0, issueCount - LIMITS.importIssues);
  if (found.stored > 0) throw validationFailed(found.issues, found.stored + uncounted);
}

/** Gives other keys to new nodes whose keys are taken, until none is. */
async function giveSyncKeys(tx: Transaction): Promise<void> {
  for (;;) {
    const taken = await tx.rows<{ place: number; slug: string }>(TAKEN_SYNC_KEYS);
    if (taken.length === 0) return;
    const free = taken.map(({ place, slug }) => ({ place, sync_key: suffixedSyncKey(slug, Math.random) }));
    await tx.execute(SET_SYNC_KEYS, [JSON.stringify(free)]);
  }
}

/** Kinds of records that are told, and one for what follows from them. */
const KINDS = 10;

/** In the order in which one refers to another. */
async function write(tx: Transaction, report: Report): Promise<void> {
  const userId = tx.context.caller.user_id;
  const progress = new ImportProgress(tx);
  let brought = 0;
  const bring = async (kind: string, text: Statement): Promise<void> => {
    count(report, kind, await tx.row<Counted>(text, [userId]));
    brought += 1;
    await progress.report('writing', brought, KINDS);
  };
  await progress.report('writing', 0, KINDS);
  await bring('users', sql.IMPORT_USERS);
  await bring('groups', sql.IMPORT_GROUPS);
  await bring('members', sql.IMPORT_MEMBERS);
  await bring('actors', sql.IMPORT_ACTORS);
  await writeNodes(tx, report);
  await bring('edges', sql.IMPORT_EDGES);
  await bring('events', sql.IMPORT_EVENTS);
  await tx.execute(sql.IMPORT_SUPERSEDED);
  await tx.execute(sql.LOCK_NODES_OF_FILES);
  await bring('files', sql.IMPORT_FILES);
  await bring('access_requests', sql.IMPORT_ACCESS_REQUESTS);
  await bring('audit', sql.IMPORT_AUDIT);
  await tx.execute(sql.IMPORT_CONCERNS);
}

async function writeNodes(tx: Transaction, report: Report): Promise<void> {
  const { caller, envelope } = tx.context;
  const locked = await tx.row<{ total: number }>(sql.LOCK_NODES);
  const made = await tx.row<{ created: number }>(sql.IMPORT_NEW_NODES, [caller.user_id]);
  const changed = await tx.row<{ updated: number }>(sql.IMPORT_CHANGED_NODES, [
    caller.user_id,
    caller.via,
    envelope.requestId,
  ]);
  const [created, updated] = [made?.created ?? 0, changed?.updated ?? 0];
  count(report, 'nodes', { total: created + (locked?.total ?? 0), created, updated });
  await tx.execute(sql.IMPORT_POSITIONS);
  await tx.execute(sql.IMPORT_SHARES);
  count(report, 'responsibilities', await tx.row<Counted>(sql.IMPORT_RESPONSIBILITIES));
  count(report, 'links', await tx.row<Counted>(sql.IMPORT_LINKS));
}

interface Counted {
  readonly total: number;
  readonly created: number;
  readonly updated: number;
}

function count(report: Report, kind: string, counted: Counted | null): void {
  const { total, created, updated } = counted ?? { total: 0, created: 0, updated: 0 };
  if (created > 0) report.created[kind] = created;
  if (updated > 0) report.updated[kind] = updated;
  const unchanged = Math.max(total - created - updated, 0);
  if (unchanged > 0) report.unchanged[kind] = unchanged;
}
