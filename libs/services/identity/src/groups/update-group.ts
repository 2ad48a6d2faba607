import { type Group, type ParsedInputOf, ServiceError, updateGroup } from '@workspace-graph/contracts';
import { changedFields, emitAccessChanged, lockAccess, type Transaction } from '@workspace-graph/database';
import { groupNotFound } from '../shared/refusals.js';
import {
  GROUP_BY_ID,
  GROUP_FOR_CHANGE,
  GROUP_TAKEN,
  REMOVE_CLAIMED_MEMBERS,
  UPDATE_GROUP,
} from './group.statements.js';

interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly claim: string | null;
  readonly version: number;
}

/** Group by id as the wire shows it. Throws GROUP_NOT_FOUND. */
export async function readGroup(tx: Transaction, id: string): Promise<Group> {
  const row = await tx.row<{ json: Group }>(GROUP_BY_ID, [id]);
  if (!row) throw groupNotFound(id);
  return row.json;
}

export async function lockGroup(tx: Transaction, id: string): Promise<GroupRow> {
  const row = await tx.row<GroupRow>(GROUP_FOR_CHANGE, [id]);
  if (!row) throw groupNotFound(id);
  return row;
}

export async function refuseTaken(
  tx: Transaction,
  group: { id: string | null; name: string; claim: string | null },
): Promise<void> {
  const taken = await tx.row<{ id: string; by_name: boolean }>(GROUP_TAKEN, [group.id, group.name, group.claim]);
  if (!taken) return;
  const field = taken.by_name ? 'name' : 'claim';
  throw new ServiceError('NAME_TAKEN', `Another group has the ${field} ${group[field]}.`, {
    field,
    group_id: taken.id,
  });
}

/** Renames a group or changes its claim. Who was in it by the old claim leaves, and comes back when the new one fits. */
export async function updateGroupRow(tx: Transaction, input: ParsedInputOf<typeof updateGroup>): Promise<void> {
  if (input.claim !== undefined) await lockAccess(tx);
  const before = await lockGroup(tx, input.group_id);
  if (input.expected_version !== undefined && input.expected_version !== before.version) {
    throw new ServiceError('CONFLICT', 'The group has changed.', { current: await readGroup(tx, before.id) });
  }
  const { name = before.name, claim = before.claim } = input;
  const changes = changedFields({ name: before.name, claim: before.claim }, { name, claim });
  if (!changes) return;
  await refuseTaken(tx, { id: before.id, name, claim });
  await tx.execute(UPDATE_GROUP, [before.id, name, claim]);
  const left = claim === before.claim ? [] : await tx.rows<{ user_id: string }>(REMOVE_CLAIMED_MEMBERS, [before.id]);
  if (left.length > 0)
    emitAccessChanged(
      tx,
      [],
      left.map((row) => row.user_id),
    );
  tx.audit({
    action: updateGroup.name,
    targetKind: 'group',
    targetId: before.id,
    before: { ...changes.before, ...(left.length > 0 ? { removed: left.map((row) => row.user_id) } : {}) },
    after: changes.after,
  });
}
