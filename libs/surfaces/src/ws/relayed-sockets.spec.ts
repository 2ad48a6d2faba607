import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { InProcessBus } from '@workspace-graph/bus';
import { WebSocket, WebSocketServer } from 'ws';
import type { Admission } from '../edge/admission.js';
import { RelayedSockets } from './relayed-sockets.js';

const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const NODE = '0190a5f0-0000-7000-8000-000000000001';
const admission = { caller: { user_id: 'somebody', scope: 'write' } } as unknown as Admission;

let bus: InProcessBus;
let sockets: RelayedSockets;
let server: WebSocketServer;
beforeEach(async () => {
  bus = new InProcessBus({ logger });
  sockets = new RelayedSockets(bus, logger);
  await sockets.start();
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
});
afterEach(async () => {
  await sockets.stop();
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
  await bus.close();
});

/** A client of this device, with the end of its socket here, and what it was sent. */
async function connected() {
  const accepted = once(server, 'connection');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const frames: unknown[] = [];
  client.on('message', (data) => void frames.push(JSON.parse(String(data))));
  const [here] = (await accepted) as [WebSocket];
  sockets.add(here, admission);
  return { client, here, frames };
}

const changed = (node_id = NODE): Promise<void> =>
  bus.publish({ type: 'sync.changed', id: crypto.randomUUID(), payload: { node_id } });
async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

it('tells of folders on this device whoever has asked for it, until it asks for something else', async () => {
  const [asking, silentOne] = [await connected(), await connected()];
  sockets.watch(asking.here, true);
  await changed();
  await changed();
  await eventually(() => asking.frames.length > 0);
  expect(asking.frames).toEqual([{ type: 'sync_changed', payload: { node_ids: [NODE], everything: false } }]);
  sockets.watch(asking.here, false);
  sockets.watch(silentOne.here, true);
  const other = NODE.replace(/1$/, '2');
  await changed(other);
  await eventually(() => silentOne.frames.length > 0);
  expect(silentOne.frames).toEqual([{ type: 'sync_changed', payload: { node_ids: [other], everything: false } }]);
  expect(asking.frames).toHaveLength(1);
});

it('tells that anything may be different when the way to the centre has come or gone', async () => {
  const statuses = new Set<() => void>();
  const watched = new RelayedSockets(
    {
      subscribe: (...given) => bus.subscribe(...given),
      onStatus: (listener) => {
        const told = () => listener('ready');
        statuses.add(told);
        return () => statuses.delete(told);
      },
    },
    logger,
  );
  await watched.start();
  const { here, frames } = await connected();
  watched.add(here, admission);
  watched.watch(here, true);
  for (const tell of statuses) tell();
  await eventually(() => frames.length > 0);
  expect(frames).toEqual([{ type: 'sync_changed', payload: { node_ids: [], everything: true } }]);
  await watched.stop();
  expect(statuses.size).toBe(0);
});

it('forgets a client that has closed', async () => {
  const [gone, there] = [await connected(), await connected()];
  for (const { here } of [gone, there]) sockets.watch(here, true);
  const closed = once(gone.here, 'close');
  gone.client.close();
  await closed;
  sockets.watch(gone.here, true);
  await changed();
  await eventually(() => there.frames.length > 0);
  expect(gone.frames).toEqual([]);
});
