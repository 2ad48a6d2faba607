import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { bytesOf, fetchContent, type Way, wayOf } from './byte-transfer.js';

const signal = new AbortController().signal;
let server: Server;
let url: string;
let sockets: Set<Socket>;
beforeAll(async () => {
  server = createServer((request, response) => {
    sockets.add(request.socket);
    response.end(request.headers.authorization);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
beforeEach(() => {
  sockets = new Set();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function fetched(way: Way): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of bytesOf(await fetchContent(way, { signal }), signal)) parts.push(part);
  return Buffer.concat(parts).toString();
}

it('a ticket is used on a connection of its own, which no process that stops can close before; others are kept', async () => {
  for (const ticket of ['a', 'b', 'c']) expect(await fetched(wayOf({ url, ticket }))).toBe(`Bearer ${ticket}`);
  expect(sockets.size).toBe(3);
  sockets = new Set();
  for (let count = 0; count < 3; count += 1) await fetched({ url, credential: 'token' });
  expect(sockets.size).toBeLessThan(3);
});
