import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Caller, Envelope } from '@workspace-graph/contracts';

/** What runs an agent, as its address says it. */
export interface Program {
  readonly instanceId: string | null;
  /** The terminal that it was started in. */
  readonly terminalId: string | null;
}

export const NO_PROGRAM: Program = { instanceId: null, terminalId: null };

/** Who is behind one HTTP request to the MCP endpoint, and under which id it is traced. */
export interface Connection {
  readonly caller: Caller;
  /** When the credential ends, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
  readonly requestId: string;
  readonly traceparent?: string;
  /** The session that the address of the connection names. */
  readonly namedSessionId: string | null;
  readonly program: Program;
  /** Whether it is one of a session with a handshake, which lasts between requests. */
  readonly isConnected: boolean;
  /** What a stream opened by this request watches. */
  readonly watching: readonly WatchedNode[];
}

/** A node that somebody waits for under the name `uri`, with what they see of it; null while it is not there for them. */
export interface WatchedNode {
  readonly nodeId: string;
  readonly uri: string;
  readonly seen: string | null;
}

const connections = new AsyncLocalStorage<Connection>();

/** Runs work on behalf of a connection; protocol handlers started in it find it with `currentConnection`. */
export function runAs<T>(connection: Connection, work: () => T): T {
  return connections.run(connection, work);
}

/** The connection that the running protocol handler answers. */
export function currentConnection(): Connection {
  const connection = connections.getStore();
  if (!connection) throw new Error('A protocol handler ran outside a request');
  return connection;
}

/** What travels beside an operation called for this connection. */
export function envelopeOf(connection: Connection): Envelope {
  return {
    callId: randomUUID(),
    requestId: connection.requestId,
    ...(connection.traceparent ? { traceparent: connection.traceparent } : {}),
    caller: connection.caller,
  };
}

/**
 * The connection as one of those that a credential has. `sessionKey` is never what a client says: it is the id of a
 * session that was found to be the caller's, or made of the credential.
 */
export function withinSession(connection: Connection, sessionKey: string): Connection {
  return { ...connection, caller: { ...connection.caller, session_key: sessionKey } };
}

/** What requests of the newest protocol have in common that come from one credential for one home node. */
export function statelessKeyOf(caller: Caller): string {
  return JSON.stringify([holderOf(caller), caller.home_node_id ?? null]);
}

/**
 * Whom a session belongs to: the credential that opened it. Identity provider tokens are renewed every few minutes and
 * have no lasting id, so theirs belongs to the user.
 */
export function holderOf(caller: Caller): string {
  return caller.credential_id === null ? `user:${caller.user_id}` : `credential:${caller.credential_id}`;
}
