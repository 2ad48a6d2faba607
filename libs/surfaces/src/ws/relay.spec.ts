import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { relay } from './relay.js';

const logger = { debug: () => undefined };
const servers: WebSocketServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listening(take: (socket: WebSocket, authorization: string | undefined) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  servers.push(server);
  server.on('connection', (socket, { headers }) => take(socket, headers.authorization));
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A client of a relay to a centre that answers every frame with itself. */
async function connected({ isProven = true, url }: { readonly isProven?: boolean; readonly url?: string } = {}) {
  const heard: string[] = [];
  let centre: WebSocket | undefined;
  const target =
    url ??
    (await listening((socket, authorization) => {
      centre = socket;
      heard.push(authorization ?? '');
      socket.on('message', (data) => {
        heard.push(String(data));
        socket.send(String(data));
      });
    }));
  const options = { url: target, credential: 'svc_dev_x', isProven, logger, requestId: 'r' };
  const client = new WebSocket(await listening((socket) => relay(socket, options)));
  const answers: string[] = [];
  client.on('message', (data) => void answers.push(String(data)));
  const closed = once(client, 'close');
  await once(client, 'open');
  return { client, closed, heard, answers, centre: () => centre };
}

async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const frame = (type: string): string => JSON.stringify({ id: 1, type, payload: {} });

it('passes frames on and back in their order, with the credential of the device', async () => {
  const { client, heard, answers } = await connected();
  const frames = Array.from({ length: 300 }, (_, index) => `${index}${'x'.repeat(20_000)}`);
  for (const text of frames) client.send(text);
  await eventually(() => answers.length === frames.length);
  expect(heard).toEqual(['Bearer svc_dev_x', ...frames]);
  expect(answers).toEqual(frames);
});

it('passes on what only follows, and refuses what changes something, of another window than the own one', async () => {
  const { client, heard, answers } = await connected({ isProven: false });
  for (const text of [frame('message'), frame('close'), frame('watch'), 'no frame']) client.send(text);
  await eventually(() => answers.length === 4);
  expect(heard.slice(1)).toEqual([frame('watch'), 'no frame']);
  const refusals = answers.filter((text) => text.includes('WEBVIEW_PROXY_REQUIRED'));
  expect(refusals.map((text) => JSON.parse(text) as unknown)).toEqual([
    expect.objectContaining({ id: 1, type: 'error' }),
    expect.objectContaining({ id: 1, type: 'error' }),
  ]);
});

it('tells a client why the centre has left it, and that it cannot be reached', async () => {
  const { closed, centre, heard } = await connected();
  await eventually(() => heard.length === 1);
  centre()?.close(4401, 'the credential has ended');
  expect((await closed).map(String)).toEqual(['4401', 'the credential has ended']);
  const away = await connected({ url: 'ws://127.0.0.1:1' });
  expect((await away.closed)[0]).toBe(1013);
});

it('leaves the centre when its client is gone', async () => {
  const { client, centre, heard } = await connected();
  await eventually(() => heard.length === 1);
  const left = once(centre() as WebSocket, 'close');
  client.terminate();
  await left;
});
