import { writeFileSync } from 'node:fs';
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

export interface NatsOptions {
  /** A fixed port, so that a spec can start the broker after its clients. Default: a free one. */
  port?: number;
  /** The text of a configuration file: accounts, permissions, limits. */
  config?: string;
  /** What `$NAME` in the configuration stands for, beside this process's own environment. */
  environment?: Readonly<Record<string, string>>;
  /** Never use the server named by SVC_TEST_NATS_URL: the spec will kill or restart it. */
  own?: boolean;
}

export type NatsServer = TestServer;

function urlOf(port: number): string {
  return `nats://127.0.0.1:${port}`;
}

function configArgs(folder: string, config: string | undefined): string[] {
  if (config === undefined) return [];
  const file = join(folder, 'nats.conf');
  writeFileSync(file, config, { mode: 0o600 });
  return ['-c', file];
}

function startProgram(binary: string, options: NatsOptions): Promise<NatsServer> {
  const folder = makeFolder();
  const args = [...configArgs(folder, options.config), '-a', '127.0.0.1', '-p'];
  const env = { ...process.env, ...options.environment };
  return startLocalServer({
    name: 'NATS',
    folder,
    port: options.port,
    urlOf,
    launch: (port) => startChild({ binary, args: [...args, `${port}`], logFile: join(folder, 'nats.log'), env }),
    probe: (port) => answersWith(port, 'INFO '),
    stopSignal: 'SIGINT',
    readyWithinMs: 10_000,
    pauseMs: 10,
  });
}

function startInContainer({ port, config, environment }: NatsOptions): Promise<NatsServer | undefined> {
  const file = '/etc/nats/test.conf';
  const withConfig = config === undefined ? {} : { command: ['-c', file], files: [{ content: config, target: file }] };
  return startContainer({
    image: 'nats:2-alpine',
    innerPort: 4222,
    port,
    readyLog: /Server is ready/,
    urlOf,
    ...(environment && { environment: { ...environment } }),
    ...withConfig,
  });
}

/**
 * Starts a private NATS broker on a loopback port, or answers the one named by SVC_TEST_NATS_URL.
 * @throws Error with the broker's log when it does not start (a bad `config`), EADDRINUSE for a `port` that is taken,
 * or saying what to install
 */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  const given = process.env['SVC_TEST_NATS_URL'];
  const wantsOwn = options.own === true || options.port !== undefined || options.config !== undefined;
  if (given !== undefined && !wantsOwn) return externalServer(given, 'NATS');
  const installed = findServer('nats-server');
  if (installed !== undefined) return startProgram(installed, options);
  const container = await startInContainer(options);
  if (container !== undefined) return container;
  const fetched = await findDebianServer('nats-server');
  if (fetched === undefined) throw new Error(howToInstall('NATS'));
  return startProgram(fetched, options);
}
