import { Secret } from '../config/index.js';
import { Health } from '../health/index.js';
import { createLogger } from '../logging/index.js';
import { Metrics } from '../metrics/index.js';
import { OpsServer } from './ops-server.js';

describe('the server for operators', () => {
  it('tells liveness and readiness and nothing else [edge.health.live-ready]', async () => {
    const health = new Health(createLogger({ process: 'test', level: 'fatal' }));
    const server = await OpsServer.listen({
      host: '127.0.0.1',
      port: 0,
      health,
      metrics: new Metrics({ process: false }),
    });
    const get = async (path: string) => {
      const response = await fetch(`${server.url}${path}`);
      return [response.status, await response.text()];
    };

    const answers = [await get('/health/live'), await get('/health/ready')];
    health.stop();
    answers.push(await get('/health/ready'), await get('/health/live'), await get('/other'));
    await server.close();

    expect(answers).toEqual([
      [200, '{"status":"ok"}'],
      [200, '{"status":"ok"}'],
      [503, '{"status":"unavailable"}'],
      [200, '{"status":"ok"}'],
      [404, '{"status":"not found"}'],
    ]);
  });

  it('shows metrics to who has the token [edge.metrics]', async () => {
    const health = new Health(createLogger({ process: 'test', level: 'fatal' }));
    const metrics = new Metrics({ process: false });
    metrics.operation('get_node', 'ok', 0.001);
    const server = await OpsServer.listen({
      host: '127.0.0.1',
      port: 0,
      health,
      metrics,
      metricsToken: new Secret('abc'),
    });

    const without = await fetch(`${server.url}/metrics`);
    const withToken = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer abc' } });
    await server.close();

    expect([without.status, withToken.status]).toEqual([401, 200]);
    expect(await withToken.text()).toContain('operation="get_node"');
  });
});
