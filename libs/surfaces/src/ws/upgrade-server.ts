import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '@workspace-graph/contracts';
import { type WebSocket, WebSocketServer } from 'ws';
import type { LiveSocket } from './live-socket.js';

/** Takes upgraded connections, and hands them to Nest as its clients. */
export class UpgradeServer extends EventEmitter {
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LIMITS.frameBytes,
  });

  /** Completes the handshake of a request that was let in. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, open: (client: WebSocket) => LiveSocket): void {
    this.server.handleUpgrade(request, socket, head, (client) => this.emit('connection', open(client)));
  }

  close(): void {
    this.removeAllListeners();
    this.server.close();
  }
}
