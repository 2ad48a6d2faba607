import { changeGroupMembers, type Group, type ParsedInputOf, validationFailed } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { userNotFound } from '../shared/refusals.js';
import { ADD_MEMBERS, MISSING_USERS, REMOVE_MEMBERS, TOUCH_GROUP } from './group.statements.js';
import { lockGroup, readGroup } from './update-group.js';

type Input = ParsedInputOf<typeof changeGroupMembers>;

/** Adds and removes members; answers the group as it is then. */
export async function changeMembers(tx: Transaction, { group_id: id, add, remove }: Input): Promise<Group> {
  await lockGroup(tx, id);
  const both = add.findIndex((userId) => remove.includes(userId));
  if (both >= 0) throw validationFailed([{ path: `add.${both}`, message: 'is also in remove' }]);
  const [missing] = await tx.rows<{ id: string; place: number }>(MISSING_USERS, [[...add, ...remove]]);
  if (missing)
    throw userNotFound(
      missing.id,
      missing.place < add.length ? `add.${missing.place}` : `remove.${missing.place - add.length}`,
    );
  const added = add.length > 0 ? await tx.rows<{ user_id: string }>(ADD_MEMBERS, [id, add]) : [];
  const removed = remove.length > 0 ? await tx.rows<{ user_id: string }>(REMOVE_MEMBERS, [id, remove]) : [];
  if (added.length > 0 || removed.length > 0) {
    await tx.execute(TOUCH_GROUP, [id]);
    tx.audit({
      action: changeGroupMembers.name,
      targetKind: 'group',
      targetId: id,
      before: { removed: removed.map((row) => row.user_id) },
      after: { added: added.map((row) => row.user_id) },
    });
  }
  return readGroup(tx, id);
}
