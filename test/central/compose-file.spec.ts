import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeConfig } from '@workspace-graph/platform';
import { parse } from 'yaml';
import { z } from 'zod';
import { natsConf } from '../../deploy/write-nats-conf.mjs';
import { ROOT } from './central-world.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const OURS = ['gateway', 'graph-svc'];

const Text = z.string().min(1);
/** What the file uses of the format, and nothing else: a misspelt key is found here. */
const Service = z.strictObject({
  image: Text,
  build: z.strictObject({ context: z.literal('.'), target: Text }).optional(),
  restart: z.literal('unless-stopped'),
  command: z.array(Text).optional(),
  user: z
    .string()
    .regex(/^[1-9]\d*:[1-9]\d*$/)
    .optional(),
  read_only: z.literal(true).optional(),
  tmpfs: z.array(Text).optional(),
  cap_drop: z.tuple([z.literal('ALL')]).optional(),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]).optional(),
  init: z.literal(true).optional(),
  environment: z.record(z.string().regex(/^[A-Z0-9_]+$/), z.string()).optional(),
  secrets: z.array(Text).optional(),
  volumes: z.array(Text).optional(),
  networks: z.array(Text),
  ports: z.array(Text).optional(),
  depends_on: z.record(Text, z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  healthcheck: z.strictObject({
    test: z.array(Text).refine(([kind]) => kind === 'CMD'),
    interval: z.string().regex(/^\d+s$/),
    timeout: z.string().regex(/^\d+s$/),
    start_period: z
      .string()
      .regex(/^\d+s$/)
      .optional(),
    retries: z.int(),
  }),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  shm_size: Text.optional(),
  deploy: z.strictObject({
    replicas: z.int().min(2).optional(),
    resources: z.strictObject({
      limits: z.strictObject({ cpus: z.string().regex(/^\d+(\.\d+)?$/), memory: z.string().regex(/^\d+[MG]$/) }),
    }),
  }),
});
const File = z.strictObject({
  name: Text,
  services: z.record(Text, Service),
  secrets: z.record(Text, z.strictObject({ file: z.string().regex(/^\.\/deploy\/secrets\/\w+$/) })),
  networks: z.record(Text, z.strictObject({ internal: z.literal(true).optional() })),
  volumes: z.record(Text, z.strictObject({})),
});

const raw = parse(read('docker-compose.yml'), { merge: true }) as Record<string, unknown>;
const file = File.parse(Object.fromEntries(Object.entries(raw).filter(([name]) => !name.startsWith('x-'))));
const services = Object.entries(file.services);

/** Names of the variables that the file takes from `.env`. */
const asked = new Set([...read('docker-compose.yml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name));

/** The variables that a process of ours reads. */
function readBy(process: string): string[] {
  const rows = describeConfig()
    .split('\n')
    .slice(2)
    .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  return rows
    .filter((cells) => cells[5]?.split(', ').includes(process))
    .flatMap((cells) => /`(\w+)`/.exec(cells[1] ?? '')?.[1] ?? []);
}

/** What the compose file leaves at its default, and why. */
const LEFT_OUT = {
  SVC_LOG_FORMAT: 'one object per line is what collectors read',
  SVC_REDIS_URL: 'no operation has background jobs yet',
  SVC_SHUTDOWN_GRACE_MS: 'stop_grace_period is made for the default',
};
const SHUTDOWN_GRACE_S = 10;

describe('the compose file', () => {
  it.each(services)(
    'gives %s a health check, limits, a restart and a version [config.compose.no-secrets-non-root]',
    (name, service) => {
      const version = service.image.split(':').slice(1).join(':');
      expect(version).toMatch(OURS.includes(name) ? /^\$\{SVC_VERSION:-local\}$/ : /\d+\.\d+|-bookworm$|RELEASE\./);
      expect(version).not.toContain('latest');
      expect(service.healthcheck.test.length).toBeGreaterThan(1);
      expect(service.deploy.resources.limits).toEqual({ cpus: expect.any(String), memory: expect.any(String) });
    },
  );

  it.each([...OURS, 'nats'])(
    'takes from %s what it does not need: rights, capabilities, a writable disk [config.compose.no-secrets-non-root]',
    (name) => {
      expect(file.services[name]).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      // The images of ours name their user themselves.
      expect(file.services[name]?.user !== undefined || OURS.includes(name)).toBe(true);
    },
  );

  it('holds no secret, and gives each only to who needs it [config.compose.no-secrets-non-root]', () => {
    for (const [name, service] of services) {
      for (const [variable, value] of Object.entries(service.environment ?? {})) {
        if (/PASSWORD|SECRET|TOKEN|DATABASE_URL/.test(variable))
          expect([name, variable, value]).toEqual([
            name,
            variable,
            expect.stringMatching(/^"?\$\{\w+:[-?][^}]*\}"?$|^\/run\/secrets\/\w+$|^\$\{\w+:-\}$/),
          ]);
        expect(value).not.toMatch(/:\/\/[^/]*:[^/]*@/);
      }
    }
    expect(
      Object.fromEntries(services.filter(([, { secrets }]) => secrets).map(([name, { secrets }]) => [name, secrets])),
    ).toEqual({
      postgres: ['postgres_password'],
      minio: ['minio_password'],
      'graph-svc': ['database_url'],
    });
    const given = services.flatMap(([, { secrets }]) => secrets ?? []);
    expect(given.toSorted()).toEqual(Object.keys(file.secrets).toSorted());
    const passwords = (name: string): string[] =>
      Object.values(file.services[name]?.environment ?? {}).filter((value) => value.includes('_PASSWORD:?'));
    expect([passwords('gateway').length, passwords('graph-svc').length]).toEqual([1, 1]);
  });

  it('opens the gateway alone, and leaves the stores in a network without a way out', () => {
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['gateway']);
    expect(file.networks['inner']).toEqual({ internal: true });
    for (const [name, { networks }] of services)
      expect([name, networks]).toEqual([name, name === 'gateway' ? ['inner', 'outer'] : ['inner']]);
    const { ports, environment } = file.services['gateway'] ?? {};
    // Loopback unless somebody says otherwise; inside its container it must listen beyond loopback.
    expect(ports).toEqual([`\${SVC_PUBLISH:-127.0.0.1:4010}:${environment?.['SVC_PORT']}`]);
    expect(environment?.['SVC_HOST']).toBe('0.0.0.0');
    expect(file.services['graph-svc']?.environment?.['SVC_OPS_HOST']).toBe('0.0.0.0');
  });

  it.each(OURS)(
    'sets for %s every variable that it reads and none that it does not [config.compose.truthful]',
    (name) => {
      const set = Object.keys(file.services[name]?.environment ?? {}).map((variable) => variable.replace(/_FILE$/, ''));
      expect([...set, ...Object.keys(LEFT_OUT)].toSorted()).toEqual(readBy(name).toSorted());
      const grace = Number.parseInt(file.services[name]?.stop_grace_period ?? '0', 10);
      expect(grace).toBeGreaterThanOrEqual(SHUTDOWN_GRACE_S + 9);
      expect(readBy(name)).toEqual(expect.arrayContaining(['SVC_LOG_LEVEL', 'SVC_NATS_URL']));
    },
  );

  it.each(services)('names for %s services, networks, volumes and files that exist', (_name, service) => {
    expect(Object.keys(file.services)).toEqual(expect.arrayContaining(Object.keys(service.depends_on ?? {})));
    expect(Object.keys(file.networks)).toEqual(expect.arrayContaining(service.networks));
    const sources = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    const volumes = sources.filter((source) => !source.startsWith('./'));
    expect(Object.keys(file.volumes)).toEqual(expect.arrayContaining(volumes));
    const files = sources.filter((source) => source.startsWith('./'));
    expect(files.filter((path) => !statSync(join(ROOT, path)).isFile())).toEqual([]);
  });

  it('takes from .env what .env.example explains, and nothing else', () => {
    const explained = [...read('.env.example').matchAll(/^#?([A-Z]\w+)=/gm)].map(([, name]) => name);
    expect(explained.toSorted()).toEqual([...asked].toSorted());
    expect(read('.env.example')).not.toMatch(/_(PASSWORD|TOKEN)=\S/);
  });
});

describe('the broker', () => {
  it('is configured as the roles of the services say', () => {
    expect(read('deploy/nats.conf')).toBe(natsConf());
  });

  it('is asked for its health where it tells it', () => {
    const [, port] = /^http: (\d+)$/m.exec(read('deploy/nats.conf')) ?? [];
    expect(file.services['nats']?.healthcheck.test.at(-1)).toBe(`http://127.0.0.1:${port}/healthz`);
  });
});

describe('preparing a workspace', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'workspace-prepare-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const prepare = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'deploy/prepare.mjs'), '--folder', folder, ...args], { encoding: 'utf8' });
  const made = (name: string): string => readFileSync(join(folder, 'deploy/secrets', name), 'utf8');

  it('writes .env and every secret that the compose file mounts, for this user alone', () => {
    expect(prepare('--public-url', 'https://graph.example.net').status).toBe(0);
    expect(readdirSync(join(folder, 'deploy/secrets')).toSorted()).toEqual(Object.keys(file.secrets).toSorted());
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'deploy/secrets')).mode & 0o777).toBe(0o700);
    const env = readFileSync(join(folder, '.env'), 'utf8');
    expect(env).toContain('SVC_PUBLIC_URL=https://graph.example.net\n');
    const passwords = [...env.matchAll(/_PASSWORD=(\w{48})$/gm)].map(([, password]) => password);
    expect(new Set([...passwords, made('postgres_password'), made('minio_password')]).size).toBe(4);
    expect(made('database_url')).toBe(
      `postgres://workspace_graph:${made('postgres_password')}@postgres:5432/workspace_graph`,
    );
  });

  it('keeps what is there, and says what it wrote without showing it', () => {
    prepare('--public-url', 'https://one.example.net');
    const before = [made('postgres_password'), made('database_url'), readFileSync(join(folder, '.env'), 'utf8')];
    rmSync(join(folder, 'deploy/secrets/minio_password'));
    writeFileSync(join(folder, '.env'), 'SVC_PUBLIC_URL=https://edited.example.net\n');
    const again = prepare('--public-url', 'https://two.example.net');
    expect([again.status, again.stdout]).toEqual([0, 'Written: deploy/secrets/minio_password\n']);
    expect([made('postgres_password'), made('database_url')]).toEqual(before.slice(0, 2));
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('SVC_PUBLIC_URL=https://edited.example.net\n');
  });

  it('asks for the public address', () => {
    const refused = prepare();
    expect([refused.status, refused.stdout]).toEqual([2, expect.stringContaining('--public-url URL')]);
    expect(readdirSync(folder)).toEqual([]);
    expect(prepare('--public-url', 'nonsense').status).toBe(2);
    expect(prepare('--help').status).toBe(0);
  });

  it('leaves nothing that git would take in', () => {
    expect(read('.gitignore').split('\n')).toEqual(expect.arrayContaining(['.env', 'deploy/secrets/']));
  });
});
