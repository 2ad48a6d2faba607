import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
  /** Files that the configuration includes, by their paths in a container where it is /etc/nats/nats.conf itself. */
  files?: Readonly<Record<string, string>>;
  /** Never use the server named by SVC_TEST_NATS_URL: the spec will kill or restart it. */
  own?: boolean;
}

export type NatsServer = TestServer;

const CONFIG_FILE = '/etc/nats/nats.conf';

function urlOf(port: number): string {
  return `nats://127.0.0.1:${port}`;
}

/** Laid out as in a container, so that what the configuration includes is where it looks for it. */
function configArgs(folder: string, { config, files = {} }: NatsOptions): string[] {
  if (config === undefined) return [];
  for (const [path, text] of Object.entries({ ...files, [CONFIG_FILE]: config })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o600 });
  }
  return ['-c', join(folder, CONFIG_FILE)];
}

function startProgram(binary: string, options: NatsOptions): Promise<NatsServer> {
  const folder = makeFolder();
  const args = [...configArgs(folder, options), '-a', '127.0.0.1', '-p'];
  return startLocalServer({
    name: 'NATS',
    folder,
    port: options.port,
    urlOf,
    launch: (port) => startChild({ binary, args: [...args, `${port}`], logFile: join(folder, 'nats.log') }),
    probe: (port) => answersWith(port, 'INFO '),
    stopSignal: 'SIGINT',
    readyWithinMs: 10_000,
    pauseMs: 10,
  });
}

function startInContainer({ port, config, files }: NatsOptions): Promise<NatsServer | undefined> {
  const placed = Object.entries({ ...files, [CONFIG_FILE]: config ?? '' });
  const withConfig = config !== undefined && {
    command: ['-c', CONFIG_FILE],
    files: placed.map(([target, content]) => ({ target, content })),
  };
  return startContainer({
    image: 'nats:2-alpine',
    innerPort: 4222,
    port,
    readyLog: /Server is ready/,
    urlOf,
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
