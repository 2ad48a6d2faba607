import { type Scope, ServiceError, scopeIncludes } from '@workspace-graph/contracts';
import { type Logger, type Metrics, parseTraceparent, type Shutdown, type Tracing } from '@workspace-graph/platform';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { HostList, OriginList } from './allow-lists.js';
import { type Authenticated, type EdgeAuthenticator, noCredential } from './authenticator.js';
import { type Presented, readCredential } from './credential.js';
import type { RouteTier } from './edge-route.js';
import type { EdgeSettings } from './edge-settings.js';
import { asRefusal, internalError, sendRefusal } from './error-answer.js';
import { RateLimiter } from './rate-limiter.js';
import { protectiveHeaders } from './security-headers.js';

/** Of a refused request: read to its end and thrown away. */
const SMALL_BODY_BYTES = 65_536;

export interface GateParts {
  readonly settings: EdgeSettings;
  readonly authenticator: EdgeAuthenticator;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly shutdown: Pick<Shutdown, 'stopping'>;
}

/** What a page of an allowed origin may send and see. */
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, If-Match, If-None-Match, If-Range, Idempotency-Key, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Range, Traceparent, X-Request-Id',
  'access-control-max-age': '600',
};
const EXPOSED =
  'Accept-Ranges, Content-Disposition, Content-Range, ETag, Mcp-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id';

/** Every request passes here before anything of it is read: rate limit, Host, Origin, authentication, scope. */
export class Gate {
  private readonly hosts: HostList;
  private readonly origins: OriginList;
  private readonly limiter: RateLimiter;
  private readonly headers: Readonly<Record<string, string>>;
  /** What is being answered. */
  private readonly open = new Set<FastifyReply>();

  constructor(private readonly parts: GateParts) {
    const { settings } = parts;
    this.hosts = new HostList(settings);
    this.origins = new OriginList(settings);
    this.limiter = new RateLimiter(settings);
    this.headers = protectiveHeaders(settings);
  }

  readonly onRequest = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    this.open.add(reply);
    reply.headers(this.headers).header('x-request-id', request.id);
    this.begin(request);
    try {
      const presented = this.admit(request, reply);
      if (isPreflight(request)) return void reply.code(204).headers(PREFLIGHT).send();
      const tier = tierOf(request);
      if (tier === 'public') return done();
      if (!presented) throw noCredential(request.headers.authorization);
      const known = this.parts.authenticator.fresh(presented.key);
      if (!known) return this.verify({ request, reply, done, presented, tier });
      enter(request, known, tier);
    } catch (error) {
      return this.refuse(request, reply, error);
    }
    return done();
  };

  readonly onResponse = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    this.open.delete(reply);
    const route = request.routeOptions.url ?? 'unknown';
    const { statusCode: status, elapsedTime: ms } = reply;
    const { method, id, edge } = request;
    this.parts.metrics.httpRequest(method, route, status, ms / 1_000);
    edge?.span.set('http.response.status_code', status);
    edge?.span.end(status >= 500 ? { code: String(status), isFault: true } : undefined);
    const caller = edge?.authenticated?.caller;
    const isQuiet = request.routeOptions.config.tier === 'public' && status < 400;
    this.parts.logger[isQuiet ? 'debug' : 'info'](
      {
        request_id: id,
        method,
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        ...(caller ? { user_id: caller.user_id, credential_id: caller.credential_id } : {}),
      },
      'request',
    );
    done();
  };

  /** Lets every connection end with the answer that is under way on it; an idle one would hold the process up. */
  closeConnections(): void {
    for (const reply of this.open) if (!reply.raw.headersSent) reply.header('connection', 'close');
  }

  private begin(request: FastifyRequest): void {
    const { tracing } = this.parts;
    const parent = parseTraceparent(request.headers.traceparent);
    const attributes = tracing.enabled
      ? { 'http.request.method': request.method, 'http.route': request.routeOptions.url, request_id: request.id }
      : {};
    const name = tracing.enabled ? `${request.method} ${request.routeOptions.url ?? 'unknown'}` : '';
    const span = tracing.start(name, { kind: 'server', attributes, ...(parent ? { parent } : {}) });
    request.edge = { authenticated: null, span };
    // Handlers that hand the header on continue this step's trace.
    if (span.traceparent !== undefined) request.headers.traceparent = span.traceparent;
  }

  /** What can be decided without asking anybody. Answers the credential, if one is presented. */
  private admit(request: FastifyRequest, reply: FastifyReply): Presented | null {
    const { authorization, host, origin } = request.headers;
    const presented = authorization === undefined ? null : readCredential(authorization);
    this.limit(request, presented);
    if (!this.hosts.allows(host, request.socket.localPort)) {
      throw new ServiceError('HOST_NOT_ALLOWED', 'The service does not answer to this host name.');
    }
    if (origin !== undefined) this.admitOrigin(origin, host ?? '', reply);
    if (this.parts.shutdown.stopping && tierOf(request) !== 'public') {
      reply.header('connection', 'close');
      throw new ServiceError('SERVICE_UNAVAILABLE', 'This process is shutting down.');
    }
    return presented;
  }

  private limit(request: FastifyRequest, presented: Presented | null): void {
    const { authenticator, metrics } = this.parts;
    const refused =
      presented && authenticator.isKnown(presented.key)
        ? this.limiter.takeKnown(presented.key)
        : this.limiter.takeUnknown(request.ip, request.headers.authorization !== undefined);
    if (!refused) return;
    metrics.rateLimited(refused.by);
    const { retryAfterSeconds } = refused;
    throw new ServiceError('RATE_LIMITED', `Too many requests; wait ${retryAfterSeconds} s.`, {
      retry_after_seconds: retryAfterSeconds,
    });
  }

  private admitOrigin(origin: string, host: string, reply: FastifyReply): void {
    if (!this.origins.allows(origin, host)) {
      throw new ServiceError('ORIGIN_NOT_ALLOWED', 'The service does not answer to pages of this origin.');
    }
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED);
  }

  private verify({ request, reply, done, presented, tier }: Verification): void {
    const { traceparent } = request.edge?.span ?? {};
    this.parts.authenticator
      .verify(presented, { requestId: request.id, ...(traceparent ? { traceparent } : {}) })
      .then((authenticated) => enter(request, authenticated, tier))
      .then(
        () => done(),
        (error: unknown) => this.refuse(request, reply, error),
      );
  }

  private refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    const refusal = asRefusal(error) ?? internalError(error);
    if (refusal.code === 'UNAUTHENTICATED' && request.headers.authorization !== undefined)
      this.limiter.failed(request.ip);
    if (refusal.code === 'INTERNAL')
      this.parts.logger.error({ request_id: request.id, err: error }, 'a request failed unexpectedly');
    // Nothing of the body was read. A caller who is still sending a small one gets to read the refusal; a large one is not waited for.
    if (announcesLargeBody(request)) reply.header('connection', 'close');
    sendRefusal(reply, refusal);
  }
}

interface Verification {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly done: HookHandlerDoneFunction;
  readonly presented: Presented;
  readonly tier: Scope;
}

/** An unknown route tells nobody without a credential that it is unknown. */
function tierOf(request: FastifyRequest): RouteTier {
  return request.is404 ? 'read' : (request.routeOptions.config.tier ?? 'manage');
}

function enter(request: FastifyRequest, authenticated: Authenticated, tier: Scope): void {
  if (!scopeIncludes(authenticated.caller.scope, tier)) {
    throw new ServiceError('FORBIDDEN', `This needs the scope ${tier}.`, { required_scope: tier });
  }
  if (request.edge) request.edge.authenticated = authenticated;
}

function announcesLargeBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BODY_BYTES;
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
