import { isInitializeRequest } from '@modelcontextprotocol/server';
import { validationFailed } from '@workspace-graph/contracts';
import { MalformedRequest, rpcError } from './answers.js';
import { holderOf, runAs, withinSession } from './connection.js';
import { isStream } from './delivery.js';
import type { Exchange } from './exchange.js';
import type { NodeWatch } from './node-watch.js';
import type { Watching } from './protocol-servers.js';
import { type ProtocolServer, Session, type SessionOptions } from './session.js';
import { SessionStore } from './session-store.js';

export interface SessionLaneOptions extends SessionOptions {
  readonly maxSessions: number;
  readonly idleMs: number;
  /** Told each session that has ended. */
  readonly ended: (session: Session) => void;
}

/** Serves the protocols with a handshake: POST, GET and DELETE within a session that `Mcp-Session-Id` names. */
export class SessionLane {
  readonly sessions: SessionStore;

  constructor(
    private readonly createServer: (watching: Watching) => ProtocolServer,
    private readonly nodes: NodeWatch,
    private readonly options: SessionLaneOptions,
  ) {
    this.sessions = new SessionStore(options.maxSessions, options.idleMs);
  }

  /** `message` is the parsed body of a POST. */
  async serve(exchange: Exchange, request: Request, message?: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return isHandshake(message) ? this.open(exchange, request, message) : unnamed();
    const session = this.sessions.find(id, holderOf(exchange.connection.caller));
    if (!session) return rpcError(404, { code: -32001, message: 'Session not found' });
    const response = await handleWithin(session, exchange, request, message);
    if (isStream(response)) exchange.whenFinished(session.keepOpen());
    return response;
  }

  private async open(exchange: Exchange, request: Request, message: unknown): Promise<Response> {
    await this.sessions.makeRoom(holderOf(exchange.connection.caller));
    const session = new Session(exchange.connection, this.options, this.nodes);
    await session.connect(this.createServer(session), () => {
      this.sessions.remove(session);
      this.options.ended(session);
    });
    const response = await handleWithin(session, exchange, request, message);
    // Nobody knows the id of a session whose handshake failed or whose client has left.
    if (response.ok && session.opened && !exchange.signal.aborted) this.sessions.add(session);
    else await session.close();
    return response;
  }
}

function handleWithin(
  session: Session,
  { connection }: Exchange,
  request: Request,
  message: unknown,
): Promise<Response> {
  const within = { ...withinSession(connection, session.id), isConnected: true };
  return runAs(within, () => session.handle(within, request, message));
}

function isHandshake(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('method' in message) || message.method !== 'initialize')
    return false;
  if (isInitializeRequest(message)) return true;
  throw new MalformedRequest(
    -32602,
    validationFailed([
      {
        path: 'params',
        message: 'initialize needs protocolVersion, capabilities and clientInfo { name, version }',
      },
    ]),
  );
}

function unnamed(): Response {
  return rpcError(400, { code: -32000, message: 'The Mcp-Session-Id header is required: call initialize first' });
}
