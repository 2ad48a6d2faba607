import { connect } from 'node:net';
import { Controller, Get } from '@nestjs/common';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { ANSWER, NODE } from '../../test/edge/example-edge.js';

describe('a surprise in a handler', () => {
  it('reaches the caller as a bare INTERNAL; the log has the cause under the request id [errors.internal, errors.message.no-leak]', async () => {
    @Controller()
    class BrokenController {
      @Get('broken')
      broken(): never {
        throw new Error('SELECT * FROM secrets at /srv/app/x.ts');
      }
    }
    const { EdgeRoute } = await import('./edge-route.js');
    const descriptor = Object.getOwnPropertyDescriptor(BrokenController.prototype, 'broken') ?? {};
    EdgeRoute({ tier: 'read' })(BrokenController.prototype, 'broken', descriptor);
    const edge = await startEdge({ controllers: [BrokenController] });

    const response = await edge.fetch('/broken', { token: edge.tokens.read });
    const body: unknown = await response.json();
    await edge.close();

    expect(response.status).toBe(500);
    expect(body).toEqual({
      code: 'INTERNAL',
      message: 'Something went wrong inside the service.',
      request_id: response.headers.get('x-request-id'),
    });
    expect(edge.log.find((line) => line.includes('SELECT * FROM secrets'))).toContain(
      response.headers.get('x-request-id'),
    );
  });
});

describe('a route without a declared tier', () => {
  it('does not boot, and is named [edge.route-without-tier-does-not-boot]', async () => {
    @Controller()
    class OpenController {
      @Get('left-open')
      read(): string {
        return 'everything';
      }
    }

    await expect(startEdge({ controllers: [OpenController] })).rejects.toThrow(
      'Route GET /left-open declares no access tier',
    );
  });
});

describe('for operators', () => {
  let edge: EdgeHarness;
  let ready = true;
  beforeAll(async () => {
    edge = await startEdge();
    edge.health.add('database', () => ready);
  });
  afterAll(() => edge.close());

  it('health is open to anybody and tells nothing else [edge.health.live-ready, edge.health.ready-follows-dependencies]', async () => {
    const live = await edge.fetch('/health/live');
    const isReady = await edge.fetch('/health/ready');
    ready = false;
    await new Promise((resolve) => setTimeout(resolve, 300));
    const isNotReady = await edge.fetch('/health/ready');

    expect([live.status, isReady.status, isNotReady.status]).toEqual([200, 200, 503]);
    expect([await live.text(), await isReady.text(), await isNotReady.text()]).toEqual([
      '{"status":"ok"}',
      '{"status":"ok"}',
      '{"status":"unavailable"}',
    ]);
  });

  it('metrics count by operation and route, for this machine and for manage [edge.metrics]', async () => {
    await edge.fetch(NODE, { token: edge.tokens.read });
    const text = await (await edge.fetch('/metrics')).text();
    const foreign = { headers: { 'x-forwarded-for': '10.0.0.1' } };
    const refused = await edge.fetch('/metrics', foreign);
    const low = await edge.fetch('/metrics', { ...foreign, token: edge.tokens.write });
    const managed = await edge.fetch('/metrics', { ...foreign, token: edge.tokens.manage });

    expect(text).toContain(
      'workspace_graph_http_request_seconds_count{method="GET",route="/nodes/:node_id",status="404"} 1',
    );
    expect(text).toContain('workspace_graph_bus_call_seconds_count{operation="get_node",outcome="NODE_NOT_FOUND"} 1');
    expect([refused.status, low.status, managed.status]).toEqual([401, 403, 200]);
  });
});

describe('stopping', () => {
  it('answers for a while after it says that it is not ready, and tells its clients to leave [edge.shutdown.announced]', async () => {
    const edge = await startEdge({ dispatch: () => ANSWER });
    const noticed = Promise.withResolvers<void>();
    edge.shutdown.add('announce', 'readiness', () => edge.health.stop());
    edge.shutdown.add('announce', 'balancers', () => noticed.promise);
    edge.shutdown.add('drain', 'http', () => edge.close());
    const look = async (path: string): Promise<unknown[]> => {
      const response = await edge.fetch(path, { token: edge.tokens.read });
      await response.text();
      return [response.status, response.headers.get('connection')];
    };
    const before = [await look('/health/ready'), await look(NODE)];
    const stopped = edge.shutdown.begin('test');
    const meanwhile = [await look('/health/ready'), await look(NODE)];
    noticed.resolve();
    await expect(stopped).resolves.toBe(true);

    expect(before).toEqual([
      [200, 'keep-alive'],
      [200, 'keep-alive'],
    ]);
    expect(meanwhile).toEqual([
      [503, 'close'],
      [200, 'close'],
    ]);
  });

  it('answers what runs, refuses what is new, and tells readiness at once [edge.shutdown.graceful]', async () => {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
    const edge = await startEdge({
      dispatch: () => {
        begun.resolve();
        return released.promise;
      },
    });
    edge.shutdown.add('refuse', 'readiness', () => edge.health.stop());
    edge.shutdown.add('drain', 'http', () => edge.close());
    const running = edge.fetch(NODE, { token: edge.tokens.read });
    await begun.promise;
    const keptOpen = connect(edge.port, '127.0.0.1');
    await new Promise((resolve) => keptOpen.once('connect', resolve));
    const late: Buffer[] = [];
    keptOpen.on('data', (chunk: Buffer) => late.push(chunk));

    const stopped = edge.shutdown.begin('test');
    keptOpen.write(
      `GET ${NODE} HTTP/1.1\r\nHost: 127.0.0.1:${edge.port}\r\nAuthorization: Bearer ${edge.tokens.read.text}\r\n\r\n`,
    );
    while (!late.join('').includes('SERVICE_UNAVAILABLE'))
      await new Promise((resolve) => keptOpen.once('data', resolve));
    released.resolve(ANSWER);

    expect((await running).status).toBe(200);
    await expect(stopped).resolves.toBe(true);
    keptOpen.destroy();
    expect(late.join('')).toMatch(/^HTTP\/1\.1 503 .*"code":"SERVICE_UNAVAILABLE"/s);
  });
});
