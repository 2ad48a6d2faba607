import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

/** Takes words over a connection beside those that are measured, and carries each out. @returns its address */
export async function listenForWord(carryOut: (word: string) => Promise<void>): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      carryOut(data.toString()).catch((error: unknown) => socket.close(1011, String(error).slice(0, 100)));
    });
  });
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
