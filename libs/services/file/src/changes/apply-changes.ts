import type { applyFileChanges, FileRecord, OutputOf, ParsedInputOf } from '@workspace-graph/contracts';
import { lockSeenNodes, type Transaction } from '@workspace-graph/database';
import { authorOf, nodeIsReadOnly, nodeNotFound, seenBy } from '../shared/caller.js';
import {
  FILES_OF_CHANGES,
  INSERT_FILES,
  INSERT_TOMBSTONES,
  LOCK_NODES,
  type LockedNode,
  REMOVE_FILES,
  REMOVED_FROM,
  UPDATE_FILES,
} from './change.statements.js';
import {
  type ChangePlan,
  type KeyedFile,
  type NamedChange,
  pathNamedBy,
  planChanges,
  type RecordChange,
} from './plan-changes.js';

type Input = Omit<ParsedInputOf<typeof applyFileChanges>, 'changes'> & { readonly changes: readonly RecordChange[] };

/**
 * Carries changes of one node out: reads what they name, works them out, writes the outcome, each in a statement.
 * @throws ServiceError NODE_NOT_FOUND and FORBIDDEN of the node; with `strict` the first refusal of a change
 */
export async function applyChanges(tx: Transaction, input: Input): Promise<OutputOf<typeof applyFileChanges>> {
  const { node_id: nodeId, action, strict, changes } = input;
  tx.askedFor(action);
  const nodes = await lockNodes(tx, input);
  const node = nodes.get(nodeId);
  if (!node) throw nodeNotFound(nodeId);
  if (node.level < 2) throw nodeIsReadOnly(nodeId);
  const named = changes.map((change) => ({ change, to: pathNamedBy(nodeId, change) }));
  const files = await readFiles(tx, named);
  const removed = await readRemoved(tx, input);
  const plan = planChanges({ nodeId, action, strict, nodes, files, removed, now: node.now }, named);
  await write(tx, plan);
  return { results: [...plan.results] };
}

async function lockNodes(tx: Transaction, { node_id, changes }: Input): Promise<Map<string, LockedNode>> {
  const targets = changes.flatMap((change) => (change.kind === 'move' ? (change.node_id ?? []) : []));
  const nodes = await lockSeenNodes<LockedNode>(tx, LOCK_NODES, [
    ...seenBy(tx.context.caller),
    [...new Set([node_id, ...targets])],
  ]);
  tx.restOn(...nodes.map(({ id }) => id));
  return new Map(nodes.map((node) => [node.id, node]));
}

/** The files that the changes name, by id and by path. */
async function readFiles(tx: Transaction, changes: readonly NamedChange[]): Promise<FileRecord[]> {
  const ids = changes.flatMap(({ change }) =>
    change.kind === 'register' || change.kind === 'document' ? [] : [change.file_id],
  );
  const paths = changes.flatMap(({ to }) => (to !== null && 'key' in to ? [to] : []));
  const rows = await tx.rows<{ file: FileRecord }>(FILES_OF_CHANGES, [
    ids,
    paths.map(({ nodeId }) => nodeId),
    paths.map(({ key }) => key),
  ]);
  return rows.map(({ file }) => file);
}

/** Versions of the files that come back, as the audit trail tells of their removal. */
async function readRemoved(tx: Transaction, { node_id, changes }: Input): Promise<Map<string, number>> {
  const ids = changes.flatMap((change) => (change.kind === 'register' ? (change.file_id ?? []) : []));
  if (ids.length === 0) return new Map();
  const rows = await tx.rows<{ id: string; version: number }>(REMOVED_FROM, [ids, node_id]);
  return new Map(rows.map(({ id, version }) => [id, version]));
}

async function write(tx: Transaction, plan: ChangePlan): Promise<void> {
  const author = authorOf(tx.context.caller);
  if (plan.tombstones.length > 0) await tx.execute(INSERT_TOMBSTONES, [JSON.stringify(plan.tombstones), author]);
  if (plan.removed.length > 0) await tx.execute(REMOVE_FILES, [plan.removed]);
  if (plan.updated.length > 0) await tx.execute(UPDATE_FILES, [rowsOf(plan.updated), author]);
  if (plan.inserted.length > 0) await tx.execute(INSERT_FILES, [rowsOf(plan.inserted), author]);
  for (const audit of plan.audits) tx.audit(audit);
  for (const nodeId of plan.nodeIds) tx.emit('file.changed', { node_id: nodeId });
}

function rowsOf(files: readonly KeyedFile[]): string {
  return JSON.stringify(files.map(({ file, key }) => ({ ...file, path_key: key })));
}
