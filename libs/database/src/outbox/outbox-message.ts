import type { BusEventPayload, BusEventType } from '@workspace-graph/contracts';

/** One committed event, as the bus takes it. `id` is the same on every delivery. */
export type OutboxMessage = {
  [T in BusEventType]: { readonly type: T; readonly id: string; readonly payload: BusEventPayload<T> };
}[BusEventType];

/**
 * Part of a statement that publishes an event of a type for each row of `from`, with what it changes. Whoever carries the
 * statement out wakes the publishers afterwards (`Database.outbox`).
 */
export const publishedFrom = (type: BusEventType, id: string, payload: string, from: string): string =>
  `INSERT INTO outbox.event (id, type, payload) SELECT ${id}, '${type}', ${payload} FROM ${from}`;
