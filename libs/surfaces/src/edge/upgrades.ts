import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
