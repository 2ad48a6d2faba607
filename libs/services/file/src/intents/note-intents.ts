import {
  type noteFileIntents,
  type OutputOf,
  type ParsedInputOf,
  type ValidationIssue,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { parseFilePath } from '@workspace-graph/domain';
import { authorOf, deviceOf, fileNotFound, nodeIsReadOnly, nodeNotFound, seenBy } from '../shared/caller.js';
import { INTENDED_FILES, INTENDED_NODES, type IntendedFile, NOTE_INTENTS } from './intent.statements.js';

type Intent = ParsedInputOf<typeof noteFileIntents>['intents'][number];

/**
 * Notes all of the intents or none.
 * @throws ServiceError FILE_NOT_FOUND, NODE_NOT_FOUND and FORBIDDEN of a file or its new node; VALIDATION_FAILED
 */
export async function noteIntents(
  tx: Transaction,
  { intents }: ParsedInputOf<typeof noteFileIntents>,
): Promise<OutputOf<typeof noteFileIntents>> {
  const issues = intents.flatMap((intent, index) => problemsOf(intent, `intents.${index}.to_path`));
  if (issues.length > 0) throw validationFailed(issues);
  const files = await filesOf(tx, intents);
  await checkTargets(tx, intents);
  const rows = intents.map((intent) => {
    const file = files.get(intent.file_id);
    if (!file) throw fileNotFound(intent.file_id);
    if (file.level < 2) throw nodeIsReadOnly(file.node_id);
    const { node_id, path: from_path, sha256 } = file;
    return { ...intent, to_path: intent.to_path?.normalize('NFC') ?? null, node_id, from_path, sha256 };
  });
  await tx.execute(NOTE_INTENTS, [JSON.stringify(rows), authorOf(tx.context.caller), deviceOf(tx.context.caller)]);
  return { done: true };
}

function problemsOf({ kind, to_path }: Intent, path: string): ValidationIssue[] {
  if (kind === 'delete') return to_path === null ? [] : [{ path, message: 'a delete has no target path' }];
  if (to_path === null) return [{ path, message: 'a move needs a target path' }];
  const parsed = parseFilePath(to_path);
  return 'problem' in parsed ? [{ path, message: parsed.problem }] : [];
}

async function filesOf(tx: Transaction, intents: readonly Intent[]): Promise<Map<string, IntendedFile>> {
  const ids = [...new Set(intents.map(({ file_id }) => file_id))];
  const files = await tx.rows<IntendedFile>(INTENDED_FILES, [...seenBy(tx.context.caller), ids]);
  tx.restOn(...files.map((file) => file.node_id));
  return new Map(files.map((file) => [file.id, file]));
}

async function checkTargets(tx: Transaction, intents: readonly Intent[]): Promise<void> {
  const ids = [...new Set(intents.map(({ to_node_id }) => to_node_id).filter((id) => id !== null))];
  if (ids.length === 0) return;
  const nodes = await tx.rows<{ id: string; level: number }>(INTENDED_NODES, [...seenBy(tx.context.caller), ids]);
  tx.restOn(...nodes.map(({ id }) => id));
  const levels = new Map(nodes.map(({ id, level }) => [id, level]));
  for (const id of ids) {
    const level = levels.get(id);
    if (level === undefined) throw nodeNotFound(id);
    if (level < 2) throw nodeIsReadOnly(id);
  }
}
