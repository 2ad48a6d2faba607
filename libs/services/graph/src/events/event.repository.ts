import { type EventKind, type EventStatus, type RawJson, ServiceError } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { allowsEventChange, type EventChange } from '@workspace-graph/domain';
import { nodeIsReadOnly, seenBy } from '../shared/caller.js';
import { EVENT, EVENT_FOR_CHANGE } from './event.statements.js';

/** An event's own columns while a change holds it locked. */
export interface EventRow {
  readonly id: string;
  readonly node_id: string;
  readonly kind: EventKind;
  readonly status: EventStatus;
  readonly content: string;
  readonly occurred_at: string;
  readonly resolution: string | null;
  readonly version: number;
  /** What the caller may do on its node: 1 read, 2 write. */
  readonly level: number;
}

/** The refusal of an absent event and of a hidden node's one alike. */
export function eventNotFound(eventId: string): ServiceError {
  return new ServiceError('EVENT_NOT_FOUND', `There is no event ${eventId} that you may see.`, { event_id: eventId });
}

/** The event as get_event answers it, seen from inside a change. */
export async function readEvent(tx: Transaction, eventId: string): Promise<RawJson> {
  const event = await tx.json(EVENT, [...seenBy(tx.context.caller), eventId]);
  if (!event) throw eventNotFound(eventId);
  return event;
}

/**
 * Locks an event for a change.
 * @throws ServiceError EVENT_NOT_FOUND, FORBIDDEN without write access to its node, CONFLICT with the current record for
 * another version than expected and for a status that does not allow the change
 */
export async function lockEvent(
  tx: Transaction,
  change: EventChange,
  eventId: string,
  expectedVersion: number | undefined,
): Promise<EventRow> {
  const event = await lockAnyEvent(tx, eventId);
  if (expectedVersion !== undefined && expectedVersion !== event.version) {
    throw await conflict(tx, event, `The event now has version ${event.version}, not ${expectedVersion}.`);
  }
  if (!allowsEventChange(event.status, change))
    throw await conflict(tx, event, `You cannot ${change} the event: it is ${event.status}.`);
  return event;
}

/** Locks an event of whatever status. @throws ServiceError EVENT_NOT_FOUND, FORBIDDEN without write access to its node */
export async function lockAnyEvent(tx: Transaction, eventId: string): Promise<EventRow> {
  const event = await tx.row<EventRow>(EVENT_FOR_CHANGE, [...seenBy(tx.context.caller), eventId]);
  if (!event) throw eventNotFound(eventId);
  tx.restOn(event.node_id);
  if (event.level < 2) throw nodeIsReadOnly(event.node_id);
  return event;
}

async function conflict(tx: Transaction, event: EventRow, message: string): Promise<ServiceError> {
  return new ServiceError('CONFLICT', message, { current: (await readEvent(tx, event.id)).parse() });
}
