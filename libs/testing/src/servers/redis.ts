import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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
  /** Arguments of the server, instead of those for `durable`; a path of a configuration file comes first. */
  args?: readonly string[];
  /** Files that the arguments name, by their paths there. */
  files?: Readonly<Record<string, string>>;
  /** Never use the server named by SVC_TEST_REDIS_URL: the spec will kill or restart it. */
  own?: boolean;
}

export type RedisServer = TestServer;

function persistence(durable: boolean): string[] {
  const log = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  return ['--save', '', ...log];
}

function argsOf({ args, durable }: RedisOptions): readonly string[] {
  return args ?? persistence(durable === true);
}

/** The arguments with the files that they name put into the run's folder. */
function placeFiles(folder: string, options: RedisOptions): string[] {
  return argsOf(options).map((arg) => {
    const text = options.files?.[arg];
    if (text === undefined) return arg;
    const file = join(folder, basename(arg));
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  });
}

/** One that asks for a password does its work, too. */
async function answers(port: number): Promise<boolean> {
  return (await answersWith(port, '+PONG', 'PING\r\n')) || (await answersWith(port, '-NOAUTH', 'PING\r\n'));
}

function startProgram(binary: string, options: RedisOptions): Promise<RedisServer> {
  const folder = makeFolder();
  const args = [...placeFiles(folder, options), '--bind', '127.0.0.1', '--dir', folder];
  return startLocalServer({
    name: 'Redis',
    folder,
    urlOf: (port) => `redis://127.0.0.1:${port}`,
    launch: (port) => startChild({ binary, args: [...args, '--port', `${port}`], logFile: join(folder, 'redis.log') }),
    probe: answers,
    stopSignal: 'SIGINT',
    readyWithinMs: 10_000,
    pauseMs: 10,
  });
}

function startInContainer(options: RedisOptions): Promise<RedisServer | undefined> {
  return startContainer({
    image: 'redis:8-alpine',
    innerPort: 6379,
    readyLog: /Ready to accept/,
    urlOf: (port) => `redis://127.0.0.1:${port}`,
    command: ['redis-server', ...argsOf(options)],
    files: Object.entries(options.files ?? {}).map(([target, content]) => ({ target, content })),
  });
}

/**
 * Starts a private Redis on a free loopback port, or answers the one named by SVC_TEST_REDIS_URL.
 * @throws Error with the server's log when it does not start, or saying what to install
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const given = process.env['SVC_TEST_REDIS_URL'];
  const isPlain = options.durable !== true && options.own !== true && options.args === undefined;
  if (given !== undefined && isPlain) return externalServer(given, 'Redis');
  const installed = findServer('redis-server', 'valkey-server');
  if (installed !== undefined) return startProgram(installed, options);
  const container = await startInContainer(options);
  if (container !== undefined) return container;
  const fetched = await findDebianServer('redis-server');
  if (fetched === undefined) throw new Error(howToInstall('Redis'));
  return startProgram(fetched, options);
}
