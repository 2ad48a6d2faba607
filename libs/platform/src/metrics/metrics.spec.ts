import { Secret } from '../config/index.js';
import { Metrics, mayReadMetrics } from './index.js';

describe('metrics', () => {
  it('count and time by operation, route and pool [edge.metrics]', async () => {
    const metrics = new Metrics({ process: false });
    metrics.operation('get_node', 'ok', 0.002);
    metrics.httpRequest('GET', '/nodes/{node_id}', 200, 0.003);
    metrics.busCall('get_node', 'TIMEOUT', 10);
    metrics.watchPool('database', () => ({ total: 10, idle: 7, waiting: 1 }));
    metrics.watch('bus_ready', 'Whether the bus can be used.', () => 1);

    const text = await metrics.text();

    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'workspace_graph_operation_seconds_count{operation="get_node",outcome="ok"} 1',
        'workspace_graph_operation_seconds_bucket{le="0.0025",operation="get_node",outcome="ok"} 1',
        'workspace_graph_http_request_seconds_count{method="GET",route="/nodes/{node_id}",status="200"} 1',
        'workspace_graph_bus_call_seconds_count{operation="get_node",outcome="TIMEOUT"} 1',
        'workspace_graph_database_pool_connections{state="idle"} 7',
        'workspace_graph_bus_ready 1',
      ]),
    );
  });

  const local = { remoteAddress: '127.0.0.1', headers: { host: 'localhost:4012' } };
  it.each([
    ['this machine', local, undefined, true],
    ['this machine over IPv6', { remoteAddress: '::1', headers: { host: '[::1]:4012' } }, undefined, true],
    ['another machine', { ...local, remoteAddress: '10.1.2.3' }, undefined, false],
    ['a page that rebinds its name', { ...local, headers: { host: 'evil.example:4012' } }, undefined, false],
    [
      'a page of a foreign origin',
      { ...local, headers: { ...local.headers, origin: 'https://evil.example' } },
      undefined,
      false,
    ],
    [
      'a proxy on this machine',
      { ...local, headers: { ...local.headers, 'x-forwarded-for': '10.1.2.3' } },
      undefined,
      false,
    ],
    ['this machine without the token that is set', local, 'abc', false],
    [
      'another machine with the token',
      { remoteAddress: '10.1.2.3', headers: { host: 'x', authorization: 'Bearer abc' } },
      'abc',
      true,
    ],
    [
      'another machine with a wrong token',
      { remoteAddress: '10.1.2.3', headers: { host: 'x', authorization: 'Bearer abd' } },
      'abc',
      false,
    ],
  ])('are shown to %s: %#', (_who, request, token, allowed) => {
    expect(mayReadMetrics(request, token === undefined ? undefined : new Secret(token))).toBe(allowed);
  });
});
