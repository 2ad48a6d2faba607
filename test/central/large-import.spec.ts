import { existsSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ImportReport, whoami } from '@workspace-graph/contracts';
import type { CentralProcess } from '@workspace-graph/testing';
import type { z } from 'zod';
import { type CentralWorld, startWorld } from './central-world.js';
import { largeDocument } from './large-document.js';

const NODES = Number(process.env['SVC_IMPORT_NODES'] ?? 12_000);
const TEXT_LENGTH = Number(process.env['SVC_IMPORT_TEXT'] ?? 1_000);
/** Of JavaScript's heap: enough for the service, and less than it takes to hold such a document. */
const HEAP_MB = 80;
const MOST_ABOVE_IDLE_MB = 150;

let world: CentralWorld;
let service: CentralProcess;
beforeAll(async () => {
  world = await startWorld({ replicas: { gateway: 1, 'graph-svc': 1 } });
  const [first] = world.central.instances('graph-svc');
  const place = 'SVC_OPS_HOST: 0.0.0.0';
  service = await world.central.add('graph-svc', {
    compose: (text) => text.replace(place, `${place}\n      NODE_OPTIONS: --max-old-space-size=${HEAP_MB}`),
  });
  await first?.stop();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Memory of a process in MB, the most so far and now; 0 where the system does not tell. */
function memoryMb(pid: number): { readonly most: number; readonly now: number } {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1_024;
  return { most: of('VmHWM'), now: of('VmRSS') };
}

let sentBytes = 0;
function* documentBytes(): Generator<Buffer> {
  sentBytes = 0;
  for (const piece of largeDocument({ nodes: NODES, textLength: TEXT_LENGTH })) {
    const bytes = Buffer.from(piece);
    sentBytes += bytes.length;
    yield bytes;
  }
}

async function importDocument(): Promise<z.infer<typeof ImportReport>> {
  const body = Readable.toWeb(Readable.from(documentBytes())) as ReadableStream<Uint8Array>;
  const headers = { 'content-type': 'application/json' };
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, headers, duplex: 'half' };
  const response = await world.ada.fetch('/import', init);
  const text = await response.text();
  if (!response.ok) throw new Error(text.slice(0, 2_000));
  return JSON.parse(text) as z.infer<typeof ImportReport>;
}

/** Makes a light call again and again until the promise is settled. Answers how long each took, in ms, shortest first. */
async function callsDuring(promise: Promise<unknown>): Promise<number[]> {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  void promise.then(end, end);
  const tookMs: number[] = [];
  while (!isDone) {
    const startedMs = performance.now();
    await world.ada.call(whoami, {});
    tookMs.push(performance.now() - startedMs);
    await sleep(10);
  }
  return tookMs.toSorted((one, other) => one - other);
}

describe('a document that is larger than the memory of the service', () => {
  it.each([
    ['is imported in bounded memory, while others are answered', 'created'],
    ['changes nothing when it comes again', 'unchanged'],
  ] as const)(
    '%s [graph.import.bounded-memory, graph.import.idempotent-by-key]',
    async (_does, counted) => {
      await callsDuring(sleep(2_000));
      const [idle, startedMs] = [memoryMb(service.pid), performance.now()];
      const importing = importDocument();
      const tookMs = await callsDuring(importing);
      const report = await importing;
      const { most } = memoryMb(service.pid);
      const at = (share: number): string => `${tookMs[Math.floor((tookMs.length - 1) * share)]?.toFixed()} ms`;
      process.stderr.write(
        `import of ${NODES} nodes in ${(sentBytes / 1_048_576).toFixed()} MB: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s, ` +
          `memory ${idle.now.toFixed()} MB before, at most ${most.toFixed()} MB; ${tookMs.length} light calls: p50 ${at(0.5)}, p99 ${at(0.99)}, slowest ${at(1)}\n`,
      );
      expect(report).toMatchObject({ applied: true, updated: {} });
      expect(report[counted]).toMatchObject({
        nodes: NODES + 1,
        edges: NODES - 1,
        events: NODES,
        responsibilities: NODES,
      });
      expect(service.isRunning).toBe(true);
      expect(most - idle.now).toBeLessThan(MOST_ABOVE_IDLE_MB);
    },
    1_300_000,
  );
});
