import {
  addDataSource,
  addResponsibility,
  addTool,
  archiveEvent,
  archiveNode,
  connect,
  createNode,
  disconnect,
  type EventStatus,
  editEvent,
  logEvent,
  removeDataSource,
  removeResponsibility,
  removeTool,
  reorderResponsibilities,
  resolveEvent,
  restoreNode,
  ServiceError,
  supersedeEvent,
  undoSession,
  updateActor,
  updateNode,
  updateResponsibility,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { lockActors, readActor } from '../actors/actor.repository.js';
import { update as updateActorBy } from '../actors/actor-changes.js';
import { connectNodes } from '../edges/connect-nodes.js';
import { disconnectNodes } from '../edges/disconnect-nodes.js';
import { type EventRow, lockAnyEvent } from '../events/event.repository.js';
import { archive as archiveEventBy, edit } from '../events/event-changes.js';
import { addLink, type LinkKind, removeLink } from '../links/link-changes.js';
import { archive as archiveNodeBy } from '../nodes/archive-node.js';
import { lockNode } from '../nodes/node.repository.js';
import { storeChanges } from '../nodes/node-changes.js';
import { readResponsibilities, readResponsibility } from '../responsibilities/responsibility.repository.js';
import * as duties from '../responsibilities/responsibility-changes.js';
import { seenBy } from '../shared/caller.js';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { type Change, type Fields, fieldsToSetBack, formerValues, isSame, Kept } from './change.js';
import { BUILT_ON, EDGE, IS_THERE, REOPEN_EVENT, WITHDRAW_SUCCESSOR } from './undo.statements.js';

/** Takes a change back. Answers the fields that got their former value. @throws Kept, ServiceError when it stays */
type WayBack = (tx: Transaction, change: Change, sessionId: string) => Promise<readonly string[]>;

const WHOLE: readonly string[] = [];
const asWas = undefined;

/** What is undone, by the operation that did it. */
export const WAYS_BACK: Readonly<Record<string, WayBack>> = {
  [createNode.name]: archiveMadeNode,
  [updateNode.name]: setNodeBack,
  [archiveNode.name]: setNodeBack,
  [restoreNode.name]: setNodeBack,
  [logEvent.name]: archiveMadeEvent,
  [editEvent.name]: setEventBack,
  [resolveEvent.name]: reopenEvent,
  [archiveEvent.name]: reopenEvent,
  [supersedeEvent.name]: reinstateEvent,
  [connect.name]: removeMadeEdge,
  [disconnect.name]: connectAgain,
  [addResponsibility.name]: removeMadeDuty,
  [updateResponsibility.name]: setDutyBack,
  [removeResponsibility.name]: addDutyAgain,
  [reorderResponsibilities.name]: orderDutiesAgain,
  [addDataSource.name]: removeMadeLink('data_source'),
  [addTool.name]: removeMadeLink('tool'),
  [removeDataSource.name]: addLinkAgain('data_source'),
  [removeTool.name]: addLinkAgain('tool'),
  [updateActor.name]: renameActorBack,
};

async function archiveMadeNode(tx: Transaction, { target_id }: Change, sessionId: string): Promise<readonly string[]> {
  const node = await lockNode(tx, target_id);
  if (node.status === 'archived') throw new Kept('already');
  const asked = [...seenBy(tx.context.caller), node.id, sessionId];
  if ((await tx.row<{ is_so: boolean }>(BUILT_ON, asked))?.is_so) throw new Kept('built_on');
  await archiveNodeBy(tx, { node_id: node.id, expected_version: asWas });
  return ['lifecycle'];
}

async function setNodeBack(tx: Transaction, change: Change): Promise<readonly string[]> {
  const owner = change.before?.['owner_id'];
  const hasOwner = await areThere(tx, typeof owner === 'string' ? [owner] : []);
  const node = await lockNode(tx, change.target_id);
  const fields = fieldsToSetBack(change, { ...node });
  const opensGate = node.visibility === 'private' || node.visibility === 'group';
  const free = fields.filter((field) => field !== 'owner_id' || !opensGate);
  if (free.length === 0) throw new Kept('moves_access');
  // What an archived node was before is of no use without its being archived.
  if (free.join() === 'lifecycle_before_archive') throw new Kept('changed_since');
  const possible = hasOwner ? free : without(free, 'owner_id');
  await storeChanges(tx, node, formerValues(change, possible), undoSession.name);
  return possible;
}

/** Keeps actors from being deleted. Answers whether all of them are there; the others are not held for sure. */
async function areThere(tx: Transaction, actorIds: readonly string[]): Promise<boolean> {
  try {
    await lockActors(tx, actorIds);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'ACTOR_NOT_FOUND') return false;
    throw error;
  }
}

/** Fields without the one whose former actors are gone. @throws Kept when it is the only one */
function without(fields: readonly string[], gone: string): readonly string[] {
  const left = fields.filter((field) => field !== gone);
  if (left.length === 0) throw new Kept('gone');
  return left;
}

const toldOf = ({ kind, content, occurred_at, status }: EventRow): Fields => ({ kind, content, occurred_at, status });

async function archiveMadeEvent(tx: Transaction, { target_id, after }: Change): Promise<readonly string[]> {
  const event = await lockAnyEvent(tx, target_id);
  if (event.status === 'archived') throw new Kept('already');
  const { kind, content, occurred_at } = after ?? {};
  if (!isSame(toldOf(event), { kind, content, occurred_at, status: 'active' })) throw new Kept('changed_since');
  await archiveEventBy(tx, { event_id: event.id, expected_version: asWas });
  return WHOLE;
}

async function setEventBack(tx: Transaction, change: Change): Promise<readonly string[]> {
  const fields = fieldsToSetBack(change, toldOf(await lockAnyEvent(tx, change.target_id)));
  await edit(tx, { event_id: change.target_id, expected_version: asWas, ...formerValues(change, fields) });
  return fields;
}

async function reopenEvent(tx: Transaction, { target_id, before, after }: Change): Promise<readonly string[]> {
  const event = await lockAnyEvent(tx, target_id);
  if (event.status !== after?.['status'])
    throw new Kept(event.status === before?.['status'] ? 'already' : 'changed_since');
  await reopen(tx, event, before?.['status'] as EventStatus);
  return ['status'];
}

async function reinstateEvent(tx: Transaction, { target_id, before, after }: Change): Promise<readonly string[]> {
  const old = await lockAnyEvent(tx, target_id);
  if (old.status !== 'superseded') throw new Kept(old.status === before?.['status'] ? 'already' : 'changed_since');
  const made = after?.['superseded_by'] as Fields;
  const successor = await lockAnyEvent(tx, String(made['id']));
  const { kind, content, occurred_at } = made;
  if (!isSame(toldOf(successor), { kind, content, occurred_at, status: 'active' })) throw new Kept('built_on');
  await tx.execute(WITHDRAW_SUCCESSOR, [successor.id]);
  const withdrawn = {
    before: { status: 'active', supersedes_id: target_id },
    after: { status: 'archived', supersedes_id: null },
  };
  tx.audit({
    action: undoSession.name,
    targetKind: 'event',
    targetId: successor.id,
    concerns: [successor.node_id],
    ...withdrawn,
  });
  await reopen(tx, old, before?.['status'] as EventStatus);
  return ['status'];
}

async function reopen(tx: Transaction, event: EventRow, status: EventStatus): Promise<void> {
  await tx.execute(REOPEN_EVENT, [event.id, status]);
  const changed = { before: { status: event.status }, after: { status } };
  tx.audit({
    action: undoSession.name,
    targetKind: 'event',
    targetId: event.id,
    concerns: [event.node_id],
    ...changed,
  });
  emitGraphChanged(tx, [event.node_id], undoSession.name);
}

async function removeMadeEdge(tx: Transaction, { target_id }: Change): Promise<readonly string[]> {
  const edge = await tx.row<{ relation: string }>(EDGE, [target_id]);
  if (!edge) throw new Kept('already');
  if (edge.relation === 'belongs_to') throw new Kept('moves_access');
  await disconnectNodes(tx, { edge_id: target_id, confirmed: true });
  return WHOLE;
}

/** A record comes back as itself: what the session did to it before finds it. */
async function refusePresent(tx: Transaction, id: string): Promise<void> {
  if ((await tx.row<{ is_so: boolean }>(IS_THERE, [id]))?.is_so) throw new Kept('already');
}

async function connectAgain(tx: Transaction, { target_id: edgeId, before }: Change): Promise<readonly string[]> {
  const { source_id, target_id, relation } = before as Parameters<typeof connectNodes>[1];
  if (relation === 'belongs_to') throw new Kept('moves_access');
  await refusePresent(tx, edgeId);
  await connectNodes(tx, { source_id, target_id, relation, confirmed: true }, edgeId);
  return WHOLE;
}

type Duty = Parameters<typeof duties.add>[1];

const dutyNow = async (tx: Transaction, id: string): Promise<Fields> => {
  const { title, description, assignees } = await readResponsibility(tx, id);
  return { title, description, assignee_ids: assignees.map((actor) => actor.id) };
};

async function removeMadeDuty(tx: Transaction, { target_id, after }: Change): Promise<readonly string[]> {
  const { title, description, assignee_ids } = after ?? {};
  if (!isSame(await dutyNow(tx, target_id), { title, description, assignee_ids })) throw new Kept('changed_since');
  await duties.remove(tx, { responsibility_id: target_id, expected_version: asWas });
  return WHOLE;
}

async function setDutyBack(tx: Transaction, change: Change): Promise<readonly string[]> {
  const untouched = fieldsToSetBack(change, await dutyNow(tx, change.target_id));
  const holders = untouched.includes('assignee_ids') ? (change.before?.['assignee_ids'] as string[]) : [];
  const fields = (await areThere(tx, holders)) ? untouched : without(untouched, 'assignee_ids');
  await duties.update(tx, {
    responsibility_id: change.target_id,
    expected_version: asWas,
    ...formerValues(change, fields),
  });
  return fields;
}

async function addDutyAgain(tx: Transaction, { target_id, before }: Change): Promise<readonly string[]> {
  await refusePresent(tx, target_id);
  const duty = before as unknown as Duty & { readonly position?: number };
  await duties.add(tx, { ...duty, expected_version: asWas }, target_id);
  if (duty.position !== undefined) await duties.putBack(tx, duty.node_id, target_id, duty.position);
  return WHOLE;
}

async function orderDutiesAgain(tx: Transaction, change: Change): Promise<readonly string[]> {
  const now = await readResponsibilities(tx, change.target_id);
  const fields = fieldsToSetBack(change, { responsibility_ids: now.map(({ id }) => id) });
  const responsibility_ids = change.before?.['responsibility_ids'] as string[];
  await duties.reorder(tx, { node_id: change.target_id, responsibility_ids, expected_version: asWas });
  return fields;
}

/** What a link is cannot be changed: it is there as it was made, or gone. */
function removeMadeLink(kind: LinkKind): WayBack {
  return async (tx, { target_id }) => {
    await removeLink(tx, kind, { id: target_id, expectedVersion: asWas });
    return WHOLE;
  };
}

function addLinkAgain(kind: LinkKind): WayBack {
  return async (tx, { target_id, before }) => {
    const { position = null, ...link } = before as unknown as Parameters<typeof addLink>[2] & { position?: number };
    await refusePresent(tx, target_id);
    await addLink(tx, kind, { ...link, expected_version: asWas }, { id: target_id, position });
    return WHOLE;
  };
}

async function renameActorBack(tx: Transaction, change: Change): Promise<readonly string[]> {
  const { name, user_id } = (await readActor(tx, change.target_id)).parse() as Fields;
  const fields = fieldsToSetBack(change, { name, user_id }).filter((field) => field === 'name');
  if (fields.length === 0) throw new Kept('moves_access');
  await updateActorBy(tx, {
    actor_id: change.target_id,
    name: change.before?.['name'] as string,
    expected_version: asWas,
    confirmed: true,
  });
  return fields;
}
