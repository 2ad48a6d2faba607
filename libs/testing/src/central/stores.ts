import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../ports.js';
import { startNats } from '../servers/nats.js';
import { startPostgres } from '../servers/postgres.js';
import { startRedis } from '../servers/redis.js';
import type { TestServer } from '../servers/server.js';
import type { ComposeService } from './compose-file.js';

/** What starting a store of the compose file needs to know. */
export interface StoreContext {
  /** Repository with the files that the compose file mounts. */
  readonly root: string;
  /** Text of a secret. */
  readonly secret: (name: string) => string;
  readonly durable: boolean;
}

interface Store {
  /** Port inside its container. */
  readonly port: number;
  readonly start: (service: ComposeService, context: StoreContext) => Promise<TestServer>;
}

/** The services that are not ours, started from local programs with what the compose file gives them. */
export const STORES: Readonly<Record<string, Store>> = {
  postgres: { port: 5432, start: startDatabase },
  nats: { port: 4222, start: startBroker },
  redis: { port: 6379, start: () => startRedis({ own: true }) },
};

/** As the image does it: the declared user, with the declared password, owns the declared database. */
async function startDatabase({ environment }: ComposeService, { secret, durable }: StoreContext): Promise<TestServer> {
  const { POSTGRES_USER: user, POSTGRES_DB: name, POSTGRES_PASSWORD_FILE: passwordFile } = environment;
  if (!user || !name || !passwordFile)
    throw new Error('postgres: the compose file names no user, database or password');
  const server = await startPostgres({ own: true, durable });
  const client = new pg.Client({ connectionString: server.url });
  try {
    await client.connect();
    const password = client.escapeLiteral(secret(passwordFile.replace('/run/secrets/', '')));
    await client.query(`CREATE ROLE ${client.escapeIdentifier(user)} LOGIN SUPERUSER PASSWORD ${password}`);
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)} OWNER ${client.escapeIdentifier(user)}`);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    await client.end();
  }
}

/** With the file that the compose file mounts; only the ports are of this machine. */
async function startBroker({ environment, healthcheck }: ComposeService, { root }: StoreContext): Promise<TestServer> {
  const monitorPort = await freePort();
  const declared = readFileSync(join(root, 'deploy', 'nats.conf'), 'utf8');
  const monitored = /^http: (\d+)$/m.exec(declared)?.[1];
  const config = declared.replace(/^port: .*$/m, '').replace(/^http: .*$/m, `http: "127.0.0.1:${monitorPort}"`);
  const server = await startNats({ own: true, config, environment });
  const asked = healthcheck.find((part) => part.startsWith('http://'))?.replace(`:${monitored}/`, `:${monitorPort}/`);
  // Inside a container the port is out of reach, and the broker has answered on the other one.
  const passes =
    asked !== undefined &&
    (await fetch(asked).then(
      (answer) => answer.ok,
      () => true,
    ));
  if (passes) return server;
  await server.stop();
  throw new Error(`nats: the declared health check does not pass: ${asked}`);
}
