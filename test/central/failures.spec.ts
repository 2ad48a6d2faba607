import { setTimeout as sleep } from 'node:timers/promises';
import { createNode, exportGraph, type GraphDocument, listNodes, whoami } from '@workspace-graph/contracts';
import { type CentralProcess, expectNoOrphans } from '@workspace-graph/testing';
import pg from 'pg';
import { type CentralWorld, startWorld, statusOf, until } from './central-world.js';
import { Load, type Outcome } from './load.js';
import type { RestClient } from './rest-client.js';

const REQUESTS = 500;
const UNAVAILABLE = '503 SERVICE_UNAVAILABLE';

let world: CentralWorld;
/** The administrator at both gateways. */
let both: readonly RestClient[];
const loads: Load[] = [];

beforeAll(async () => {
  // One caller stands for many here, and what the database has acknowledged must survive its crash.
  world = await startWorld({ durable: true, variables: { SVC_RATE_LIMIT_PER_MINUTE: '0' } });
  both = world.urls.map((url) => world.ada.at(url));
});
afterAll(async () => {
  expect(await world.central.stop()).toBe(true);
  await expectNoOrphans();
});

// What a failed test leaves running would never end.
afterEach(() => {
  for (const load of loads.splice(0)) load.end();
});

async function newLoad(name: string, clients = both): Promise<Load> {
  const load = new Load(clients, await world.ada.call(createNode, { type: 'organization', name }));
  loads.push(load);
  return load;
}

function first(service: string): CentralProcess {
  const [instance] = world.central.instances(service);
  if (!instance) throw new Error(`No instance of ${service} runs`);
  return instance;
}

/** Every write was acknowledged and carried out once, by the events and by the audit trail. */
async function expectNothingLost(load: Load): Promise<void> {
  expect(load.failed).toEqual([]);
  expect(load.acknowledged).toHaveLength(REQUESTS / 2);
  const { events, audited } = await load.written(world.ada);
  expect(events).toEqual(load.acknowledged.toSorted());
  expect(audited).toEqual(events);
}

/** Every acknowledged write is there, and none is there twice, whatever became of the others. */
async function expectNothingTwice(load: Load): Promise<void> {
  const { events, audited } = await load.written(world.ada);
  expect(events).toEqual([...new Set(events)]);
  expect(audited).toEqual(events);
  expect(load.acknowledged.filter((content) => !events.includes(content))).toEqual([]);
}

describe('while requests stream in', () => {
  it('a killed graph service costs no request, and every write happens once [bus.instance-death.no-failed-request]', async () => {
    const load = await newLoad('Killed');
    const running = load.run(REQUESTS);
    await until('a third is done', () => load.done > REQUESTS / 3);
    await first('graph-svc').kill();
    await running;
    await expectNothingLost(load);
    await world.central.add('graph-svc');
  });

  it('a graph service that is stopped and one that joins cost no request either [bus.drain, edge.shutdown.graceful]', async () => {
    const load = await newLoad('Stopped');
    const running = load.run(REQUESTS);
    await until('a fifth is done', () => load.done > REQUESTS / 5);
    const joining = world.central.add('graph-svc');
    expect(await first('graph-svc').stop()).toBe(true);
    await Promise.all([joining, running]);
    await expectNothingLost(load);
  });

  it('a gateway that is stopped answers what it has taken, and the others go on [edge.shutdown.graceful]', async () => {
    const third = await world.central.add('gateway');
    const leaving = world.ada.at(world.central.opsUrl(third));
    const load = await newLoad('Left');
    const running = load.run(REQUESTS);
    const slow = Promise.withResolvers<void>();
    const text = JSON.stringify({ type: 'organization', name: 'Slowly sent' });
    const body = new ReadableStream<Uint8Array>({
      start: (sender) => sender.enqueue(Buffer.from(text.slice(0, 20))),
      pull: async (sender) => {
        await slow.promise;
        sender.enqueue(Buffer.from(text.slice(20)));
        sender.close();
      },
    });
    const headers = { 'content-type': 'application/json' };
    const answering = leaving.fetch('/nodes', { method: 'POST', headers, body, duplex: 'half' });
    await sleep(300);
    const stopping = third.stop();
    await until('it refuses what is new', async () => (await statusOf(leaving.url, '/health/ready')) !== 200);
    slow.resolve();
    expect((await answering).status).toBe(201);
    expect(await stopping).toBe(true);
    await running;
    await expectNothingLost(load);
  });

  it('a killed gateway loses nothing that it had acknowledged, and the others go on', async () => {
    const third = await world.central.add('gateway');
    const elsewhere = await newLoad('Elsewhere');
    const there = await newLoad('There', [world.ada.at(world.central.opsUrl(third))]);
    const running = Promise.all([elsewhere.run(REQUESTS), there.run(REQUESTS)]);
    await until('a fifth is done', () => there.done > REQUESTS / 5);
    await third.kill();
    await running;
    await expectNothingLost(elsewhere);
    expect(there.failed.length).toBeGreaterThan(0);
    await expectNothingTwice(there);
  });
});

describe('an import', () => {
  function document(nodes: number): string {
    const members = Array.from({ length: nodes }, (_, index) => ({
      key: `p${index}`,
      type: 'project',
      name: `Imported ${index}`,
      organization: 'o',
    }));
    return JSON.stringify({
      format: 'workspace-graph/1',
      nodes: [{ key: 'o', type: 'organization', name: 'Imported' }, ...members],
    });
  }

  /** The instance that is in one transaction for a while already. */
  async function workingInstance(client: pg.Client): Promise<CentralProcess> {
    for (const startedMs = Date.now(); Date.now() - startedMs < 60_000; await sleep(20)) {
      const { rows } = await client.query<{ name: string }>(
        `SELECT application_name AS name FROM pg_stat_activity
         WHERE application_name LIKE 'graph-svc %' AND xact_start < clock_timestamp() - interval '100 ms'`,
      );
      const found = world.central
        .instances('graph-svc')
        .find(({ pid }) => rows.some(({ name }) => name.endsWith(` ${pid}`)));
      if (found) return found;
    }
    throw new Error('No instance works on the import');
  }

  it('is finished by another instance when the one that works on it is killed [bus.instance-death.no-failed-request, graph.import.one-transaction]', async () => {
    const client = new pg.Client({ connectionString: world.central.databaseUrl });
    await client.connect();
    const importing = world.ada.import(document(4_000));
    const working = await workingInstance(client);
    await working.kill();
    await client.end();
    const answer = await importing;
    expect([answer.status, await answer.json()]).toMatchObject([200, { applied: true, created: { nodes: 4_001 } }]);
    const exported: GraphDocument = await world.ada.call(exportGraph, {});
    expect(exported.nodes.filter((node) => node.name.startsWith('Imported'))).toHaveLength(4_001);
    expect(exported.audit.filter((entry) => entry.action === 'run_import')).toHaveLength(1);
    await world.central.add('graph-svc');
  });
});

describe.each([
  ['the broker', 'nats', ['gateway', 'graph-svc']],
  ['the database', 'postgres', ['graph-svc']],
] as const)('while %s is down', (_what, store, concerned) => {
  const statuses = (path: string, services: readonly string[]): Promise<number[]> => {
    const instances = services.flatMap((service) => world.central.instances(service));
    return Promise.all(instances.map((instance) => statusOf(world.central.opsUrl(instance), path)));
  };
  const readiness = (): Promise<number[]> => statuses('/health/ready', concerned);

  it('requests are refused as unavailable and nothing else, and everything recovers by itself [errors.service-unavailable, edge.health.ready-follows-dependencies, bus.reconnect]', async () => {
    const load = await newLoad(`During ${store}`);
    const running = load.run();
    await until('the load runs', () => load.done > 50);
    const killedMs = performance.now();
    await world.central[store].kill('SIGKILL');
    await until('each process says that it is not ready', async () =>
      (await readiness()).every((status) => status === 503),
    );
    const noticedMs = performance.now();
    const [lives, ...refusals] = await Promise.all([
      statuses('/health/live', ['gateway', 'graph-svc']),
      world.ada.refusal(createNode, { type: 'organization', name: 'Never' }),
      world.ada.refusal(listNodes, {}),
      world.ada.at(world.urls[1]).refusal(whoami, {}),
    ]);
    expect(new Set(lives)).toEqual(new Set([200]));
    expect(refusals.map(({ status, code }) => `${status} ${code}`)).toEqual(Array(3).fill(UNAVAILABLE));
    await world.central[store].restart();
    const restartedMs = performance.now();
    await until(
      'each process is ready again',
      async () => (await readiness()).every((status) => status === 200),
      30_000,
    );
    const readyMs = performance.now();
    const doneBefore = load.done;
    await until('the load goes on', () => load.done > doneBefore + 100);
    load.end();
    await running;

    // What may have been received waits for its answer as long as its time allows; a slow machine may take longer.
    const mayTimeOut = ({ code, sentMs }: Outcome): boolean => code === 'TIMEOUT' && sentMs < noticedMs;
    const surprising = load.failed.filter((one) => `${one.status} ${one.code}` !== UNAVAILABLE && !mayTimeOut(one));
    expect(surprising).toEqual([]);
    const recoveredMs = Math.max(readyMs, restartedMs + 2_500);
    expect(load.failed.filter(({ atMs }) => atMs < killedMs || atMs > recoveredMs)).toEqual([]);
    await expectNothingTwice(load);
  });
});
