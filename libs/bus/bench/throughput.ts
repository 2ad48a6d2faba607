import { randomUUID } from 'node:crypto';
import { query, RawJson, serviceCaller } from '@workspace-graph/contracts';
import { z } from 'zod';
import { type Bus, InProcessBus, NatsBus, whenReady } from '../src/index.js';

/**
 * Measures calls per second and latency of both transports, caller and instance in separate processes for NATS:
 *   node --conditions=@workspace-graph/source --experimental-transform-types --import ./libs/bus/bench/hooks.mjs \
 *     libs/bus/bench/throughput.ts nats://127.0.0.1:PORT
 * With `serve` as a second argument it is the instance.
 */
const ECHO = query({
  name: 'bench_echo',
  owner: 'graph',
  tier: 'internal',
  reach: 'internal',
  doc: 'Echo.',
  input: z.looseObject({}),
  output: z.unknown(),
  timeoutMs: 30_000,
});
const LARGE = { ...ECHO, name: 'bench_large' };
const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: console.warn, error: console.error };
const INPUT = { node_id: randomUUID(), include: ['edges', 'events'], limit: 50, text: 'x'.repeat(200) };

async function serve(bus: Bus): Promise<void> {
  const large = new RawJson(JSON.stringify('x'.repeat(32 * 1_048_576)));
  await bus.serve('graph', [ECHO, LARGE], async (operation, input) => (operation.name === LARGE.name ? large : input));
}

async function measure(
  bus: Bus,
  inFlight: number,
  calls: number,
): Promise<{ perSecond: number; p50: number; p99: number }> {
  const tookMs: number[] = [];
  let left = calls;
  const caller = { user_id: randomUUID(), scope: 'write', credential_id: randomUUID(), via: 'rest' } as const;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const startMs = performance.now();
      await bus.call(ECHO, INPUT, { callId: randomUUID(), requestId: randomUUID(), caller });
      tookMs.push(performance.now() - startMs);
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - startMs) / 1_000;
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(tookMs.length * share)] ?? Number.NaN;
  return { perSecond: Math.round(calls / seconds), p50: at(0.5), p99: at(0.99) };
}

async function report(name: string, bus: Bus, calls: number): Promise<void> {
  await measure(bus, 16, calls / 4);
  for (const inFlight of [1, 64]) {
    const { perSecond, p50, p99 } = await measure(bus, inFlight, inFlight === 1 ? calls / 4 : calls);
    console.log(
      `${name.padEnd(12)} in flight ${String(inFlight).padStart(2)}: ${perSecond} calls/s, p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`,
    );
  }
  const startMs = performance.now();
  for (let round = 0; round < 5; round += 1)
    await bus.call(LARGE, {}, { callId: randomUUID(), requestId: randomUUID(), caller: serviceCaller('bench') });
  console.log(`${name.padEnd(12)} replies of 32 MB: ${Math.round(160_000 / (performance.now() - startMs))} MB/s`);
}

const [, , servers, role] = process.argv;
if (role === 'serve' && servers) {
  await serve(NatsBus.connect({ servers, name: 'bench-server', logger }));
} else {
  const local = new InProcessBus({ logger });
  await serve(local);
  await report('in-process', local, 100_000);
  await local.close();
  if (servers) {
    const bus = NatsBus.connect({ servers, name: 'bench', logger });
    await whenReady(bus);
    await report('nats', bus, 40_000);
    await bus.close();
  }
}
