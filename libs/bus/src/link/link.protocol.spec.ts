import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { ServiceError, serviceCaller } from '@workspace-graph/contracts';
import { WebSocket, WebSocketServer } from 'ws';
import type { BusEvent } from '../bus.js';
import { envelope, eventually, failureOf, gate, PROBE, SIDE_PROBE } from '../conformance/probes.js';
import { Declined } from '../failures.js';
import { whenReady } from '../status.js';
import { decodeFrame, encodeFrame, type FrameHead } from './frames.js';
import { LinkBus } from './link.bus.js';
import { TestGateway, trusting } from './link.fixture.js';
import { LinkHost } from './link-host.js';

const lines: { level: string; message: string }[] = [];
const at = (level: string) => (_fields: unknown, message: string) => void lines.push({ level, message });
const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };

let gateway: TestGateway;
const open: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  lines.length = 0;
  gateway = await TestGateway.start();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  await gateway.close();
});

async function device(): Promise<LinkBus> {
  const bus = gateway.open({ logger, settings: { drainMs: 200 } });
  open.push(bus);
  await whenReady(bus, AbortSignal.timeout(10_000));
  return bus;
}

async function service(handler: (input: unknown, caller: unknown) => unknown): Promise<void> {
  const bus = gateway.beside({ logger });
  open.push(bus);
  await bus.serve('graph', [PROBE], async (_operation, input, context) => handler(input, context.envelope.caller));
}

/** A connection without our own end of the protocol. */
async function raw(): Promise<{ socket: WebSocket; heard: FrameHead[]; send: (head: object, body?: string) => void }> {
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/?party=0`);
  const heard: FrameHead[] = [];
  socket.on('message', (data) => void heard.push(decodeFrame(data as Buffer).head));
  await once(socket, 'open');
  open.push({ close: async () => socket.terminate() });
  return { socket, heard, send: (head, body) => socket.send(encodeFrame(head as FrameHead, body)) };
}

describe('the gateway', () => {
  it('decides who calls, whatever the device says of itself [bus.caller.named]', async () => {
    const person = { user_id: 'person', scope: 'read', credential_id: 'c', via: 'sync', device_id: 'd' } as const;
    gateway.behind = (bus) => ({ ...trusting(bus), caller: () => person });
    const seen: unknown[] = [];
    await service((_input, caller) => void seen.push(caller));
    const bus = await device();
    for (const caller of [null, serviceCaller('graph-svc'), envelope().caller])
      await bus.call(PROBE, {}, envelope({ caller }));
    expect(seen).toEqual([person, person, person]);
  });

  it('passes on why a device may not call, serve, hear and publish', async () => {
    const refuse = (): never => {
      throw new ServiceError('FORBIDDEN', 'Not for devices.');
    };
    const refusing = { call: refuse, serve: refuse, publish: refuse, subscribe: refuse };
    gateway.behind = (bus) => ({ ...trusting(bus), ...refusing });
    const bus = await device();
    const event = {
      type: 'graph.changed' as const,
      id: 'e',
      payload: { node_ids: [], action: 'a' },
    } satisfies BusEvent;
    const forbidden = expect.objectContaining({ code: 'FORBIDDEN', message: 'Not for devices.' });
    expect(await failureOf(bus.call(PROBE, {}, envelope()))).toEqual(forbidden);
    expect(await failureOf(bus.serve('graph', [PROBE], async () => 'never'))).toEqual(forbidden);
    expect(await failureOf(bus.subscribe(['graph.changed'], () => undefined))).toEqual(forbidden);
    expect(await failureOf(bus.publish(event))).toEqual(forbidden);
  });

  it.each([
    ['text without a head', 'nothing'],
    ['no JSON', 'nothing\n'],
    ['an unknown frame', '{"kind":"own"}\n'],
    ['a field that there is not', '{"kind":"cancel","id":1,"more":1}\n'],
    ['what only a gateway says', '{"kind":"hello","protocol":1}\n'],
    ['an operation of nobody', '{"kind":"serve","id":1,"owner":"root","operations":[]}\n'],
  ])('leaves a device that sends %s', async (_what, message) => {
    const { socket } = await raw();
    const closed = once(socket, 'close');
    socket.send(Buffer.from(message));
    expect((await closed)[0]).toBe(1002);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('leaves a device that sends more than a message holds', async () => {
    const { socket } = await raw();
    const closed = once(socket, 'close');
    socket.send(Buffer.alloc(3_000_000, 'x'));
    expect((await closed)[0]).toBe(1009);
  });

  it('refuses input that is no JSON', async () => {
    const { heard, send } = await raw();
    const { caller } = envelope();
    const call = { kind: 'call', id: 1, owner: 'graph', operation: 'probe', call_id: 'c', request_id: 'r', caller };
    send({ ...call, timeout_ms: 5_000 }, '{');
    await eventually('it is refused', () => heard.some(({ kind }) => kind === 'reply'));
    expect(heard.find(({ kind }) => kind === 'reply')).toMatchObject({ outcome: 'error' });
  });

  it('refuses more calls at once than it lets a device make', async () => {
    gateway.mostCalls = 3;
    const release = gate();
    await service(() => release.promise);
    const bus = await device();
    const calls = Array.from({ length: 5 }, () => bus.call(PROBE, {}, envelope()).catch(({ code }) => code));
    const refused = await Promise.all(calls.slice(3));
    release.open();
    expect([...(await Promise.all(calls.slice(0, 3))), ...refused]).toEqual([
      undefined,
      undefined,
      undefined,
      'RATE_LIMITED',
      'RATE_LIMITED',
    ]);
  });

  it('answers what is under way to a device that it leaves, and takes nothing more', async () => {
    const [asked, release] = [gate(), gate()];
    let isFinished = false;
    const seen: unknown[] = [];
    await service(async (input) => {
      seen.push([(input as { number: number }).number, isFinished]);
      asked.open();
      await release.promise;
      return 'done';
    });
    const bus = await device();
    const first = bus.call(PROBE, { number: 1 }, envelope());
    await asked.promise;
    const [host] = gateway.hosts;
    const finished = host?.finish(4001, 'spec', 60_000).then(() => {
      isFinished = true;
    });
    const second = bus.call(PROBE, { number: 2 }, envelope());
    release.open();
    expect([await first, await second]).toEqual(['done', 'done']);
    await finished;
    expect(seen).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it('gives up what a device has asked for that is gone', async () => {
    const begun = gate<AbortSignal>();
    const bus = gateway.beside({ logger });
    open.push(bus);
    await bus.serve('graph', [PROBE], async (_operation, _input, { signal }) => {
      begun.open(signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const { socket, send } = await raw();
    const { caller } = envelope();
    const call = { kind: 'call', id: 1, owner: 'graph', operation: 'probe', call_id: 'c', request_id: 'r' };
    send({ ...call, timeout_ms: 60_000, caller }, '{}');
    const signal = await begun.promise;
    socket.terminate();
    await eventually('the call is given up', () => signal.aborted);
    await eventually('nothing is left of the link', () => gateway.hosts.size === 0);
  });

  it('tells a device that stops why its calls come to an end', async () => {
    await gateway.open({ logger, settings: { drainMs: 50 } }).close();
    const { heard, send } = await raw();
    send({ kind: 'serve', id: 1, owner: 'graph', operations: [PROBE.name] });
    await eventually('it serves', () => heard.some(({ kind }) => kind === 'reply'));
    const caller = gateway.beside({ logger });
    open.push(caller);
    const call = failureOf(caller.call(PROBE, {}, envelope()));
    await eventually('a call is under way', () => heard.some(({ kind }) => kind === 'call'));
    send({ kind: 'stop', id: 2, serving: 1 });
    await eventually('it comes to an end', () => heard.some(({ kind }) => kind === 'cancel'));
    expect(heard.find(({ kind }) => kind === 'cancel')).toMatchObject({ stopping: true });
    expect(await call).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
  });

  it('has a call of a device that is gone carried out by another one', async () => {
    const first = await device();
    const begun = gate();
    let runs = 0;
    await first.serve('graph', [PROBE], async () => {
      runs += 1;
      begun.open();
      if (runs > 1) throw new Declined(new ServiceError('SERVICE_UNAVAILABLE', 'It is about to leave.'));
      await new Promise(() => undefined);
    });
    const bus = gateway.beside({ logger });
    open.push(bus);
    const call = bus.call(PROBE, {}, envelope());
    await begun.promise;
    const second = await device();
    await second.serve('graph', [PROBE], async () => 'second');
    const [host] = gateway.hosts;
    host?.close(4_000, 'enough');
    expect(await call).toBe('second');
  });

  it('leaves a device that gives no sign of life', async () => {
    const { socket } = await raw();
    // It answers no ping.
    socket.pong = () => undefined;
    await once(socket, 'close');
    await eventually('nothing is left of the link', () => gateway.hosts.size === 0);
  });
});

describe('the device', () => {
  it('leaves a gateway that is silent, and goes on with another', async () => {
    let isSilent = true;
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => {
      const settings = { behind: trusting(gateway.beside({ logger })), logger, heartbeatMs: 10_000 };
      new LinkHost(socket, settings);
      if (isSilent) socket.pause();
    });
    await once(server, 'listening');
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const options = { url, headers: () => ({}), logger, heartbeatMs: 100, reconnect: { firstMs: 20, mostMs: 50 } };
    const bus = LinkBus.connect(options);
    open.push(bus);
    const told: string[] = [];
    bus.onStatus((status) => told.push(status));
    await eventually('the silent one is left', () => told.includes('connecting'));
    isSilent = false;
    await eventually('it is ready again', () => told.at(-1) === 'ready');
    server.close();
    for (const client of server.clients) client.terminate();
  });

  it('is back with the first call once an outage is over, however far off its next attempt would be', async () => {
    await service(() => 'there');
    await gateway.open({ logger }).close();
    const url = `ws://127.0.0.1:${gateway.port}/?party=0`;
    const reconnect = { firstMs: 600_000, mostMs: 600_000 };
    const bus = LinkBus.connect({ url, headers: () => ({}), logger, settings: { graceMs: 100 }, reconnect });
    open.push(bus);
    await whenReady(bus, AbortSignal.timeout(10_000));
    await gateway.outage.begin();
    expect(await failureOf(bus.call(PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await gateway.outage.end();
    await bus.call(PROBE, {}, envelope()).catch(() => undefined);
    await whenReady(bus, AbortSignal.timeout(60_000));
    expect(await bus.call(PROBE, {}, envelope())).toBe('there');
  });

  it('says why it cannot reach the gateway, until it does', async () => {
    const bus = gateway.open({ logger });
    open.push(bus);
    await whenReady(bus, AbortSignal.timeout(10_000));
    expect(bus.problem).toBeNull();
    const { port } = gateway;
    await gateway.outage.begin();
    await eventually('nobody is there', () => bus.problem === 'ECONNREFUSED');
    const refusal = 'HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n';
    const proxy = createServer((socket) => void socket.once('data', () => socket.end(refusal)));
    proxy.listen(port, '127.0.0.1');
    await once(proxy, 'listening');
    await eventually('somebody else is there', () => bus.problem !== 'ECONNREFUSED');
    expect(bus.problem).toBe('it answered 426: a proxy in between does not pass WebSockets on');
    proxy.close();
    await once(proxy, 'close');
    await gateway.outage.end();
    await whenReady(bus, AbortSignal.timeout(10_000));
    expect(bus.problem).toBeNull();
  });

  it('is told that its credential is refused, and tries again with the one of then', async () => {
    let credential = 'old';
    let presented = '';
    const server = new WebSocketServer({
      port: 0,
      host: '127.0.0.1',
      verifyClient: ({ req }: { req: { headers: { authorization?: string } } }) => {
        presented = req.headers.authorization ?? '';
        return presented === 'new';
      },
    });
    server.on('connection', (socket) => new LinkHost(socket, { behind: trusting(gateway.beside({ logger })), logger }));
    await once(server, 'listening');
    const refused: number[] = [];
    const bus = LinkBus.connect({
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      headers: () => ({ authorization: credential }),
      logger,
      reconnect: { firstMs: 20, mostMs: 50 },
      refused: (status) => refused.push(status),
    });
    open.push(bus);
    await eventually('it is refused', () => refused.length > 0);
    expect([bus.status, refused[0]]).toEqual(['connecting', 401]);
    credential = 'new';
    await whenReady(bus, AbortSignal.timeout(10_000));
    server.close();
    for (const client of server.clients) client.terminate();
  });

  it('waits for no answer to what it asked for with a credential that has ended', async () => {
    const server = new WebSocketServer({
      port: 0,
      host: '127.0.0.1',
      verifyClient: ({ req }: { req: { headers: { authorization?: string } } }) =>
        req.headers.authorization === 'valid',
    });
    const asked = gate();
    const behind = { ...trusting(gateway.beside({ logger })), call: () => new Promise<never>(() => asked.open()) };
    server.on('connection', (socket) => new LinkHost(socket, { behind, logger }));
    await once(server, 'listening');
    let credential = 'valid';
    const bus = LinkBus.connect({
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      headers: () => ({ authorization: credential }),
      logger,
      reconnect: { firstMs: 20, mostMs: 50 },
    });
    open.push(bus);
    await whenReady(bus, AbortSignal.timeout(10_000));
    const failure = failureOf(bus.call(PROBE, {}, envelope(), { timeoutMs: 600_000 }));
    await asked.promise;
    credential = 'ended';
    for (const client of server.clients) client.terminate();
    expect(await failure).toMatchObject({ code: 'UNAUTHENTICATED' });
    server.close();
  });

  it('lives on when a gateway refuses on the next connection what it allowed on the one before', async () => {
    const bus = await device();
    await bus.serve('graph', [PROBE], async () => 'served');
    await bus.subscribe(['graph.changed'], () => undefined);
    const refuse = (): never => {
      throw new ServiceError('FORBIDDEN', 'Not for devices.');
    };
    await gateway.outage.begin();
    gateway.behind = (behind) => ({ ...trusting(behind), serve: refuse, subscribe: refuse });
    await gateway.outage.end();
    await eventually('both are told', () => lines.filter(({ level }) => level === 'error').length === 2);
    expect(await failureOf(bus.serve('graph', [SIDE_PROBE], async () => 'never'))).toMatchObject({ code: 'FORBIDDEN' });
    expect(bus.status).toBe('ready');
  });

  it('serves again after a connection that was lost while it paused', async () => {
    const bus = await device();
    const serving = await bus.serve('graph', [PROBE], async () => 'served');
    await serving.pause();
    await gateway.outage.begin();
    await gateway.outage.end();
    await whenReady(bus, AbortSignal.timeout(10_000));
    const caller = gateway.beside({ logger, settings: { graceMs: 200 } });
    open.push(caller);
    expect(await failureOf(caller.call(PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await serving.resume();
    expect(await caller.call(PROBE, {}, envelope())).toBe('served');
  });

  it('ends what it is told to end, and not what has the same number from the connection before', async () => {
    const bus = await device();
    const signals: AbortSignal[] = [];
    const release = gate();
    await bus.serve('graph', [PROBE], async (_operation, input, { signal }) => {
      if ((input as { isShort?: boolean }).isShort) return;
      signals.push(signal);
      await release.promise;
    });
    const caller = gateway.beside({ logger });
    open.push(caller);
    // The number of the first one is 2 here, and 1 on the next connection, where the second one is 2.
    await caller.call(PROBE, { isShort: true }, envelope());
    const first = caller.call(PROBE, {}, envelope());
    await eventually('the first one is under way', () => signals.length === 1);
    await gateway.outage.begin();
    await gateway.outage.end();
    await eventually('it is asked for again', () => signals.length === 2);
    const giveUp = new AbortController();
    const second = failureOf(caller.call(PROBE, {}, envelope(), { signal: giveUp.signal }));
    await eventually('the second one is under way', () => signals.length === 3);
    giveUp.abort();
    await second;
    await eventually('it is told', () => signals[2]?.aborted ?? false);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, true]);
    release.open();
    await first;
  });

  it('waits for a gateway that takes longer to answer than a sign of life', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const bus = LinkBus.connect({ url, headers: () => ({}), logger, heartbeatMs: 20 });
    const [socket] = (await once(server, 'connection')) as [Socket];
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([bus.status, socket.destroyed]).toEqual(['connecting', false]);
    await bus.close();
    socket.destroy();
    server.close();
  });

  it.each([
    ['takes connections and says nothing', (server: Server) => server],
    [
      'is no gateway at all',
      (server: Server) => server.on('connection', (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n')),
    ],
  ])('is not deceived by what %s', async (_what, prepare) => {
    const server = prepare(createServer()).listen(0, '127.0.0.1');
    const sockets: Socket[] = [];
    server.on('connection', (socket) => void sockets.push(socket));
    await once(server, 'listening');
    const bus = LinkBus.connect({
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      headers: () => ({}),
      logger,
      settings: { graceMs: 50 },
    });
    expect(await failureOf(bus.call(SIDE_PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await bus.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});
