import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { describeConfig, hasPart, SERVICE_NAMES, type ServiceName } from '@workspace-graph/platform';
import { parse } from 'yaml';
import { z } from 'zod';
import { natsConf } from '../../deploy/write-nats-conf.mjs';
import { ROOT } from './central-world.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const OURS: readonly string[] = SERVICE_NAMES;
/** Those that people reach, and those that reach storages of the organisation. */
const WAY_OUT: readonly string[] = SERVICE_NAMES.filter((name) => hasPart(name, 'edge') || hasPart(name, 'remotes'));

const Text = z.string().min(1);
/** What the file uses of the format, and nothing else: a misspelt key is found here. */
const Service = z.strictObject({
  image: Text,
  build: z.strictObject({ context: z.literal('.'), args: z.strictObject({ SERVICE: Text }) }).optional(),
  restart: z.literal('unless-stopped'),
  command: z.array(Text).optional(),
  user: z
    .string()
    .regex(/^[1-9]\d*:[1-9]\d*$/)
    .optional(),
  read_only: z.literal(true),
  tmpfs: z.array(z.string().startsWith('/')),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  init: z.literal(true),
  logging: z.strictObject({
    driver: z.literal('json-file'),
    options: z.strictObject({ 'max-size': z.string().regex(/^\d+m$/), 'max-file': z.string().regex(/^\d+$/) }),
  }),
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
  SVC_SHUTDOWN_GRACE_MS: 'stop_grace_period is made for the default',
};
/** The users that the images of others run as. */
const USERS: Readonly<Record<string, string | undefined>> = {
  postgres: '999:999',
  nats: '65534:65534',
  redis: '999:999',
  // Its image has root alone, to whom its volume belongs; without capabilities that is a user like others.
  minio: undefined,
};
/** The defaults of the grace, and of the delay of what people and programs are connected to. */
const GRACE_S = 10;
const DELAY_S = 10;

/** What a service of ours has to be given, by what it is made of. */
function secretsOf(name: ServiceName): string[] {
  const broker = `nats_${name.replaceAll('-', '_')}_password`;
  return [
    ...(hasPart(name, 'database') ? ['database_url'] : []),
    broker,
    ...(hasPart(name, 'remotes') ? ['credentials_key'] : []),
    ...(hasPart(name, 'edge') ? ['redis_url', 'oidc_client_secret', 'sign_in_secret'] : []),
  ];
}

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

  it.each(services)(
    'takes from %s what it does not need: rights, capabilities, a writable disk [config.compose.no-secrets-non-root]',
    (name, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        init: true,
      });
      expect(service.tmpfs).toContain('/tmp');
      // The images of ours name their user themselves.
      if (!OURS.includes(name)) expect([name, service.user]).toEqual([name, USERS[name]]);
    },
  );

  it.each(services)('lets the logs of %s take 50 MB of the disk and no more', (_name, { logging }) => {
    const { 'max-size': size, 'max-file': files } = logging.options;
    expect(Number.parseInt(size, 10) * Number(files)).toBe(50);
  });

  it('holds no secret, and gives each only to who needs it [config.compose.no-secrets-non-root]', () => {
    for (const [name, { environment = {}, secrets = [] }] of services) {
      const variables = Object.entries(environment);
      const told = variables.filter(([variable]) => /PASSWORD|SECRET|_KEY|DATABASE_URL|REDIS_URL/.test(variable));
      for (const [variable, value] of told)
        expect([name, variable, secrets.map((secret) => `/run/secrets/${secret}`)]).toEqual([
          name,
          expect.stringMatching(/_FILE$/),
          expect.arrayContaining([value]),
        ]);
      const tokens = variables.filter(([variable]) => variable.includes('TOKEN')).map(([, value]) => value);
      for (const value of tokens) expect(value).toMatch(/^\$\{\w+:-\}$/);
      expect(variables.map(([, value]) => value).join('\n')).not.toMatch(/:\/\/[^/]*:[^/]*@/);
    }
    expect(
      Object.fromEntries(services.filter(([, { secrets }]) => secrets).map(([name, { secrets }]) => [name, secrets])),
    ).toEqual({
      postgres: ['postgres_password'],
      nats: ['nats_passwords'],
      redis: ['redis_access'],
      minio: ['minio_password'],
      ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, secretsOf(name)])),
    });
    const given = services.flatMap(([, { secrets }]) => secrets ?? []);
    expect([...new Set(given)].toSorted()).toEqual(Object.keys(file.secrets).toSorted());
    expect(read('docker-compose.yml')).not.toMatch(/\$\{\w*PASSWORD/);
  });

  it('opens the gateway alone, and leaves whatever need not reach further in a network without a way out', () => {
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['gateway']);
    expect(file.networks['inner']).toEqual({ internal: true });
    for (const [name, { networks }] of services)
      expect([name, networks]).toEqual([name, WAY_OUT.includes(name) ? ['inner', 'outer'] : ['inner']]);
    const { ports, environment } = file.services['gateway'] ?? {};
    // Loopback unless somebody says otherwise; inside its container it must listen beyond loopback.
    expect(ports).toEqual([`\${SVC_PUBLISH:-127.0.0.1:4010}:${environment?.['SVC_PORT']}`]);
    expect(environment?.['SVC_HOST']).toBe('0.0.0.0');
    expect(file.services['graph-svc']?.environment?.['SVC_OPS_HOST']).toBe('0.0.0.0');
  });

  it('builds the services of the table and no others', () => {
    const built = services.filter(([, { build }]) => build).map(([name]) => name);
    expect(built.toSorted()).toEqual([...OURS].toSorted());
  });

  it.each(SERVICE_NAMES)(
    'sets for %s every variable that it reads and none that it does not [config.compose.truthful]',
    (name) => {
      const set = Object.keys(file.services[name]?.environment ?? {}).map((variable) => variable.replace(/_FILE$/, ''));
      expect([...set, ...Object.keys(LEFT_OUT)].toSorted()).toEqual(readBy(name).toSorted());
      const grace = Number.parseInt(file.services[name]?.stop_grace_period ?? '0', 10);
      expect(grace).toBeGreaterThanOrEqual(GRACE_S + (hasPart(name, 'edge') ? DELAY_S : 0) + 9);
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
    expect(read('.env.example')).not.toMatch(/PASSWORD=|_TOKEN=\S/);
  });
});

describe('the broker', () => {
  it('is configured as the roles of the services say', () => {
    expect(read('deploy/nats.conf')).toBe(natsConf());
  });

  it('includes its passwords from where the compose file puts them [config.secrets.from-file]', () => {
    const { volumes, secrets } = file.services['nats'] ?? {};
    const [, place = ''] = volumes?.[0]?.split(':') ?? [];
    const [, included = ''] = /^include (\S+)$/m.exec(read('deploy/nats.conf')) ?? [];
    expect(posix.join(posix.dirname(place), included)).toBe(`/run/secrets/${secrets?.[0]}`);
    expect(file.services['nats']?.command).toEqual(['--config', place]);
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
    expect(env).not.toMatch(/PASSWORD/);
    const users = SERVICE_NAMES.map((name) => name.replaceAll('-', '_'));
    const names = ['postgres', 'minio', ...users.map((user) => `nats_${user}`)].map((name) => `${name}_password`);
    for (const name of [...names, 'sign_in_secret', 'credentials_key']) expect(made(name)).toMatch(/^[0-9a-f]{48}$/);
    expect(made('oidc_client_secret')).toBe('');
    const [, ofRedis = ''] = /^requirepass ([0-9a-f]{48})\n/.exec(made('redis_access')) ?? [];
    expect(new Set([...names.map(made), ofRedis]).size).toBe(names.length + 1);
    expect(made('nats_passwords')).toBe(
      users.map((user) => `NATS_${user.toUpperCase()}_PASSWORD: "${made(`nats_${user}_password`)}"\n`).join(''),
    );
    expect(made('redis_url')).toBe(`redis://:${ofRedis}@redis:6379`);
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

  it('gives the broker a password that has been taken away to be made anew', () => {
    prepare('--public-url', 'https://one.example.net');
    const before = made('nats_gateway_password');
    rmSync(join(folder, 'deploy/secrets/nats_gateway_password'));
    expect(prepare('--public-url', 'https://one.example.net').stdout).toBe(
      'Written: deploy/secrets/nats_gateway_password\nWritten: deploy/secrets/nats_passwords\n',
    );
    expect(made('nats_gateway_password')).not.toBe(before);
    expect(made('nats_passwords')).toContain(made('nats_gateway_password'));
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
