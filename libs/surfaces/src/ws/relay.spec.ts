import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { Heartbeat } from './heartbeat.js';
import { relay } from './relay.js';

const logger = { debug: () => undefined };
const servers: WebSocketServer[] = [];
const clients: WebSocket[] = [];

afterEach(async () => {
  // One that is paused does not see that it is left.
  for (const client of clients.splice(0)) client.terminate();
  for (const server of servers.splice(0)) {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listening(
  take: (socket: WebSocket, authorization: string | undefined) => void,
  options: { readonly autoPong?: boolean } = {},
): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options });
  servers.push(server);
  server.on('connection', (socket, { headers }) => take(socket, headers.authorization));
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What its two sides answer to pings. */
interface Answering {
  readonly client?: boolean;
  readonly centre?: boolean;
}

interface Setting {
  readonly isProven?: boolean;
  /** Of the centre; one that answers every frame with itself unless told. */
  readonly url?: string;
  readonly answering?: Answering;
  readonly heartbeat?: Heartbeat;
}

/** A client of a relay to a centre. `sides`: what the relay has of the client, and of the centre. */
async function connected({ isProven = true, url, answering = {}, heartbeat = new Heartbeat() }: Setting = {}) {
  const heard: string[] = [];
  let centre: WebSocket | undefined;
  const echo = (socket: WebSocket, authorization: string | undefined): void => {
    centre = socket;
    heard.push(authorization ?? '');
    socket.on('message', (data) => {
      heard.push(String(data));
      socket.send(String(data));
    });
  };
  const target = url ?? (await listening(echo, { autoPong: answering.centre ?? true }));
  const sides: WebSocket[] = [];
  const watched: Pick<Heartbeat, 'add' | 'everyMs'> = {
    everyMs: heartbeat.everyMs,
    add: (socket, isExcused) => {
      sides.push(socket);
      heartbeat.add(socket, isExcused);
    },
  };
  const options = { url: target, credential: 'svc_dev_x', isProven, heartbeat: watched, logger, requestId: 'r' };
  const client = new WebSocket(await listening((socket) => relay(socket, options)), {
    autoPong: answering.client ?? true,
  });
  clients.push(client);
  const answers: string[] = [];
  client.on('message', (data) => void answers.push(String(data)));
  const closed = once(client, 'close');
  await once(client, 'open');
  return { client, closed, heard, answers, sides, heartbeat, centre: () => centre as WebSocket };
}

/** The same when the relay has both sides, which are in the answer. */
async function joined(setting: Setting) {
  const { sides, centre, ...rest } = await connected(setting);
  await eventually(() => sides.length === 2);
  const [ofClient, ofCentre] = sides as [WebSocket, WebSocket];
  return { ...rest, centre: centre(), ofClient, ofCentre };
}

/** Has one end send until the relay does not read it any more, and answers how many frames that took. */
async function flood(from: WebSocket, side: WebSocket): Promise<number> {
  let count = 0;
  // What is on its way may make it full, or the system take more.
  for (let looks = 0; looks < 20; looks = side.isPaused ? looks + 1 : 0) {
    if (!side.isPaused) {
      from.send('x'.repeat(100_000));
      count += 1;
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return count;
}

async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** How a client is left that may connect again. */
const UNREACHABLE = ['1013', 'the centre cannot be reached'];

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
  centre().close(4401, 'the credential has ended');
  expect((await closed).map(String)).toEqual(['4401', 'the credential has ended']);
  const away = await connected({ url: 'ws://127.0.0.1:1' });
  expect((await away.closed).map(String)).toEqual(UNREACHABLE);
});

it('leaves the centre when its client is gone', async () => {
  const { client, centre, heard } = await connected();
  await eventually(() => heard.length === 1);
  const left = once(centre(), 'close');
  client.terminate();
  await left;
});

it('gives up a centre that takes the connection and does not complete the handshake', async () => {
  const mute = createServer((socket) => socket.resume());
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const url = `ws://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const { closed } = await connected({ url, heartbeat: new Heartbeat(50) });
  expect((await closed).map(String)).toEqual(UNREACHABLE);
  await new Promise((resolve) => mute.close(resolve));
});

describe('a side that answers no ping', () => {
  it('is the centre: its client is told, and connects again', async () => {
    const { heartbeat, closed, centre, ofClient } = await joined({ answering: { centre: false } });
    const left = once(centre, 'close');
    const answered = once(ofClient, 'pong');
    heartbeat.beat();
    await answered;
    heartbeat.beat();
    expect((await closed).map(String)).toEqual(UNREACHABLE);
    await left;
  });

  it('is the client: the centre is left', async () => {
    const { heartbeat, closed, centre, ofCentre } = await joined({ answering: { client: false } });
    const left = once(centre, 'close');
    const answered = once(ofCentre, 'pong');
    heartbeat.beat();
    await answered;
    heartbeat.beat();
    expect((await closed)[0]).toBe(1006);
    await left;
  });
});

describe('a side that is not read', () => {
  it('is kept while the other one is there, and goes on with every frame in its order', async () => {
    const { client, heartbeat, heard, centre, ofClient, ofCentre } = await joined({});
    centre.pause();
    const count = await flood(client, ofClient);
    for (let beats = 0; beats < 3; beats++) {
      heartbeat.beat();
      const answered = once(ofCentre, 'pong');
      // It takes nothing yet, so it does not see that it is asked.
      centre.pong();
      await answered;
    }
    expect([ofClient, ofCentre].map(({ readyState }) => readyState)).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
    expect(ofClient.isPaused).toBe(true);
    centre.resume();
    client.send('last');
    await eventually(() => heard.at(-1) === 'last');
    expect(heard).toHaveLength(count + 2);
    expect(ofClient.isPaused).toBe(false);
  });

  it('is cut off with the other one where neither takes anything', async () => {
    const { client, heartbeat, centre, ofClient, ofCentre } = await joined({});
    for (const end of [client, centre]) end.pause();
    await flood(client, ofClient);
    await flood(centre, ofCentre);
    const gone = Promise.all([once(ofClient, 'close'), once(ofCentre, 'close')]);
    for (let beats = 0; beats < 2; beats++) heartbeat.beat();
    await gone;
  });
});

it('passes nothing on of a client that was closed here and goes on sending', async () => {
  const { client, closed, heard, centre, ofClient } = await joined({});
  const left = once(centre, 'close');
  client.pause();
  ofClient.close(4401, 'the credential has ended');
  client.send(frame('message'));
  client.resume();
  expect((await closed)[0]).toBe(4401);
  await left;
  expect(heard).toEqual(['Bearer svc_dev_x']);
});
