import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type ServiceError, validationFailed } from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EdgeSettings } from './edge-settings.js';
import { asRefusal, routeNotFound, sendRefusal } from './error-answer.js';
import { acceptJsonBodies } from './json-body.js';
import { requestIdOf } from './request-id.js';
import { protectiveHeaders } from './security-headers.js';
import { endStalledBodies } from './stalled-body.js';

/** Longest time for the headers of a request to arrive. */
const HEADERS_MS = 60_000;
const STALLED_BODY_MS = 60_000;
const KEEP_ALIVE_MS = 72_000;
const MAX_PARAM_LENGTH = 500;

/** The HTTP server as the edge wants it: `NestFactory.create(Module, new EdgeHttpAdapter(settings), …)`. */
export class EdgeHttpAdapter extends FastifyAdapter {
  constructor(settings: EdgeSettings) {
    const headers = protectiveHeaders(settings);
    super({
      trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
      genReqId: (request: IncomingMessage) => requestIdOf(request.headers),
      requestIdHeader: false,
      // The time of a body depends on its route; see `endStalledBodies`.
      requestTimeout: 0,
      http: { headersTimeout: HEADERS_MS },
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
    endStalledBodies(server, settings.stalledBodyMs ?? STALLED_BODY_MS);
    acceptJsonBodies(server);
  }

  /** The edge has its own parser. */
  override registerParserMiddleware(): void {
    return undefined;
  }
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
  const refusal: ServiceError = validationFailed([{ path: '', message: 'The request is not valid HTTP.' }]);
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
    `HTTP/1.1 400 Bad Request\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}
