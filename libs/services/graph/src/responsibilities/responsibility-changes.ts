import {
  addResponsibility,
  type ParsedInputOf,
  removeResponsibility,
  reorderResponsibilities,
  ServiceError,
  updateResponsibility,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { lockActors } from '../actors/actor.repository.js';
import { lockWorkingNode, touchNode } from '../nodes/working-node.js';
import {
  nodeOfResponsibility,
  type Responsibility,
  readResponsibilities,
  readResponsibility,
} from './responsibility.repository.js';
import {
  DELETE_ASSIGNEES,
  DELETE_RESPONSIBILITY,
  INSERT_ASSIGNEES,
  INSERT_RESPONSIBILITY,
  REORDER_RESPONSIBILITIES,
  UPDATE_RESPONSIBILITY,
} from './responsibility.statements.js';

/** Adds a responsibility after the others of the node. */
export async function add(
  tx: Transaction,
  input: ParsedInputOf<typeof addResponsibility>,
  id = newId(),
): Promise<Responsibility> {
  const assignees = [...new Set(input.assignee_ids)];
  await lockActors(tx, assignees);
  const node = await lockWorkingNode(tx, input.node_id, input.expected_version);
  await tx.execute(INSERT_RESPONSIBILITY, [id, node.id, node.type, input.title, input.description]);
  await tx.execute(INSERT_ASSIGNEES, [id, assignees]);
  const after = { node_id: node.id, title: input.title, description: input.description, assignee_ids: assignees };
  tx.audit({ action: addResponsibility.name, targetKind: 'responsibility', targetId: id, concerns: [node.id], after });
  await touchNode(tx, node.id, addResponsibility.name);
  return readResponsibility(tx, id);
}

/** Changes a responsibility; without a real change everything stays as it is. */
export async function update(
  tx: Transaction,
  input: ParsedInputOf<typeof updateResponsibility>,
): Promise<Responsibility> {
  const id = input.responsibility_id;
  const assignees = input.assignee_ids && [...new Set(input.assignee_ids)];
  await lockActors(tx, assignees ?? []);
  const node = await lockWorkingNode(tx, await nodeOfResponsibility(tx, id), input.expected_version);
  const stored = fieldsOf(await readResponsibility(tx, id));
  const wanted = {
    title: input.title ?? stored.title,
    description: input.description ?? stored.description,
    assignee_ids: assignees ?? stored.assignee_ids,
  };
  const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
    (field) => String(wanted[field]) !== String(stored[field]),
  );
  if (changed.length > 0) {
    await tx.execute(UPDATE_RESPONSIBILITY, [id, wanted.title, wanted.description]);
    if (changed.includes('assignee_ids')) {
      await tx.execute(DELETE_ASSIGNEES, [id]);
      await tx.execute(INSERT_ASSIGNEES, [id, wanted.assignee_ids]);
    }
    const only = (fields: typeof wanted) => ({
      node_id: node.id,
      ...Object.fromEntries(changed.map((field) => [field, fields[field]])),
    });
    tx.audit({
      action: updateResponsibility.name,
      targetKind: 'responsibility',
      targetId: id,
      concerns: [node.id],
      before: only(stored),
      after: only(wanted),
    });
    await touchNode(tx, node.id, updateResponsibility.name);
  }
  return readResponsibility(tx, id);
}

/** Removes a responsibility; the others keep their order. */
export async function remove(
  tx: Transaction,
  input: ParsedInputOf<typeof removeResponsibility>,
): Promise<{ done: true }> {
  const id = input.responsibility_id;
  const node = await lockWorkingNode(tx, await nodeOfResponsibility(tx, id), input.expected_version);
  const removed = await readResponsibility(tx, id);
  const position = (await readResponsibilities(tx, node.id)).findIndex((each) => each.id === id);
  const before = { node_id: node.id, ...fieldsOf(removed), position };
  await tx.execute(DELETE_RESPONSIBILITY, [id, node.id]);
  tx.audit({
    action: removeResponsibility.name,
    targetKind: 'responsibility',
    targetId: id,
    concerns: [node.id],
    before,
  });
  await touchNode(tx, node.id, removeResponsibility.name);
  return { done: true };
}

/** Puts a responsibility that has come back where it stood, or at the end where there are fewer by now. */
export async function putBack(tx: Transaction, nodeId: string, id: string, position: number): Promise<void> {
  const others = (await readResponsibilities(tx, nodeId)).filter((each) => each.id !== id);
  const wanted = others.map((each) => each.id).toSpliced(position, 0, id);
  await tx.execute(REORDER_RESPONSIBILITIES, [wanted]);
}

/** Gives the responsibilities of a node a new order, as a whole. */
export async function reorder(
  tx: Transaction,
  input: ParsedInputOf<typeof reorderResponsibilities>,
): Promise<{ responsibilities: Responsibility[] }> {
  const wanted = input.responsibility_ids;
  if (new Set(wanted).size < wanted.length) {
    throw validationFailed([{ path: 'responsibility_ids', message: 'must name each responsibility exactly once' }]);
  }
  const node = await lockWorkingNode(tx, input.node_id, input.expected_version);
  const stored = await readResponsibilities(tx, node.id);
  const ids = stored.map(({ id }) => id);
  if (ids.length !== wanted.length || wanted.some((id) => !ids.includes(id))) {
    throw new ServiceError(
      'CONFLICT',
      'The responsibilities of the node have changed: name each of details.current exactly once.',
      { current: stored },
    );
  }
  if (String(ids) !== String(wanted)) {
    await tx.execute(REORDER_RESPONSIBILITIES, [wanted]);
    tx.audit({
      action: reorderResponsibilities.name,
      targetKind: 'node',
      targetId: node.id,
      before: { responsibility_ids: ids },
      after: { responsibility_ids: wanted },
    });
    await touchNode(tx, node.id, reorderResponsibilities.name);
  }
  return { responsibilities: await readResponsibilities(tx, node.id) };
}

function fieldsOf({ title, description, assignees }: Responsibility) {
  return { title, description, assignee_ids: assignees.map((actor) => actor.id) };
}
