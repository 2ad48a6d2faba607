import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A connection that asks for another protocol. */
export interface Upgrade {
  readonly socket: Socket;
  /** What the client sent beyond its request. */
  readonly head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** The connection of a request that asks for a WebSocket; undefined for any other. */
export function upgradeOf(request: IncomingMessage): Upgrade | undefined {
  return upgrades.get(request);
}

/** The connection of a request on a path that is a WebSocket. @throws ServiceError UPGRADE_REQUIRED */
export function requireUpgrade(request: FastifyRequest, reply: FastifyReply): Upgrade {
  const upgrade = upgradeOf(request.raw);
  if (upgrade) return upgrade;
  reply.header('upgrade', 'websocket').header('connection', 'Upgrade');
  throw new ServiceError('UPGRADE_REQUIRED', 'This path is a WebSocket.');
}

/** From here on nothing of HTTP is answered to a request any more; the log calls it what it was. */
export function leaveHttp(reply: FastifyReply): FastifyReply {
  reply.hijack().raw.statusCode = 101;
  return reply;
}

/** Whether a request asks for a WebSocket. Any other upgrade is not answered, as HTTP allows: the request is served. */
export function asksForSocket({ headers, method }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Sends requests for a WebSocket the way of all others, through the gate and the routes, so that a refusal is an ordinary
 * answer. The route that takes one finds its connection with `upgradeOf`.
 */
export function routeUpgrades(
  server: Server,
  route: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    upgrades.set(request, { socket, head });
    const response = new ServerResponse(request);
    // The connection is not Node's any more: without this a refusal would leave it open.
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.destroySoon());
    socket.on('error', () => socket.destroy());
    route(request, response);
  });
}
