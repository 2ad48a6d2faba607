import { type Central, startCentral } from '@workspace-graph/testing';
import { z } from 'zod';
import { httpAim } from './http-aim.js';
import type { Place } from './place.js';

const POOL_SIZE = 10;
const Bootstrapped = z.looseObject({ secret: z.string() });

/** The central workspace of docker-compose.yml from local programs: gateway, NATS, graph-svc, PostgreSQL. */
export async function startCentralPlace(root: string): Promise<Place> {
  // One caller stands for many here.
  const central = await startCentral({ root, durable: true, variables: { SVC_RATE_LIMIT_PER_MINUTE: '0' } });
  try {
    const token = await bootstrap(central);
    const [url] = central.urls;
    if (url === undefined) throw new Error('The central workspace has no gateway');
    const stop = async (): Promise<void> => void (await central.stop());
    return {
      name: 'central',
      title: 'central workspace through gateway and NATS',
      databaseUrl: central.databaseUrl,
      poolSize: POOL_SIZE * central.instances('graph-svc').length,
      url,
      admit: (world) => httpAim(url, token, world),
      processes: () =>
        ['gateway', 'graph-svc'].flatMap((name) =>
          central.instances(name).map(({ pid }, index) => ({ name: `${name} ${index + 1}`, pid })),
        ),
      freshEdge: async () => {
        const service = await timed(() => central.add('graph-svc'));
        const gateway = await timed(() => central.add('gateway'));
        const startedMs = { 'start of a graph-svc': service.tookMs, 'start of a gateway': gateway.tookMs };
        return { url: central.urls.at(-1) ?? url, pid: gateway.result.pid, startedMs };
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await central.stop();
    throw error;
  }
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly tookMs: number }> {
  const startedMs = performance.now();
  const result = await work();
  return { result, tookMs: performance.now() - startedMs };
}

async function bootstrap(central: Central): Promise<string> {
  const command = ['node', 'apps/graph-svc/dist/bundle/bootstrap.js', '--name', 'Benchmark', '--json'];
  const printed = await central.exec('graph-svc', command);
  const line = printed.split('\n').findLast((text) => text.startsWith('{'));
  if (line === undefined) throw new Error(`The first administrator was not made:\n${printed}`);
  return Bootstrapped.parse(JSON.parse(line)).secret;
}
