import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../ports.js';
import { makeFolder } from '../temp.js';
import { findServer } from './binaries.js';
import { startChild } from './child.js';
import { startLocalServer } from './local-server.js';
import type { TestServer } from './server.js';

export interface MinioOptions {
  /** Arguments of the program. Folders that they name lie below the run's folder. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where it tells that it does its work. */
  readonly healthPath: string;
}

/**
 * Starts a private MinIO on a free loopback port, from an installed program: neither npm nor Debian has it.
 * @returns undefined where it is not installed
 * @throws Error with the end of its log when it does not start
 */
export async function startMinio({ args, environment, healthPath }: MinioOptions): Promise<TestServer | undefined> {
  const binary = findServer('minio');
  if (binary === undefined) return undefined;
  const folder = makeFolder();
  const placed = args.map((arg) => (arg.startsWith('/') ? join(folder, arg) : arg));
  for (const path of placed.filter((arg) => arg.startsWith(folder))) mkdirSync(path, { recursive: true });
  const console = ['--console-address', `127.0.0.1:${await freePort()}`];
  const env = { PATH: process.env['PATH'], HOME: folder, ...environment };
  const logFile = join(folder, 'minio.log');
  return startLocalServer({
    name: 'MinIO',
    folder,
    urlOf: (port) => `http://127.0.0.1:${port}`,
    launch: (port) =>
      startChild({ binary, args: [...placed, '--address', `127.0.0.1:${port}`, ...console], logFile, env }),
    probe: (port) => answersWell(`http://127.0.0.1:${port}${healthPath}`),
    stopSignal: 'SIGTERM',
    readyWithinMs: 30_000,
    pauseMs: 50,
  });
}

function answersWell(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}
