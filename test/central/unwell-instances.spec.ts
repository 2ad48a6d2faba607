import { createNode } from '@workspace-graph/contracts';
import { type CentralProcess, expectNoOrphans } from '@workspace-graph/testing';
import { type CentralWorld, startWorld, statusOf, until } from './central-world.js';
import { Load } from './load.js';
import { type ProxyMode, TcpProxy } from './tcp-proxy.js';

/** Enough for a machine that has much else to do; what is waited for depends on timers of some ten seconds at most. */
const SLOW_MACHINE_MS = 30_000;
const TEST_MS = 120_000;

let world: CentralWorld;
let database: TcpProxy;
let broker: TcpProxy;
/** The one of two graph services that reaches database and broker through the proxies. */
let unwell: CentralProcess;
let load: Load;

beforeAll(async () => {
  world = await startWorld({ replicas: { 'graph-svc': 1 }, variables: { SVC_RATE_LIMIT_PER_MINUTE: '0' } });
  const databaseUrl = new URL(world.central.databaseUrl);
  database = await TcpProxy.listen(Number(databaseUrl.port));
  broker = await TcpProxy.listen(world.central.nats.port);
  databaseUrl.port = String(database.port);
  unwell = await world.central.add('graph-svc', {
    compose: (text) =>
      text
        .replace('SVC_DATABASE_URL_FILE: /run/secrets/database_url', `SVC_DATABASE_URL: ${databaseUrl.href}`)
        .replaceAll('nats://nats:4222', `nats://127.0.0.1:${broker.port}`),
  });
});
afterEach(() => load.end());
afterAll(async () => {
  for (const proxy of [database, broker]) proxy.set('open');
  expect(await world.central.stop()).toBe(true);
  await Promise.all([database, broker].map((proxy) => proxy[Symbol.asyncDispose]()));
  await expectNoOrphans();
});

async function startLoad(name: string): Promise<{ readonly running: Promise<void> }> {
  const node = await world.ada.call(createNode, { type: 'organization', name });
  load = new Load(
    world.urls.map((url) => world.ada.at(url)),
    node,
  );
  const running = load.run();
  await until('the load runs', () => load.done > 50, SLOW_MACHINE_MS);
  return { running };
}

const readiness = (): Promise<number> => statusOf(world.central.opsUrl(unwell), '/health/ready');

/** Operations that the unwell instance has carried out. */
async function carriedOut(): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', world.central.opsUrl(unwell)))).text();
  const counts = [...metrics.matchAll(/^workspace_graph_\w+_count\{operation="[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function goOn(): Promise<void> {
  const before = load.done;
  await until('the load goes on', () => load.done > before + 200, SLOW_MACHINE_MS);
}

/** The unwell instance takes calls again, nothing failed, and no write happened twice or not at all. */
async function expectRecovery(running: Promise<void>): Promise<void> {
  await until('it is ready again', async () => (await readiness()) === 200, SLOW_MACHINE_MS);
  const before = await carriedOut();
  await until('it works again', async () => (await carriedOut()) > before + 20, SLOW_MACHINE_MS);
  load.end();
  await running;
  expect(load.failed).toEqual([]);
  const { events, audited } = await load.written(world.ada);
  expect(events).toEqual(load.acknowledged.toSorted());
  expect(audited).toEqual(events);
}

describe('one of two graph services', () => {
  it.each<[string, ProxyMode]>([
    ['ended', 'refused'],
    ['cut', 'silent'],
  ])(
    'whose connections to the database are %s leaves its calls to the other, and comes back [bus.unwell-instance.left, bus.refusal.tried-elsewhere]',
    async (_how, mode) => {
      const { running } = await startLoad(`Database ${mode}`);
      database.set(mode);
      await until('it says that it is not ready', async () => (await readiness()) === 503, SLOW_MACHINE_MS);
      await goOn();
      database.set('open');
      await expectRecovery(running);
    },
    TEST_MS,
  );

  it(
    'that is frozen is left by its callers and by the broker, and comes back [bus.unwell-instance.left]',
    async () => {
      const { running } = await startLoad('Frozen');
      process.kill(unwell.pid, 'SIGSTOP');
      try {
        await goOn();
        await until('the broker has left it', () => broker.open === 0, SLOW_MACHINE_MS);
        await goOn();
      } finally {
        process.kill(unwell.pid, 'SIGCONT');
      }
      await expectRecovery(running);
    },
    TEST_MS,
  );

  it(
    'that is cut off from the broker is left, and comes back [bus.unwell-instance.left]',
    async () => {
      const { running } = await startLoad('Cut off');
      broker.set('silent');
      await until('it says that it is not ready', async () => (await readiness()) === 503, SLOW_MACHINE_MS);
      await goOn();
      broker.set('open');
      await expectRecovery(running);
    },
    TEST_MS,
  );
});
