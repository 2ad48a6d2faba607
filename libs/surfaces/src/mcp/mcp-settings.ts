import { LIMITS } from '@workspace-graph/contracts';

/** Sizes in bytes, times in milliseconds. */
export interface McpSettings {
  /** Version of the server, sent to clients. */
  readonly version: string;
  /** Sessions of the handshake protocols open at once; beyond it the oldest idle one makes room. */
  readonly maxSessions: number;
  /** A session without request and open stream for so long is closed. */
  readonly idleMs: number;
  /** A session that lost its last stream and had no request for so long has lost its client, which may come back. */
  readonly droppedMs: number;
  /** Streams of the newest protocol open at once; half of them for one user. */
  readonly maxStreams: number;
  /** Resources that one session or stream may watch. */
  readonly maxWatched: number;
  /** How often an open stream is written to, so that a dead peer is noticed. */
  readonly keepAliveMs: number;
  /** Changes of a resource within this time are reported once. */
  readonly watchDelayMs: number;
  /** Largest body of a request; beyond it PAYLOAD_TOO_LARGE. */
  readonly bodyBytes: number;
  /** Messages of one request; the protocols that allow several are counted by requests. */
  readonly maxBatch: number;
  /** How long a shutdown, and the end of a session by somebody, wait for calls under way. */
  readonly drainMs: number;
  /** False: replies within a session are streams, so that notifications about a call can precede its result. */
  readonly jsonReplies: boolean;
}

export const DEFAULT_MCP_SETTINGS: McpSettings = {
  version: '0.1.0',
  maxSessions: 5_000,
  idleMs: 30 * 60_000,
  droppedMs: 60_000,
  maxStreams: 5_000,
  maxWatched: 200,
  keepAliveMs: 15_000,
  watchDelayMs: 100,
  bodyBytes: LIMITS.bodyBytes,
  maxBatch: 20,
  drainMs: 10_000,
  jsonReplies: true,
};
