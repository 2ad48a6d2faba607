import { centralOperationsOf } from '@workspace-graph/contracts';
import { SERVICES } from '@workspace-graph/platform';
import { type Central, type CentralProcess, expectNoOrphans, startCentral } from '@workspace-graph/testing';
import pg from 'pg';
import { ROOT, statusOf, until } from './central-world.js';

const ANY_ID = '01890000-0000-7000-8000-00000000dead';

let central: Central;
const log: string[] = [];

beforeAll(async () => {
  central = await startCentral({
    root: ROOT,
    replicas: { 'graph-svc': 0, gateway: 0 },
    onLine: (_service, line) => void log.push(line),
  });
});
afterAll(async () => {
  await central.stop();
  await expectNoOrphans();
});

async function migrationsApplied(): Promise<number[]> {
  const client = new pg.Client({ connectionString: central.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM _prisma_migrations GROUP BY migration_name',
  );
  await client.end();
  return rows.map((row) => row.count);
}

describe('a central workspace that is started', () => {
  it('while broker and database are down becomes ready by itself, and migrates once [bus.start-before-broker, graph.migration.applied-once, edge.health.ready-follows-dependencies]', async () => {
    await Promise.all([central.nats.kill('SIGKILL'), central.postgres.kill('SIGINT')]);
    const services = ['graph-svc', 'graph-svc', 'gateway'];
    const starting = Promise.all(services.map((service) => central.add(service)));
    const addresses = (): string[] =>
      ['graph-svc', 'gateway'].flatMap((name) => central.instances(name).map((instance) => central.opsUrl(instance)));
    const all = async (path: string, status: number): Promise<boolean> => {
      const answers = await Promise.all(addresses().map((url) => statusOf(url, path)));
      return answers.length === services.length && answers.every((answer) => answer === status);
    };
    await until('all live', () => all('/health/live', 200));
    expect(await all('/health/ready', 503)).toBe(true);
    await central.nats.restart();
    const [gateway = ''] = central.urls;
    await until('the gateway is ready', async () => (await statusOf(gateway, '/health/ready')) === 200);
    expect(await all('/health/ready', 503)).toBe(false);
    await central.postgres.restart();
    await starting;
    expect(await all('/health/ready', 200)).toBe(true);
    const applied = await migrationsApplied();
    expect(applied.length).toBeGreaterThan(0);
    expect(new Set(applied)).toEqual(new Set([1]));
  });

  it('and stopped while the database is down ends cleanly', async () => {
    await central.postgres.kill('SIGINT');
    const before = central.instances('graph-svc');
    const starting = expect(central.add('graph-svc')).rejects.toThrow('ended before it was ready');
    const joined = (): CentralProcess | undefined =>
      central.instances('graph-svc').find((instance) => !before.includes(instance));
    try {
      await until('it waits', () => joined()?.lines.some((line) => line.includes('cannot be reached yet')) === true);
      expect(await joined()?.stop()).toBe(true);
      await starting;
    } finally {
      await central.postgres.restart();
    }
  });

  it('is open to nobody before its first administrator is made, whatever the route [identity.nothing-open-by-default, identity.every-route-authenticated]', async () => {
    const [url = ''] = central.urls;
    const bound = centralOperationsOf(SERVICES.gateway.calls).flatMap(({ rest }) => (rest ? [rest] : []));
    const routes = [
      ...bound.map(({ method, path }) => [method, path.replace(/\{\w+\}/g, ANY_ID)] as const),
      ...([
        ['POST', '/import'],
        ['GET', '/openapi.json'],
        ['POST', '/mcp'],
        ['GET', '/mcp'],
        ['GET', '/metrics'],
      ] as const),
    ];
    const open: string[] = [];
    for (const [method, path] of routes) {
      // As through a proxy: metrics are open to this machine itself.
      const response = await fetch(new URL(path, url), { method, headers: { 'x-forwarded-for': '203.0.113.7' } });
      if (response.status !== 401) open.push(`${method} ${path} ${response.status}`);
      await response.text();
    }
    expect(open).toEqual([]);
    const invented = await fetch(new URL('/me', url), {
      headers: { authorization: `Bearer svc_pat_${'A'.repeat(43)}` },
    });
    expect(invented.status).toBe(401);
  });
});

/** A mistake in the compose file: the service it hits, how the file is altered, and what must be said. */
type Mistake = readonly [what: string, service: string, from: RegExp | string, to: string, says: RegExp];

const OF_GRAPH_SVC = 'SVC_NATS_USER: graph-svc\n';

/** The process ends and says what is wrong, or is not even started. */
const REFUSED: readonly Mistake[] = [
  [
    'a misspelt variable',
    'graph-svc',
    'SVC_OTLP_URL:',
    'SVC_OTPL_URL:',
    /SVC_OTPL_URL: there is no such variable; did you mean SVC_OTLP_URL\?/,
  ],
  [
    'a value that cannot be used',
    'gateway',
    /SVC_RATE_LIMIT_PER_MINUTE: .*/,
    'SVC_RATE_LIMIT_PER_MINUTE: many',
    /SVC_RATE_LIMIT_PER_MINUTE: must be a whole number/,
  ],
  [
    'a forgotten address of the broker',
    'gateway',
    /SVC_NATS_URL: .*\n\s+SVC_NATS_USER: gateway/,
    'SVC_NATS_USER: gateway',
    /SVC_NATS_URL/,
  ],
  [
    'a secret of another name',
    'graph-svc',
    '/run/secrets/database_url',
    '/run/secrets/database',
    /SVC_DATABASE_URL_FILE: the file cannot be read/,
  ],
  [
    'a secret that the service does not get',
    'graph-svc',
    'secrets: [database_url, nats_graph_svc_password]',
    'secrets: [nats_graph_svc_password]',
    /SVC_DATABASE_URL_FILE: the file cannot be read: it does not exist/,
  ],
  [
    'the password of another service',
    'gateway',
    '/run/secrets/nats_gateway_password',
    '/run/secrets/nats_graph_svc_password',
    /SVC_NATS_PASSWORD_FILE: the file cannot be read: it does not exist/,
  ],
  [
    'a program that is not there',
    'graph-svc',
    'apps/graph-svc/dist/bundle/main.js',
    'apps/graph-svc/dist/bundle/mian.js',
    /Cannot find module/,
  ],
  [
    'a health check on another port',
    'gateway',
    "fetch('http://127.0.0.1:4010",
    "fetch('http://127.0.0.1:4011",
    /the health check asks port 4011, the service listens on 4010/,
  ],
];

/** The process runs and does not become ready, and its log tells why. */
const NEVER_READY: readonly Mistake[] = [
  [
    'a bus user that the broker does not know',
    'graph-svc',
    OF_GRAPH_SVC,
    'SVC_NATS_USER: graph-service\n',
    /NATS rejects the credentials/,
  ],
  [
    'the password of another user',
    'gateway',
    /SVC_NATS_PASSWORD_FILE: .*\n(?=\s+SVC_REDIS_URL_FILE)([\s\S]*?)secrets: \[nats_gateway_password,/,
    'SVC_NATS_PASSWORD_FILE: /run/secrets/nats_graph_svc_password\n$1secrets: [nats_graph_svc_password,',
    /NATS rejects the credentials/,
  ],
  [
    'no password',
    'gateway',
    /SVC_NATS_USER: gateway\n\s+SVC_NATS_PASSWORD_FILE: .*/,
    'SVC_NATS_USER: gateway',
    /NATS rejects the credentials/,
  ],
  [
    'a broker of another name',
    'gateway',
    /nats:\/\/nats:4222(?=\n\s+SVC_NATS_USER: gateway)/,
    'nats://broker:4222',
    /NATS cannot be reached/,
  ],
  [
    'a network without the broker',
    'gateway',
    /(?<=file-svc: \{ condition: service_healthy \}\n {4}networks: )\[inner, outer\]/,
    '[outer]',
    /NATS cannot be reached/,
  ],
];

describe('a mistake in the compose file', () => {
  const attempt = ([what, service, from, to]: Mistake): Promise<string> => {
    const compose = (text: string): string => {
      const altered = text.replace(from, to);
      if (altered === text) throw new Error(`The compose file no longer holds what would be altered: ${what}`);
      return altered;
    };
    return central.add(service, { compose }).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
  };

  it.each(REFUSED)(
    'stops the start: %s [config.compose.truthful, config.unknown.central-error]',
    async (...mistake) => {
      expect(await attempt(mistake)).toMatch(mistake[4]);
    },
  );

  it.each(NEVER_READY)('keeps the process from becoming ready: %s [config.compose.truthful]', async (...mistake) => {
    const [what, service, , , says] = mistake;
    const before = central.instances(service);
    const starting = attempt(mistake);
    const joined = (): CentralProcess | undefined =>
      central.instances(service).find((instance) => !before.includes(instance));
    await until(`${what} is told`, () => joined()?.lines.some((line) => says.test(line)) === true);
    const instance = joined();
    expect(instance && (await statusOf(central.opsUrl(instance), '/health/ready'))).not.toBe(200);
    await instance?.kill();
    expect(await starting).toMatch(/ended before it was ready/);
  });

  it('is found before anything starts: a variable that .env lacks', async () => {
    await expect(central.add('gateway', { variables: { SVC_PUBLIC_URL: '' } })).rejects.toThrow(
      'docker-compose.yml needs SVC_PUBLIC_URL',
    );
  });

  it('shows none of the passwords to who reads what went wrong', () => {
    const text = log.join('\n');
    expect(central.passwords).toHaveLength(9);
    for (const password of central.passwords) expect(text.includes(password)).toBe(false);
  });
});
