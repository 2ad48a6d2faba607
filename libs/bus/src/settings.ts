import { LIMITS } from '@workspace-graph/contracts';

/** Sizes in bytes of the encoded JSON, times in milliseconds. */
export interface BusSettings {
  /** Largest input of a call or payload of an event; beyond it PAYLOAD_TOO_LARGE. Default: `LIMITS.busRequestBytes`. */
  readonly requestBytes: number;
  /** Largest output of a call; beyond it PAYLOAD_TOO_LARGE. Default: `LIMITS.busReplyBytes`. */
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
