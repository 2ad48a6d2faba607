import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ConfigError, type Environment, loadConfig } from './load-config.js';
import { countEdits } from './nearest.js';
import { PROCESSES, type ProcessName, VARIABLES } from './variables.js';

const CENTRAL = {
  SVC_NATS_URL: 'nats://bus:4222',
  SVC_DATABASE_URL: 'postgres://svc:hunter2@db/graph',
  SVC_CREDENTIALS_FOLDER: '/credentials',
  SVC_CREDENTIALS_KEY: 'k'.repeat(32),
};

function problemsOf(process: ProcessName, environment: Environment): readonly string[] {
  try {
    loadConfig(process, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('reading the environment', () => {
  it('gives a workstation defaults that suit it [config.workspace-root.default, config.port.default, config.host.default]', () => {
    const { config, warnings } = loadConfig('device-agent', {});

    expect(config).toMatchObject({
      SVC_WORKSPACE_ROOT: join(homedir(), 'WorkspaceGraph'),
      SVC_PORT: 4011,
      SVC_HOST: '127.0.0.1',
      SVC_WATCH_MIRRORS: true,
      SVC_ALLOWED_HOSTS: [],
      SVC_RATE_LIMIT_PER_MINUTE: 120_000,
    });
    expect(warnings).toEqual([]);
  });

  it('has a workstation watch its folders, which no process of a server does [watcher.default-on, limits.watcher-debounce-300ms]', () => {
    const { config } = loadConfig('device-agent', {});
    expect([config.SVC_WATCH_MIRRORS, config.SVC_WATCHER_DEBOUNCE_MS]).toEqual([true, 300]);
    const other = { SVC_WATCH_MIRRORS: 'false', SVC_WATCHER_DEBOUNCE_MS: '50' };
    expect(loadConfig('device-agent', other).config).toMatchObject({
      SVC_WATCH_MIRRORS: false,
      SVC_WATCHER_DEBOUNCE_MS: 50,
    });
    expect(VARIABLES.SVC_WATCH_MIRRORS.usedBy).toEqual(['device-agent']);
  });

  it('takes the variables that all central processes share [config.common-variables, config.schema.one]', () => {
    const { config } = loadConfig('gateway', {
      ...CENTRAL,
      SVC_LOG_LEVEL: 'debug',
      SVC_REDIS_URL: 'redis://queue:6379',
      SVC_PUBLIC_URL: 'https://graph.example.org',
    });

    expect(config.SVC_LOG_LEVEL).toBe('debug');
    expect(config.SVC_NATS_URL).toBe('nats://bus:4222');
    expect(config.SVC_REDIS_URL?.reveal()).toBe('redis://queue:6379');
    expect(config.SVC_PUBLIC_URL).toBe('https://graph.example.org');
    expect(Object.keys(VARIABLES).every((name) => name.startsWith('SVC_'))).toBe(true);
  });

  it('names every unusable variable and what it accepts, all at once [config.invalid-reported]', () => {
    expect(
      problemsOf('device-agent', { SVC_PORT: '99999', SVC_WATCH_MIRRORS: 'maybe', SVC_ALLOWED_ORIGINS: 'example.org' }),
    ).toEqual([
      'SVC_WATCH_MIRRORS: must be true or false',
      'SVC_PORT: must be a port from 0 to 65535 that HTTP clients accept (they refuse 4190, 6000 and others)',
      'SVC_ALLOWED_ORIGINS: must be web origins such as https://graph.example.org, separated by commas',
    ]);
  });

  it('does not start a central process without its bus and database', () => {
    expect(problemsOf('graph-svc', {})).toEqual([
      'SVC_DATABASE_URL: must be a URL that begins with postgres:// or postgresql://, and is not set',
      'SVC_NATS_URL: must be one or more nats:// or tls:// addresses, separated by commas, and is not set',
    ]);
  });

  it('treats an empty variable as not set', () => {
    const { config } = loadConfig('device-agent', { SVC_PORT: '', SVC_DATABASE_URL: '' });

    expect(config.SVC_PORT).toBe(4011);
    expect(config.SVC_DATABASE_URL).toBeUndefined();
  });

  it.each(['4190', '6000', '22', '65536', '-1', '1.5'])(
    'refuses the port %s, at which no client would call',
    (port) => {
      expect(() => loadConfig('device-agent', { SVC_PORT: port })).toThrow('SVC_PORT: must be a port');
    },
  );

  it.each(PROCESSES)('starts %s on its defaults and what it requires', (process) => {
    expect(problemsOf(process, CENTRAL)).toEqual([]);
  });
});

describe('unknown variables', () => {
  it('only warn on a workstation, with the nearest name [config.unknown.reported, config.unknown.central-error]', () => {
    expect(loadConfig('device-agent', { SVC_PROT: '1', PATH: '/bin' }).warnings).toEqual([
      'SVC_PROT: there is no such variable; did you mean SVC_PORT?',
    ]);
  });

  it('stop a central process [config.unknown.central-error]', () => {
    expect(problemsOf('gateway', { ...CENTRAL, SVC_LOGLEVEL: 'info' })).toEqual([
      'SVC_LOGLEVEL: there is no such variable; did you mean SVC_LOG_LEVEL?',
    ]);
  });

  it('are not those of the tests', () => {
    expect(problemsOf('gateway', { ...CENTRAL, SVC_TEST_DATABASE_URL: 'x' })).toEqual([]);
  });

  it.each([
    ['SVC_PORT', 'SVC_PORT', 0],
    ['SVC_PROT', 'SVC_PORT', 1],
    ['SVC_PRT', 'SVC_PORT', 1],
    ['SVC_HOSTS', 'SVC_HOST', 1],
    ['', 'abc', 3],
  ])('are compared by edits: %s and %s differ by %i', (from, to, edits) => {
    expect(countEdits(from, to)).toBe(edits);
    expect(countEdits(to, from)).toBe(edits);
  });
});

describe('secrets', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('come from a file as well, without its line end [config.secrets.from-file]', () => {
    const path = write('password', 'hunter2\n');

    const { config } = loadConfig('gateway', { ...CENTRAL, SVC_NATS_PASSWORD_FILE: path });

    expect(config.SVC_NATS_PASSWORD?.reveal()).toBe('hunter2');
  });

  it('are refused when given twice [config.secrets.from-file]', () => {
    expect(problemsOf('gateway', { ...CENTRAL, SVC_NATS_PASSWORD: 'a', SVC_NATS_PASSWORD_FILE: '/b' })).toEqual([
      'SVC_NATS_PASSWORD: set it or SVC_NATS_PASSWORD_FILE, not both',
    ]);
  });

  const CANNOT = 'SVC_NATS_PASSWORD_FILE: the file cannot be read:';
  it.each([
    ['is not there', () => join(folder, 'missing'), `${CANNOT} it does not exist (ENOENT)`],
    ['lies below a file', () => join(write('a', 'x'), 'b'), `${CANNOT} it does not exist (ENOTDIR)`],
    // What Docker makes of a file that it should mount and does not find.
    ['is a folder', () => folder, `${CANNOT} it is a folder (EISDIR)`],
    ['is empty', () => write('empty', '\n'), 'SVC_NATS_PASSWORD_FILE: the file is empty'],
    ['is the secret itself', () => 'hunter2', `${CANNOT} it does not exist (ENOENT)`],
  ])('are refused from a file that %s [config.secrets.from-file, config.invalid-reported]', (_what, path, problem) => {
    expect(problemsOf('gateway', { ...CENTRAL, SVC_NATS_PASSWORD_FILE: path() })).toEqual([problem]);
  });

  it('may be none in an empty file where one can do without', () => {
    const { config } = loadConfig('gateway', { ...CENTRAL, SVC_OIDC_CLIENT_SECRET_FILE: write('none', '\n') });
    expect(config.SVC_OIDC_CLIENT_SECRET).toBeUndefined();
  });

  const unprivileged = process.getuid?.() === 0 ? it.skip : it;
  unprivileged('are refused from a file that this user may not read, which is not so for root', () => {
    const path = write('closed', 'hunter2');
    chmodSync(path, 0o000);
    expect(problemsOf('gateway', { ...CENTRAL, SVC_NATS_PASSWORD_FILE: path })).toEqual([
      `${CANNOT} this user may not read it (EACCES)`,
    ]);
  });

  it('show in no dump of the configuration and in no complaint [config.secrets.not-printed]', () => {
    const { config } = loadConfig('graph-svc', { ...CENTRAL, SVC_NATS_PASSWORD: 'hunter2' });
    const complaint = problemsOf('graph-svc', { ...CENTRAL, SVC_DATABASE_URL: 'mysql://svc:hunter2@db' });

    const dumps = [
      JSON.stringify(config),
      inspect(config, { depth: 5 }),
      String(config.SVC_NATS_PASSWORD),
      complaint.join(),
    ];

    expect(complaint).toHaveLength(1);
    expect(dumps.filter((dump) => dump.includes('hunter2'))).toEqual([]);
  });
});

describe('values that contradict each other', () => {
  it('keep a workstation on loopback unless that is lifted openly [identity.local.loopback-only, config.host.default]', () => {
    expect(problemsOf('device-agent', { SVC_HOST: '0.0.0.0' })).toEqual([
      'SVC_HOST: must be a loopback address, or SVC_ALLOW_NON_LOOPBACK must be true',
    ]);
    expect(problemsOf('device-agent', { SVC_HOST: '0.0.0.0', SVC_ALLOW_NON_LOOPBACK: 'true' })).toEqual([]);
    expect(problemsOf('device-agent', { SVC_HOST: '::1' })).toEqual([]);
  });

  it('need an audience for an identity provider, and encryption on the way to it', () => {
    expect(problemsOf('gateway', { ...CENTRAL, SVC_OIDC_ISSUER: 'http://login.example.org' })).toEqual([
      'SVC_OIDC_AUDIENCE: must be set together with SVC_OIDC_ISSUER',
      'SVC_OIDC_ISSUER: must begin with https:// unless it is on this machine',
    ]);
  });

  it('need an address, a provider and a long secret for signing in to the page there', () => {
    const client = { ...CENTRAL, SVC_OIDC_CLIENT_ID: 'page', SVC_PUBLIC_URL: undefined };
    expect(problemsOf('gateway', client)).toEqual([
      'SVC_OIDC_ISSUER: must be set together with SVC_OIDC_CLIENT_ID',
      'SVC_PUBLIC_URL: must be set together with SVC_OIDC_CLIENT_ID',
      'SVC_SIGN_IN_SECRET: must be set together with SVC_OIDC_CLIENT_ID',
    ]);
    const complete = {
      ...client,
      SVC_PUBLIC_URL: 'https://graph.example.org',
      SVC_OIDC_ISSUER: 'https://login.example.org',
      SVC_OIDC_AUDIENCE: 'graph',
      SVC_SIGN_IN_SECRET: 'x'.repeat(32),
    };
    expect(problemsOf('gateway', complete)).toEqual([]);
    expect(
      problemsOf('gateway', { ...complete, SVC_SIGN_IN_SECRET: 'x'.repeat(31), SVC_OIDC_SCOPES: 'email' }),
    ).toEqual([
      'SVC_SIGN_IN_SECRET: must be a secret of at least 32 characters',
      'SVC_OIDC_SCOPES: must contain openid',
    ]);
    expect(problemsOf('gateway', { ...complete, SVC_OIDC_SCOPES: 'openid,"all"' })).toHaveLength(1);
  });

  it.each(['none', 'HS256', 'RS256,HS512'])(
    'never accept the signature algorithms %s [identity.jwt.algorithm-allow-list]',
    (algorithms) => {
      expect(problemsOf('gateway', { ...CENTRAL, SVC_OIDC_ALGORITHMS: algorithms })).toHaveLength(1);
    },
  );
});
