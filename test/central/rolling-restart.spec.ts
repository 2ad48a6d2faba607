import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createNode, setRoutingPolicy, setupRemote } from '@workspace-graph/contracts';
import { expectNoOrphans } from '@workspace-graph/testing';
import { Balancer } from './balancer.js';
import { type CentralWorld, startWorld, statusOf, until } from './central-world.js';
import { KeepAliveClient } from './keep-alive-client.js';
import { Load } from './load.js';
import { openListenStream } from './mcp-streams.js';

/** Several looks of the balancer, also on a machine that has much else to do. */
const DELAY_MS = 4_000;
const SLOW_MACHINE_MS = 30_000;
const FILE = 'wip/Read.md';

let world: CentralWorld;
let balancer: Balancer;
let client: KeepAliveClient;
let load: Load;

beforeAll(async () => {
  world = await startWorld({
    replicas: { 'file-svc': 2 },
    variables: {
      SVC_RATE_LIMIT_PER_MINUTE: '0',
      SVC_ALLOWED_HOSTS: '127.0.0.1',
      SVC_SHUTDOWN_DELAY_MS: String(DELAY_MS),
    },
  });
  balancer = await Balancer.listen(() => world.central.urls);
  client = new KeepAliveClient(balancer.url, world.ada.token);
  await mkdir(join(world.central.volume('files'), 'folders', 'team'), { recursive: true });
  await world.ada.call(setupRemote, { name: 'team', type: 'fs', config: { folder: 'team' } });
  const rule = { priority: 100, node_type: null, org_slug: null, remote_name: 'team' };
  await world.ada.call(setRoutingPolicy, { rules: [rule] });
});
afterEach(() => load.end());
afterAll(async () => {
  client.close();
  await balancer[Symbol.asyncDispose]();
  expect(await world.central.stop()).toBe(true);
  await expectNoOrphans();
});

async function startLoad(name: string): Promise<{ readonly running: Promise<void> }> {
  const ada = world.ada.at(balancer.url);
  const node = await ada.call(createNode, { type: 'organization', name });
  const headers = { 'content-type': 'text/plain', 'if-none-match': '*' };
  const address = `/nodes/${node.id}/file?path=${encodeURIComponent(FILE)}`;
  const made = await ada.fetch(address, { method: 'PUT', body: 'Read all the time.', headers });
  expect(made.status).toBe(201);
  load = new Load([client], node, FILE);
  const running = load.run();
  await goOn();
  return { running };
}

async function goOn(): Promise<void> {
  const before = load.done;
  await until('the load goes on', () => load.done > before + 100, SLOW_MACHINE_MS);
}

describe('a rolling restart under load', () => {
  it.each(['graph-svc', 'session-svc', 'file-svc', 'gateway'])(
    'of every %s costs a client that keeps its connections as HTTP asks no request [edge.shutdown.announced, edge.shutdown.graceful]',
    async (service) => {
      const { running } = await startLoad(`Restarted ${service}`);
      for (const old of world.central.instances(service).slice()) {
        const url = world.central.opsUrl(old);
        const stopping = old.stop();
        await until('it says that it is not ready', async () => (await statusOf(url, '/health/ready')) !== 200);
        expect(await stopping).toBe(true);
        await world.central.add(service);
        await goOn();
      }
      load.end();
      await running;
      expect(load.failed).toEqual([]);
      const { events, audited } = await load.written(world.ada.at(balancer.url));
      expect(events).toEqual(load.acknowledged.toSorted());
      expect(audited).toEqual(events);
    },
    120_000,
  );

  it('keeps a stream open while it answers, and ends it before the process [edge.shutdown.announced]', async () => {
    const { running } = await startLoad('Streamed');
    const leaving = await world.central.add('gateway');
    const there = world.ada.at(world.central.opsUrl(leaving));
    const node = await there.call(createNode, { type: 'organization', name: 'Watched' });
    const stream = await openListenStream(there, `svc://node/${node.id}`);
    let isOpen = true;
    void stream.ended.then(() => {
      isOpen = false;
    });
    const stopping = leaving.stop();
    await until('it says that it is not ready', async () => (await statusOf(there.url, '/health/ready')) === 503);
    const answer = await there.fetch('/me');
    expect([answer.status, answer.headers.get('connection'), isOpen]).toEqual([200, 'close', true]);
    await stream.ended;
    expect(await stopping).toBe(true);
    load.end();
    await running;
    expect(load.failed).toEqual([]);
  });
});
