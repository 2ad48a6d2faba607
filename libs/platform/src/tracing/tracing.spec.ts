import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '../logging/index.js';
import { createTracing, NO_TRACING, parseTraceparent } from './index.js';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const logger = createLogger({ process: 'test', level: 'fatal' });

interface Exported {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Record<string, unknown>[] }[];
  }[];
}

/** Takes what an OpenTelemetry collector takes and keeps it. */
async function startCollector(received: Record<string, unknown>[]): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Exported;
      received.push(...body.resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans)));
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe('tracing', () => {
  const received: Record<string, unknown>[] = [];
  let collector: Server;
  beforeAll(async () => {
    collector = await startCollector(received);
  });
  afterAll(async () => {
    collector.closeAllConnections();
    await new Promise((resolve) => collector.close(resolve));
  });

  it('sends the steps of one request as one trace, each under the step that caused it [edge.traces]', async () => {
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const tracing = await createTracing({ url, ratio: 1, process: 'gateway', logger });

    const edge = tracing.start('GET /nodes/{node_id}', {
      kind: 'server',
      parent: PARENT,
      attributes: { request_id: 'r-1' },
    });
    const service = tracing.start('get_node', { kind: 'server', parent: edge.traceparent });
    service.end({ code: 'INTERNAL', isFault: true });
    edge.end();
    await tracing.close();

    const [inner, outer] = received;
    expect(received).toHaveLength(2);
    expect([inner?.traceId, outer?.traceId]).toEqual([PARENT.slice(3, 35), PARENT.slice(3, 35)]);
    expect(outer?.parentSpanId).toBe('b7ad6b7169203331');
    expect(inner?.parentSpanId).toBe(outer?.spanId);
    expect(inner?.status).toMatchObject({ code: 2 });
    expect(service.traceparent).toBe(`00-${String(inner?.traceId)}-${String(inner?.spanId)}-01`);
  });

  it('costs spans and nothing else when the collector is away', async () => {
    const tracing = await createTracing({ url: 'http://127.0.0.1:9', ratio: 1, process: 'gateway', logger });
    tracing.start('x', { kind: 'internal' }).end();
    const startedAtMs = performance.now();

    await Promise.allSettled([tracing.close()]);
    expect(performance.now() - startedAtMs).toBeLessThan(4_000);
  });

  it('does nothing without a collector but passes the trace of the caller on', async () => {
    const tracing = await createTracing({ ratio: 1, process: 'gateway', logger });

    expect(tracing).toBe(NO_TRACING);
    expect(tracing.start('x', { kind: 'server', parent: PARENT }).traceparent).toBe(PARENT);
    expect(tracing.start('x', { kind: 'server' }).traceparent).toBeUndefined();
  });

  it.each([
    [PARENT, PARENT],
    ['00-00000000000000000000000000000000-b7ad6b7169203331-01', undefined],
    ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', undefined],
    ['01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', undefined],
    [`${PARENT}\r\nx: y`, undefined],
    [undefined, undefined],
    [[PARENT, PARENT], undefined],
  ])('reads trace contexts: case %#', (header, expected) => {
    expect(parseTraceparent(header)).toBe(expected);
  });
});
