import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Connections } from './connections.js';

const LARGE = 'x'.repeat(30_000_000);

let server: Server;
let sockets: Socket[];
let answered: number;
beforeEach(async () => {
  sockets = [];
  answered = 0;
  server = createServer((request, response) => {
    response.once('finish', () => (answered += 1));
    if (request.url === '/large') response.end(LARGE);
    else if (request.url === '/begun') response.write('begun ');
    else response.end('ok');
  });
  // Longer than a test: what ends a connection is not its idleness.
  server.keepAliveTimeout = 72_000;
  Connections.follow(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
});

async function open(sent: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(sent);
  return socket;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const firstBytes = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('readable', () => resolve()));

describe('the connections of a server that closes', () => {
  it('end at once when nothing is asked on them [edge.shutdown.graceful]', async () => {
    const idle = await open(get('/'));
    await firstBytes(idle);
    const closed = new Promise((resolve) => server.close(resolve));
    expect(await text(idle)).toMatch(/^HTTP\/1\.1 200 .*ok$/s);
    await closed;
  });

  it('bring an answer to its end that was written but not yet sent [edge.shutdown.graceful]', async () => {
    const slow = await open(get('/large'));
    await firstBytes(slow);
    expect(answered).toBe(0);
    const closed = new Promise((resolve) => server.close(resolve));
    expect((await text(slow)).length).toBeGreaterThan(LARGE.length);
    await closed;
  });

  it('end after the answer that was under way, although it had not said so', async () => {
    const response = new Promise<{ end(text: string): void }>((resolve) => {
      server.on('request', (_request, made) => resolve(made));
    });
    const reading = await open(get('/begun'));
    await firstBytes(reading);
    const closed = new Promise((resolve) => server.close(resolve));
    (await response).end('ended');
    expect(await text(reading)).toContain('ended');
    await closed;
  });

  it('answer a request of which a part had arrived [edge.shutdown.graceful]', async () => {
    const before = await open(get('/'));
    await firstBytes(before);
    const received = new Promise((resolve) => server.once('connection', resolve));
    const request = get('/');
    const asking = await open(request.slice(0, 20));
    await received;
    while ((await bytesRead()) < 20) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = new Promise((resolve) => server.close(resolve));
    asking.write(request.slice(20));
    expect(await text(asking)).toMatch(/^HTTP\/1\.1 200 .*ok$/s);
    await closed;

    function bytesRead(): Promise<number> {
      return (received as Promise<Socket>).then((socket) => socket.bytesRead);
    }
  });
});
