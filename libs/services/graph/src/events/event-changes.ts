import {
  archiveEvent,
  editEvent,
  logEvent,
  type ParsedInputOf,
  RawJson,
  resolveEvent,
  supersedeEvent,
} from '@workspace-graph/contracts';
import { changedFields, type Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { authorOf, nodeIsReadOnly, nodeNotFound, seenBy } from '../shared/caller.js';
import { type EventRow, lockEvent, readEvent } from './event.repository.js';
import { EDIT_EVENT, INSERT_EVENT, LOG_EVENT, RESOLVE_EVENT, SET_EVENT_STATUS } from './event.statements.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Records an event on a node.
 * @throws ServiceError NODE_NOT_FOUND, FORBIDDEN without write access to the node
 */
export async function log(tx: Transaction, input: ParsedInputOf<typeof logEvent>): Promise<RawJson> {
  const { node_id: nodeId, kind, content } = input;
  const { caller } = tx.context;
  const id = newId();
  const logged = await tx.row<{ json: string | null; version: number; occurred_at: string }>(LOG_EVENT, [
    ...seenBy(caller),
    id,
    nodeId,
    kind,
    content,
    input.occurred_at ?? null,
    authorOf(caller),
  ]);
  if (!logged) throw nodeNotFound(nodeId);
  if (logged.json === null) throw nodeIsReadOnly(nodeId);
  tx.restOn(nodeId);
  const after = { node_id: nodeId, kind, content, occurred_at: logged.occurred_at };
  tx.audit({ action: logEvent.name, targetKind: 'event', targetId: id, concerns: [nodeId], after });
  tx.emit('graph.changed', { node_ids: [nodeId], action: logEvent.name });
  return new RawJson(logged.json, { version: logged.version });
}

/** Corrects an event. Nothing is written when nothing differs. */
export async function edit(tx: Transaction, input: ParsedInputOf<typeof editEvent>): Promise<RawJson> {
  const event = await lockEvent(tx, 'edit', input.event_id, input.expected_version);
  const before = { kind: event.kind, content: event.content, occurred_at: event.occurred_at };
  const after = {
    kind: input.kind ?? event.kind,
    content: input.content ?? event.content,
    occurred_at: input.occurred_at ?? event.occurred_at,
  };
  const changed = changedFields(before, after);
  if (changed) {
    await tx.execute(EDIT_EVENT, [event.id, after.kind, after.content, after.occurred_at]);
    record(tx, editEvent.name, event, changed);
  }
  return readEvent(tx, event.id);
}

/** Marks an active event as resolved. */
export async function resolve(tx: Transaction, input: ParsedInputOf<typeof resolveEvent>): Promise<RawJson> {
  const event = await lockEvent(tx, 'resolve', input.event_id, input.expected_version);
  const resolution = input.resolution ?? null;
  await tx.execute(RESOLVE_EVENT, [event.id, resolution, authorOf(tx.context.caller)]);
  record(tx, resolveEvent.name, event, {
    before: { status: event.status, resolution: event.resolution },
    after: { status: 'resolved', resolution },
  });
  return readEvent(tx, event.id);
}

/** Stores an event in the place of another one and answers the new one; both point to each other. */
export async function supersede(tx: Transaction, input: ParsedInputOf<typeof supersedeEvent>): Promise<RawJson> {
  const old = await lockEvent(tx, 'supersede', input.event_id, input.expected_version);
  const id = newId();
  const successor = {
    kind: input.kind ?? old.kind,
    content: input.content,
    occurred_at: input.occurred_at ?? new Date().toISOString(),
  };
  await tx.execute(SET_EVENT_STATUS, [old.id, 'superseded']);
  await tx.execute(INSERT_EVENT, [
    id,
    old.node_id,
    successor.kind,
    successor.content,
    successor.occurred_at,
    authorOf(tx.context.caller),
    old.id,
  ]);
  record(tx, supersedeEvent.name, old, {
    before: { status: old.status },
    after: { status: 'superseded', superseded_by: { id, ...successor } },
  });
  return readEvent(tx, id);
}

/** Takes an event out of the timeline. */
export async function archive(tx: Transaction, input: ParsedInputOf<typeof archiveEvent>): Promise<RawJson> {
  const event = await lockEvent(tx, 'archive', input.event_id, input.expected_version);
  await tx.execute(SET_EVENT_STATUS, [event.id, 'archived']);
  record(tx, archiveEvent.name, event, { before: { status: event.status }, after: { status: 'archived' } });
  return readEvent(tx, event.id);
}

function record(tx: Transaction, action: string, event: EventRow, changed: { before: Fields; after: Fields }): void {
  tx.audit({ action, targetKind: 'event', targetId: event.id, concerns: [event.node_id], ...changed });
  tx.emit('graph.changed', { node_ids: [event.node_id], action });
}
