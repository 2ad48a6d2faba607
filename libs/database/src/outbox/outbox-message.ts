import type { BusEventPayload, BusEventType } from '@workspace-graph/contracts';

/** One committed event, as the bus takes it. `id` is the same on every delivery. */
export type OutboxMessage = {
  [T in BusEventType]: { readonly type: T; readonly id: string; readonly payload: BusEventPayload<T> };
}[BusEventType];
