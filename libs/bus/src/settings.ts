import { LIMITS } from '@workspace-graph/contracts';

/** Sizes in bytes of the encoded JSON, times in milliseconds. */
export interface BusSettings {
  readonly requestBytes: number;
  readonly replyBytes: number;
  /** How long a call waits while no instance serves its operation, or nobody can be reached. */
  readonly graceMs: number;
  /** How long `stop` and `close` wait for work under way before they abort it. */
  readonly drainMs: number;
}

export const DEFAULT_SETTINGS: BusSettings = {
  requestBytes: LIMITS.busRequestBytes,
  replyBytes: LIMITS.busReplyBytes,
  graceMs: 2_000,
  drainMs: 15_000,
};
