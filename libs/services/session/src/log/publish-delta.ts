import type { BusEventPayload } from '@workspace-graph/contracts';

/** Passes a delta to those who listen at this moment. */
export type PublishDelta = (delta: BusEventPayload<'session.delta'>) => Promise<void>;

/** Injection token of the process's `PublishDelta`. */
export const PUBLISH_DELTA = Symbol('workspace-graph:publish-delta');
