import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { sendPart } from './send-part.js';

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

const PART = Buffer.alloc(3_000_000, 'part ');
let server: Server;
let answer: Answer;
let url: string;
let sockets: Set<Socket>;

beforeAll(async () => {
  server = createServer((request, response) => {
    sockets.add(request.socket);
    void buffer(request)
      .catch(() => Buffer.alloc(0))
      .then((body) => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/part`;
});
beforeEach(() => {
  sockets = new Set();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const send = (signal?: AbortSignal): Promise<Response> =>
  sendPart(url, { method: 'PUT', headers: { 'x-part': '1' }, part: PART, signal });

describe('a part', () => {
  it('arrives as it is, with its length, and the answer is told with its headers', async () => {
    let seen: IncomingMessage | null = null;
    answer = (request, response, body) => {
      seen = request;
      response.writeHead(200, { etag: '"e"' }).end(body.equals(PART) ? 'whole' : 'torn');
    };
    const told = await send();
    expect([told.status, told.headers.get('etag'), await told.text()]).toEqual([200, '"e"', 'whole']);
    expect((seen as IncomingMessage | null)?.headers).toMatchObject({ 'content-length': '3000000', 'x-part': '1' });
  });

  it('that is refused is an answer, and one that leads elsewhere is none', async () => {
    answer = (_request, response) => void response.writeHead(507).end('<Error/>');
    expect([(await send()).status, (await send()).ok]).toEqual([507, false]);
    answer = (_request, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    await expect(send()).rejects.toThrow('307');
  });

  it('is sent once more where the server gives up the kept connection, and then on a new one', async () => {
    answer = (_request, response) => void response.end();
    await send();
    const [kept] = sockets;
    let tries = 0;
    answer = (request, response, body) => {
      tries += 1;
      if (request.socket === kept) request.socket.resetAndDestroy();
      else response.end(body.equals(PART) ? 'whole' : 'torn');
    };
    expect(await (await send()).text()).toBe('whole');
    expect([tries, sockets.size]).toEqual([2, 2]);
  });

  it('ends with the reason of its signal, also while the server is silent', async () => {
    const ended = new AbortController();
    answer = () => ended.abort(new Error('enough'));
    await expect(send(ended.signal)).rejects.toThrow('enough');
  });
});
