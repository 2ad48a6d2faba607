import { randomUUID } from 'node:crypto';
import { type IncomingMessage, maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { LIMITS, ServiceError, validationFailed } from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Connections } from './connections.js';
import type { EdgeSettings } from './edge-settings.js';
import { asRefusal, routeNotFound, sendRefusal } from './error-answer.js';
import { acceptJsonBodies } from './json-body.js';
import { requestIdOf } from './request-id.js';
import { rewriteTarget } from './request-target.js';
import { protectiveHeaders } from './security-headers.js';
import { endStalledBodies } from './stalled-body.js';
import { asksForSocket, routeUpgrades } from './upgrades.js';

/** Longest time for the headers of a request to arrive. */
const HEADERS_MS = 60_000;
const KEEP_ALIVE_MS = 72_000;
/** Of a path that names a node, each of its characters as up to four encoded bytes. */
const MAX_PARAM_LENGTH = 12 * LIMITS.pathLength;

/** The HTTP server as the edge wants it: `NestFactory.create(Module, new EdgeHttpAdapter(settings), …)`. */
export class EdgeHttpAdapter extends FastifyAdapter {
  constructor(settings: EdgeSettings) {
    const headers = protectiveHeaders(settings);
    super({
      trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
      genReqId: (request: IncomingMessage) => requestIdOf(request.headers),
      requestIdHeader: false,
      rewriteUrl: rewriteTarget,
      // The time of a body depends on its route; see `endStalledBodies`.
      requestTimeout: 0,
      http: { headersTimeout: HEADERS_MS, shouldUpgradeCallback: asksForSocket },
      keepAliveTimeout: KEEP_ALIVE_MS,
      return503OnClosing: false,
      skipMiddie: true,
      routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
      // What the router refuses before any hook runs.
      frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
        sendRefusal(reply.headers(headers).header('x-request-id', request.id), asRefusal(error) ?? routeNotFound()),
      clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => refuseMalformed(error, socket, headers),
    });
    const server = this.getInstance();
    server.decorateRequest('edge', null);
    Connections.follow(server.server);
    routeUpgrades(server.server, (request, response) => server.routing(request, response));
    endStalledBodies(server, settings.bodyTimes);
    acceptJsonBodies(server);
  }

  /** The edge has its own parser. */
  override registerParserMiddleware(): void {
    return undefined;
  }
}

function malformed({ code }: NodeJS.ErrnoException): ServiceError {
  return code === 'HPE_HEADER_OVERFLOW'
    ? new ServiceError('HEADERS_TOO_LARGE', `The headers are longer than ${maxHeaderSize} bytes.`, {
        limit_bytes: maxHeaderSize,
      })
    : validationFailed([{ path: '', message: 'The request is not valid HTTP.' }]);
}

/** Answers what is not HTTP, on the bare socket. */
function refuseMalformed(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = malformed(error);
  const requestId = randomUUID();
  const body = JSON.stringify(refusal.toBody(requestId));
  const lines = Object.entries({
    ...headers,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  });
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}
