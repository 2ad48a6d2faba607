import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Central, expectNoOrphans, findOnPath, startCentral } from '@workspace-graph/testing';
import pg from 'pg';
import { parse } from 'yaml';
import { ROOT } from './central-world.js';

/** Answers its health and shows what it was started with, as MinIO would have to do with it. */
const FAKE_MINIO = `#!${process.execPath}
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const at = (option) => process.argv[process.argv.indexOf(option) + 1];
const { MINIO_ROOT_USER: user, MINIO_ROOT_PASSWORD_FILE: file } = process.env;
const server = createServer((request, response) => {
  if (request.url === '/minio/health/live') return response.end();
  response.end(JSON.stringify({ kind: process.argv[2], user, password: readFileSync(file, 'utf8') }));
});
const [host, port] = at('--address').split(':');
server.listen(Number(port), host);
process.once('SIGTERM', () => process.exit(0));
`;

const { services } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, { image: string; healthcheck: { test: string[] } }>;
};
const withClient = findOnPath('redis-cli') === undefined ? it.skip : it;
const path = process.env['PATH'];
let folder: string;
let central: Central;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'workspace-minio-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'minio'), FAKE_MINIO);
  chmodSync(join(folder, 'minio'), 0o755);
  process.env['PATH'] = [folder, path].join(delimiter);
  central = await startCentral({
    root: ROOT,
    replicas: { 'graph-svc': 0, 'session-svc': 0, 'file-svc': 0, gateway: 0 },
  });
});
afterAll(async () => {
  process.env['PATH'] = path;
  await central.stop();
  rmSync(folder, { recursive: true });
  await expectNoOrphans();
});

/** What redis answers to a line of commands, each on a line of its own. */
function tell(port: number, ...commands: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = createConnection({ port, host: '127.0.0.1' }, () =>
      socket.end([...commands, 'QUIT'].map((command) => `${command}\r\n`).join('')),
    );
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.once('error', reject);
    socket.once('close', () => resolve(answer));
  });
}

describe('the stores of a central workspace without containers', () => {
  it('have the version, the layout and the connections of the declared PostgreSQL [config.compose.truthful]', async () => {
    const client = new pg.Client({ connectionString: central.databaseUrl });
    await client.connect();
    const { rows } = await client.query(
      `SELECT current_setting('server_version_num')::int / 10000 AS major, pg_encoding_to_char(encoding) AS encoding,
              datcollate, datlocprovider, datlocale, current_setting('max_connections') AS slots
       FROM pg_database WHERE datname = current_database()`,
    );
    await client.end();
    expect(rows).toEqual([
      {
        major: Number(/:(\d+)/.exec(services['postgres']?.image ?? '')?.[1]),
        encoding: 'UTF8',
        datcollate: 'C',
        datlocprovider: 'b',
        datlocale: 'C.UTF-8',
        slots: '100',
      },
    ]);
  });

  it('ask for the password of redis, with the declared settings [config.compose.truthful, config.secrets.from-file]', async () => {
    const { port } = central.redis;
    expect(await tell(port, 'GET a')).toContain('-NOAUTH');
    const answers = await Promise.all(
      central.passwords.map((password) =>
        tell(port, `AUTH ${password}`, 'CONFIG GET appendonly', 'CONFIG GET maxmemory-policy'),
      ),
    );
    const entered = answers.filter((answer) => answer.startsWith('+OK'));
    expect(entered).toHaveLength(1);
    expect(entered[0]).toContain('yes');
    expect(entered[0]).toContain('noeviction');
  });

  withClient('let the health check of redis in, and it may do nothing else; skipped without redis-cli', async () => {
    const [, program = '', ...args] = services['redis']?.healthcheck.test ?? [];
    const ask = (...command: string[]) =>
      execFileSync(program, ['-p', String(central.redis.port), ...args.slice(0, -1), ...command], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    expect(ask('ping')).toBe('PONG\n');
    for (const command of [
      ['get', 'a'],
      ['set', 'a', 'b'],
      ['keys', '*'],
      ['config', 'get', '*'],
      ['acl', 'list'],
    ])
      expect(() => ask(...command)).toThrow('NOPERM');
  });

  it('run MinIO where it is installed, with its user and password [config.compose.truthful]', async () => {
    expect([...central.missing.keys()]).toEqual([]);
    const started = JSON.parse(await (await fetch(`http://127.0.0.1:${central.minio?.port}/`)).text()) as Record<
      string,
      string
    >;
    expect(started).toEqual({ kind: 'server', user: 'workspace_graph', password: expect.any(String) });
    expect(central.passwords).toContain(started['password']);
  });
});
