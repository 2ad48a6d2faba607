import { Underway } from '@workspace-graph/bus';
import { type Scope, ServiceError } from '@workspace-graph/contracts';
import { type Logger, type Metrics, parseTraceparent, type Shutdown, type Tracing } from '@workspace-graph/platform';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { Admission } from './admission.js';
import { HostList, OriginList } from './allow-lists.js';
import { type EdgeAuthenticator, noCredential } from './authenticator.js';
import { type Presented, readCredential } from './credential.js';
import type { RouteTier } from './edge-route.js';
import type { EdgeSettings } from './edge-settings.js';
import { asRefusal, internalError, refuseInstead, sendRefusal } from './error-answer.js';
import { pageCookieOf, readPageCookie } from './page-cookie.js';
import { RateLimiter } from './rate-limiter.js';
import { foreignTarget, isAbsolute, requireOneHost } from './request-target.js';
import { protectiveHeaders } from './security-headers.js';
import { SharedBuckets } from './shared-buckets.js';

/** Of a refused request: read to its end and thrown away. */
const SMALL_BODY_BYTES = 65_536;
/** How often requests under way are looked at. With the age of an answer that still counts, less than a second. */
const LOOK_MS = 200;
/** How long bytes go on to move when nobody can tell whether they still may. */
const UNCONFIRMED_MS = 5_000;

export interface GateParts {
  readonly settings: EdgeSettings;
  readonly authenticator: EdgeAuthenticator;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly shutdown: Pick<Shutdown, 'leaving' | 'stopping'>;
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
  private readonly open = new Underway<FastifyReply>();

  private readonly stops: (() => void)[];

  constructor(private readonly parts: GateParts) {
    const { settings, authenticator } = parts;
    this.hosts = new HostList(settings);
    this.origins = new OriginList(settings);
    const shared = settings.redisUrl && new SharedBuckets({ url: settings.redisUrl, logger: parts.logger });
    this.limiter = new RateLimiter({ ...settings, ...(shared ? { shared } : {}) });
    this.headers = protectiveHeaders(settings);
    const looks = setInterval(() => this.look(), LOOK_MS).unref();
    this.stops = [authenticator.onEnded(() => this.look()), () => clearInterval(looks), () => shared?.stop()];
  }

  readonly onRequest = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const leave = this.open.add(reply);
    reply.raw.once('close', () => {
      leave();
      this.close(request, reply);
    });
    reply.headers(this.headers).header('x-request-id', request.id);
    if (this.parts.shutdown.leaving) reply.header('connection', 'close');
    this.begin(request);
    try {
      const presented = this.admit(request, reply);
      if (isPreflight(request)) return void reply.code(204).headers(PREFLIGHT).send();
      const tier = tierOf(request);
      if (tier === 'public') return done();
      if (!presented) throw noCredential(request.headers.authorization);
      if (request.edge) request.edge.admission = this.admissionOf(request, presented, tier);
    } catch (error) {
      return this.refuse(request, reply, error);
    }
    return this.confirm(request, reply, done);
  };

  /** A body can take minutes to arrive, and what was true when its head came may be over. */
  readonly preValidation = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void =>
    this.confirm(request, reply, done);

  /**
   * So can the work: whose credential has ended meanwhile gets no answer of it. The outcome of a change is told, though:
   * it was carried out, and may be what has ended the credential.
   */
  readonly onSend = (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error?: Error | null, payload?: unknown) => void,
  ): void => {
    const admission = request.edge?.admission;
    if (!admission?.isKnown || !onlyReads(request)) return done(null, payload);
    this.confirmed(admission, (refusal) => {
      if (!refusal || isPassing(refusal, admission)) return done(null, payload);
      admission.end(refusal);
      return done(null, refuseInstead(reply, refusal, payload));
    });
  };

  /** Stops looking after requests under way. */
  stop(): void {
    for (const stop of this.stops) stop();
  }

  /** Lets every connection end with the answer that is under way on it; an idle one would hold the process up. */
  closeConnections(): void {
    for (const reply of this.open) if (!reply.raw.headersSent) reply.header('connection', 'close');
  }

  /** Tells of a request that is over, whoever ended it. */
  private close(request: FastifyRequest, reply: FastifyReply): void {
    const route = request.routeOptions.url ?? 'unknown';
    const { statusCode: status, elapsedTime: ms } = reply;
    const { method, id, edge } = request;
    this.parts.metrics.httpRequest(method, route, status, ms / 1_000);
    edge?.span.set('http.response.status_code', status);
    edge?.span.end(status >= 500 ? { code: String(status), isFault: true } : undefined);
    const caller = edge?.admission?.isKnown ? edge.admission.caller : undefined;
    const { tier, isQuiet: isQuietRoute = tier === 'public' } = request.routeOptions.config;
    const isQuiet = isQuietRoute && status < 400;
    this.parts.logger[isQuiet ? 'debug' : 'info'](
      {
        request_id: id,
        method,
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        ...(reply.raw.writableFinished ? {} : { cut_off: true }),
        ...(caller ? { user_id: caller.user_id, credential_id: caller.credential_id } : {}),
      },
      'request',
    );
  }

  /** Ends requests under way that have lost what they rest on. */
  private look(): void {
    for (const reply of this.open) {
      const { edge, routeOptions } = reply.request;
      const admission = edge?.admission;
      if (!admission?.isKnown || routeOptions.config.endsStreams) continue;
      this.confirmed(admission, (refusal) => {
        if (!refusal || isPassing(refusal, admission) || !this.open.has(reply)) return;
        admission.end(refusal);
        // What has not begun to be sent is refused when it does; megabytes that the system holds for a slow client go too.
        if (reply.raw.headersSent && onlyReads(reply.request)) reply.raw.socket?.resetAndDestroy();
      });
    }
  }

  private begin(request: FastifyRequest): void {
    const { tracing } = this.parts;
    const parent = parseTraceparent(request.headers.traceparent);
    const attributes = tracing.enabled
      ? { 'http.request.method': request.method, 'http.route': request.routeOptions.url, request_id: request.id }
      : {};
    const name = tracing.enabled ? `${request.method} ${request.routeOptions.url ?? 'unknown'}` : '';
    const span = tracing.start(name, { kind: 'server', attributes, ...(parent ? { parent } : {}) });
    request.edge = { admission: null, span };
    // Handlers that hand the header on continue this step's trace.
    if (span.traceparent !== undefined) request.headers.traceparent = span.traceparent;
  }

  /** What can be decided without asking anybody. Answers the credential, if one is presented. */
  private admit(request: FastifyRequest, reply: FastifyReply): Presented | null {
    const { host, origin } = request.headers;
    const presented = this.presentedBy(request);
    if (!request.routeOptions.config.unlimited) this.limit(request, presented);
    requireOneHost(request.raw, request.originalUrl);
    if (!this.hosts.allows(host, request.socket.localPort)) {
      if (isAbsolute(request.originalUrl)) throw foreignTarget();
      throw new ServiceError('HOST_NOT_ALLOWED', 'The service does not accept requests for this host name.');
    }
    if (origin !== undefined) this.admitOrigin(origin, host ?? '', reply);
    if (this.parts.shutdown.stopping && tierOf(request) !== 'public')
      throw new ServiceError('SERVICE_UNAVAILABLE', 'This process is shutting down.');
    return presented;
  }

  /** What an Authorization header presents, and without one the cookie of a page. */
  private presentedBy({ headers, routeOptions }: FastifyRequest): Presented | null {
    if (headers.authorization !== undefined) return readCredential(headers.authorization);
    if (routeOptions.config.takesNoCookie) return null;
    const token = readPageCookie(headers, pageCookieOf(headers.host, this.parts.settings.publicUrl));
    return token === undefined ? null : readCredential(`Bearer ${token}`);
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
      throw new ServiceError('ORIGIN_NOT_ALLOWED', 'The service does not accept requests from pages of this origin.');
    }
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED);
  }

  private admissionOf(request: FastifyRequest, presented: Presented, tier: Scope): Admission {
    const { traceparent } = request.edge?.span ?? {};
    const context = { requestId: request.id, ...(traceparent ? { traceparent } : {}) };
    return new Admission({ authenticator: this.parts.authenticator, presented, tier, context });
  }

  private confirm(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    const admission = request.edge?.admission;
    if (!admission) return done();
    this.confirmed(admission, (refusal) => (refusal ? this.refuse(request, reply, refusal) : done()));
  }

  /** Tells the refusal, or nothing when all holds; at once where nobody need be asked. */
  private confirmed(admission: Admission, tell: (refusal?: ServiceError) => void): void {
    const refuse = (error: unknown): void => tell(this.refusalOf(error, admission.requestId));
    let isKnown: boolean;
    try {
      isKnown = admission.confirmKnown();
    } catch (error) {
      return refuse(error);
    }
    if (isKnown) return tell();
    admission.confirm().then(() => tell(), refuse);
  }

  private refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    const refusal = this.refusalOf(error, request.id);
    if (refusal.code === 'UNAUTHENTICATED' && request.headers.authorization !== undefined)
      this.limiter.failed(request.ip);
    // A caller who is still sending a small body gets to read the refusal; a large one is not waited for.
    if (!request.raw.complete && announcesLargeBody(request)) reply.header('connection', 'close');
    sendRefusal(reply, refusal);
  }

  private refusalOf(error: unknown, requestId: string): ServiceError {
    const refusal = asRefusal(error) ?? internalError(error);
    if (refusal.code === 'INTERNAL')
      this.parts.logger.error({ request_id: requestId, err: error }, 'a request failed unexpectedly');
    return refusal;
  }
}

function onlyReads({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Nobody could tell, and that not for long. */
function isPassing({ retryable, code }: ServiceError, { ageMs }: Admission): boolean {
  return (retryable || code === 'INTERNAL') && ageMs < UNCONFIRMED_MS;
}

/** An unknown route tells nobody without a credential that it is unknown. */
function tierOf(request: FastifyRequest): RouteTier {
  return request.is404 ? 'read' : (request.routeOptions.config.tier ?? 'manage');
}

function announcesLargeBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BODY_BYTES;
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
