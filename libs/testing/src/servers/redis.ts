import { join } from 'node:path';
import { makeFolder } from '../temp.js';
import { findServer } from './binaries.js';
import { startChild } from './child.js';
import { startContainer } from './containers.js';
import { findDebianServer } from './debian.js';
import { startLocalServer } from './local-server.js';
import { howToInstall } from './missing.js';
import { externalServer, type TestServer } from './server.js';
import { answersWith } from './tcp-probe.js';

export interface RedisOptions {
  /** Writes an append-only file and syncs it on every write, for specs about crashes. Default false: in memory. */
  durable?: boolean;
  /** Never use the server named by SVC_TEST_REDIS_URL: the spec will kill or restart it. */
  own?: boolean;
}

export type RedisServer = TestServer;

function persistence(durable: boolean): string[] {
  const log = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  return ['--save', '', ...log];
}

function startProgram(binary: string, durable: boolean): Promise<RedisServer> {
  const folder = makeFolder();
  const args = ['--bind', '127.0.0.1', '--dir', folder, ...persistence(durable)];
  return startLocalServer({
    name: 'Redis',
    folder,
    urlOf: (port) => `redis://127.0.0.1:${port}`,
    launch: (port) => startChild({ binary, args: [...args, '--port', `${port}`], logFile: join(folder, 'redis.log') }),
    probe: (port) => answersWith(port, '+PONG', 'PING\r\n'),
    stopSignal: 'SIGINT',
    readyWithinMs: 10_000,
    pauseMs: 10,
  });
}

/**
 * Starts a private Redis on a free loopback port, or answers the one named by SVC_TEST_REDIS_URL.
 * @throws Error with the server's log when it does not start, or saying what to install
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const given = process.env['SVC_TEST_REDIS_URL'];
  const durable = options.durable === true;
  if (given !== undefined && !durable && options.own !== true) return externalServer(given, 'Redis');
  const installed = findServer('redis-server', 'valkey-server');
  if (installed !== undefined) return startProgram(installed, durable);
  const command = ['redis-server', ...persistence(durable)];
  const urlOf = (port: number): string => `redis://127.0.0.1:${port}`;
  const container = await startContainer({
    image: 'redis:8-alpine',
    innerPort: 6379,
    readyLog: /Ready to accept/,
    urlOf,
    command,
  });
  if (container !== undefined) return container;
  const fetched = await findDebianServer('redis-server');
  if (fetched === undefined) throw new Error(howToInstall('Redis'));
  return startProgram(fetched, durable);
}
