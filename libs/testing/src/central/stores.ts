import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../ports.js';
import { startMinio } from '../servers/minio.js';
import { startNats } from '../servers/nats.js';
import { startPostgres } from '../servers/postgres.js';
import { startRedis } from '../servers/redis.js';
import type { TestServer } from '../servers/server.js';
import { answersWith } from '../servers/tcp-probe.js';
import type { ComposeService } from './compose-file.js';

/** What starting a store of the compose file needs to know. */
export interface StoreContext {
  /** Repository with the files that the compose file mounts. */
  readonly root: string;
  /** Its variables, with paths of this machine. */
  readonly environment: Readonly<Record<string, string>>;
  /** The texts of the secrets that it is given, by their paths in its container. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly durable: boolean;
}

interface Store {
  /** Port inside its container. */
  readonly port: number;
  /** Undefined where this machine has no program for it. */
  readonly start: (service: ComposeService, context: StoreContext) => Promise<TestServer | undefined>;
}

/** What a machine without the program of a store is told. */
export const NO_PROGRAM = 'this machine has no program of that name, and neither npm nor Debian has one';

/** The default of PostgreSQL, which its image leaves as it is. */
const MAX_CONNECTIONS = 100;

/** The services that are not ours, started from local programs with what the compose file gives them. */
export const STORES: Readonly<Record<string, Store>> = {
  postgres: { port: 5432, start: startDatabase },
  nats: { port: 4222, start: startBroker },
  redis: { port: 6379, start: startQueue },
  minio: { port: 9000, start: startObjects },
};

/** As the image does it: of the declared version and layout, and the declared user owns the declared database. */
async function startDatabase(service: ComposeService, { secrets, durable }: StoreContext): Promise<TestServer> {
  const { POSTGRES_USER: user, POSTGRES_DB: name, POSTGRES_PASSWORD_FILE: passwordFile = '' } = service.environment;
  const password = secrets[passwordFile]?.trim();
  if (!user || !name || !password) throw new Error('postgres: the compose file names no user, database or password');
  const server = await startPostgres({
    own: true,
    durable,
    major: Number(/^postgres:(\d+)/.exec(service.image)?.[1]),
    initdbArgs: service.environment['POSTGRES_INITDB_ARGS']?.split(' '),
    settings: settingsOf(service.command),
    maxConnections: MAX_CONNECTIONS,
  });
  const client = new pg.Client({ connectionString: server.url });
  try {
    await client.connect();
    const [role, database] = [client.escapeIdentifier(user), client.escapeIdentifier(name)];
    await client.query(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD ${client.escapeLiteral(password)}`);
    await client.query(`CREATE DATABASE ${database} OWNER ${role}`);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    await client.end();
  }
}

/** What a command such as `postgres -c max_connections=200` sets. */
function settingsOf(command: readonly string[]): Record<string, string> {
  const pairs = command.filter((_part, index) => command[index - 1] === '-c').map((pair) => pair.split(/=(.*)/s));
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]));
}

/** With the file that the compose file mounts; only the ports are of this machine. */
async function startBroker({ healthcheck }: ComposeService, { root, secrets }: StoreContext): Promise<TestServer> {
  const monitorPort = await freePort();
  const declared = readFileSync(join(root, 'deploy', 'nats.conf'), 'utf8');
  const monitored = /^http: (\d+)$/m.exec(declared)?.[1];
  const config = declared.replace(/^port: .*$/m, '').replace(/^http: .*$/m, `http: "127.0.0.1:${monitorPort}"`);
  const server = await startNats({ own: true, config, files: secrets });
  const asked = healthcheck.find((part) => part.startsWith('http://'))?.replace(`:${monitored}/`, `:${monitorPort}/`);
  // Inside a container the port is out of reach, and the broker has answered on the other one.
  const passes =
    asked !== undefined &&
    (await fetch(asked).then(
      (answer) => answer.ok,
      () => true,
    ));
  return passes ? server : failing('nats', server, asked);
}

/** With the declared settings and password; how often it syncs is left to the system where nothing has to last. */
async function startQueue(service: ComposeService, { secrets, durable }: StoreContext): Promise<TestServer> {
  const [program, ...declared] = service.command;
  if (program !== 'redis-server') throw new Error(`redis: the compose file starts ${program}, not redis-server`);
  const args = [...declared, ...(durable ? [] : ['--appendfsync', 'no'])];
  const server = await startRedis({ own: true, args, files: secrets });
  const { healthcheck } = service;
  const after = (option: string): string => healthcheck[healthcheck.indexOf(option) + 1] ?? '';
  const enters = `AUTH ${after('--user')} ${after('--pass')}\r\n`;
  const passes = healthcheck.at(-1) === 'ping' && (await answersWith(server.port, '+OK', enters));
  return passes ? server : failing('redis', server, healthcheck.join(' '));
}

/** Undefined where it is not installed. */
function startObjects(
  { command, healthcheck }: ComposeService,
  { environment }: StoreContext,
): Promise<TestServer | undefined> {
  const asked = healthcheck.find((part) => part.startsWith('http://')) ?? '';
  return startMinio({ args: command, environment, healthPath: new URL(asked).pathname });
}

async function failing(name: string, server: TestServer, check: string | undefined): Promise<never> {
  await server.stop();
  throw new Error(`${name}: the declared health check does not pass: ${check}`);
}
