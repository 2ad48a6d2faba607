import { isLegacyRequest, preloadSchemas } from '@modelcontextprotocol/server';
import { ServiceError } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { admissionOf, asRefusal, type EdgeAuthenticator, endsFor, sendRefusal } from '../edge/index.js';
import { nodeIdOf } from '../references/named-ids.js';
import { MalformedRequest } from './answers.js';
import { askForIds } from './ask-for-ids.js';
import { type Connection, NO_PROGRAM, runAs } from './connection.js';
import { isStream, sendStream, sendWhole } from './delivery.js';
import { type Exchange, Exchanges } from './exchange.js';
import { type Address, addressOf, checkAccept, protocolRequest, readMessage } from './http-request.js';
import type { McpSettings } from './mcp-settings.js';
import type { NodeWatch } from './node-watch.js';
import type { OperationBus } from './operation-bus.js';
import type { CreateServer } from './protocol-servers.js';
import type { SessionRecords } from './records/session-records.js';
import type { Session } from './session.js';
import { SessionLane } from './session-lane.js';
import { StatelessLane } from './stateless-lane.js';
import type { StreamHub } from './stream-hub.js';

const TICK_MS = 1_000;

export interface McpEndpointParts {
  readonly authenticator: Pick<EdgeAuthenticator, 'onEnded'>;
  /** Asked for the home node of a connection that names it otherwise than by its id. */
  readonly bus: OperationBus;
  readonly nodes: NodeWatch;
  readonly hub: StreamHub;
  readonly createServer: CreateServer;
  /** Keeps the records of agents; null where none are kept. */
  readonly records: SessionRecords | null;
  readonly settings: McpSettings;
  readonly logger: Pick<Logger, 'debug' | 'error'>;
}

type EndedCredential = Parameters<Parameters<EdgeAuthenticator['onEnded']>[0]>[0];

/** MCP over Streamable HTTP at one URL, for clients with a handshake and a session and for those of the newest protocol. */
export class McpEndpoint {
  private readonly exchanges = new Exchanges();
  private readonly legacy: SessionLane;
  private readonly modern: StatelessLane;
  private readonly stops: (() => void)[] = [];
  private readonly endListeners = new Set<(sessionId: string) => void>();
  private closing = false;

  constructor(private readonly parts: McpEndpointParts) {
    const { createServer, hub, nodes, settings } = parts;
    const options = {
      ...settings,
      report: this.report,
      ended: (session: Session) => {
        for (const listener of this.endListeners) listener(session.id);
        this.parts.records?.end(session.id, session.endReason).catch(this.report);
      },
    };
    this.legacy = new SessionLane((watching) => createServer(watching), nodes, options);
    this.modern = new StatelessLane(() => createServer(), hub, nodes, options);
  }

  /** What is open at the moment. */
  get counts(): { readonly sessions: number; readonly streams: number; readonly calls: number } {
    return { sessions: this.legacy.sessions.size, streams: this.exchanges.streams, calls: this.exchanges.calls };
  }

  /** Tells the `session_key` of each session that ends. Returns the function that ends listening. */
  onSessionEnded(listener: (sessionKey: string) => void): () => void {
    this.endListeners.add(listener);
    return () => void this.endListeners.delete(listener);
  }

  async start(): Promise<void> {
    preloadSchemas();
    await this.parts.nodes.start();
    await this.startRecords();
    const ticker = setInterval(() => this.tick(), TICK_MS).unref();
    this.stops.push(
      this.parts.authenticator.onEnded((ended) => this.revoke(ended)),
      () => clearInterval(ticker),
    );
  }

  /** Refuses new requests, lets calls under way end, then closes streams and sessions. */
  async close(): Promise<void> {
    this.closing = true;
    for (const stop of this.stops.splice(0)) stop();
    await this.exchanges.quiet(this.parts.settings.drainMs);
    await this.modern.close();
    await this.legacy.sessions.closeWhere(() => true, 'server_restart');
    await this.parts.records?.stop();
    this.exchanges.endAll();
    await this.parts.nodes.stop();
  }

  /** Serves one HTTP request that the edge has let in, and whose body is still bytes. Never throws. */
  async handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    let exchange: Exchange | undefined;
    try {
      exchange = this.exchanges.begin(this.identify(request));
      exchange.connection = await this.at(exchange, addressOf(request.query));
      const response = await this.serve(exchange, request, reply);
      if (exchange.revoked) throw new ServiceError('UNAUTHENTICATED', 'The credential has ended.');
      await this.deliver(response, exchange, reply);
    } catch (error) {
      await this.fail(error, request, reply);
    } finally {
      if (exchange) this.exchanges.finish(exchange);
    }
  }

  /** Answers a request that failed before or outside of a call. */
  async fail(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (error instanceof MalformedRequest) return sendWhole(error.toResponse(request.id), reply);
    const refusal = asRefusal(error) ?? new ServiceError('INTERNAL', 'Something went wrong inside the service.');
    if (refusal.code === 'INTERNAL')
      this.parts.logger.error({ request_id: request.id, err: error }, 'an MCP request failed unexpectedly');
    sendRefusal(reply, refusal);
    // Until it is out: a handler that is done before has its answer sent a second time.
    await reply;
  }

  private identify(request: FastifyRequest): Connection {
    if (this.closing) throw new ServiceError('SERVICE_UNAVAILABLE', 'This process is shutting down.');
    const { traceparent } = request.headers;
    const trace = { requestId: request.id, ...(typeof traceparent === 'string' ? { traceparent } : {}) };
    const { caller, expiresAtMs } = admissionOf(request).credential;
    return {
      ...trace,
      expiresAtMs,
      watching: [],
      namedSessionId: null,
      program: NO_PROGRAM,
      isConnected: false,
      caller: { ...caller, via: 'mcp', home_node_id: null },
    };
  }

  /** The connection with the home node and the session that its URL names. @throws ServiceError of what nothing or several nodes go by */
  private async at(
    { connection, signal }: Exchange,
    { home: named, sessionId, program }: Address,
  ): Promise<Connection> {
    const here = { ...connection, namedSessionId: sessionId, program };
    if (named === null) return here;
    const ask = askForIds(this.parts.bus, connection, { signal });
    const home = await nodeIdOf(named, 'home_node_id', ask);
    return { ...here, caller: { ...connection.caller, home_node_id: home } };
  }

  private async serve(exchange: Exchange, request: FastifyRequest, reply: FastifyReply): Promise<Response> {
    const { method, headers } = request;
    const posted = method === 'POST';
    if (method !== 'DELETE')
      checkAccept(headers, posted ? ['application/json', 'text/event-stream'] : ['text/event-stream']);
    const message = posted ? readMessage(headers, request.body, this.parts.settings.maxBatch) : undefined;
    if (request.socket.destroyed) exchange.end();
    reply.raw.once('close', () => exchange.end());
    const asked = protocolRequest(method, headers, exchange.signal);
    return runAs(exchange.connection, async () => {
      const legacy = await isLegacyRequest(asked, message);
      return legacy ? this.legacy.serve(exchange, asked, message) : this.modern.serve(exchange, asked, message);
    });
  }

  private async deliver(response: Response, exchange: Exchange, reply: FastifyReply): Promise<void> {
    if (!isStream(response)) return sendWhole(response, reply);
    this.exchanges.stream(exchange);
    // The headers are out: what breaks now can only end the stream.
    await sendStream(response, reply, exchange.signal).catch(this.report);
  }

  private async startRecords(): Promise<void> {
    const { records } = this.parts;
    await records?.start();
    // Somebody has suspended or closed the session of an agent: its connection ends with it. What it was changing is made.
    const stop = records?.onEnded((key) => {
      this.legacy.sessions.leave(key, this.parts.settings.drainMs).catch(this.report);
    });
    if (stop) this.stops.push(stop);
  }

  private revoke(ended: EndedCredential): void {
    const matches = ({ caller }: Connection) => endsFor(ended, caller);
    this.exchanges.revokeWhere(matches);
    this.legacy.sessions.closeWhere((session) => matches(session.connection)).catch(this.report);
    this.parts.records?.endWhere((caller) => endsFor(ended, caller)).catch(this.report);
  }

  private tick(): void {
    this.exchanges.revokeWhere((connection) => connection.expiresAtMs <= Date.now());
    const nowMs = performance.now();
    this.legacy.sessions.closeIdle(nowMs).catch(this.report);
    for (const { id } of this.legacy.sessions.dropped(nowMs - this.parts.settings.droppedMs))
      this.parts.records?.end(id, 'disconnect', true).catch(this.report);
  }

  /** Takes what goes wrong behind the client's back. */
  private readonly report = (error: unknown): void => {
    this.parts.logger.debug({ err: error }, 'an MCP connection reported a problem');
  };
}
