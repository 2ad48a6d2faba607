import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { descendantsOf } from '@workspace-graph/testing';
import { z } from 'zod';
import { httpAim } from './http-aim.js';
import type { Place } from './place.js';

const POOL_SIZE = 10;
const READY_WITHIN_MS = 60_000;
const Ready = z.looseObject({ pid: z.int(), url: z.string() });

interface Run {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly readyMs: number;
}

/** The local workspace as `npm start` runs it, with its embedded database, in a folder of its own. */
export async function startLocalPlace(root: string): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-graph-bench-'));
  // The database server of root runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711);
  const own = (name: string): string => join(folder, '.svc', name);
  let run = await start(root, folder);
  const read = async (name: string): Promise<string> => (await readFile(own(name), 'utf8')).trim();
  const [databaseUrl, token] = await Promise.all([read('database-url'), read('token')]);
  const stop = async (): Promise<void> => {
    await end(run);
    await rm(folder, { recursive: true, force: true });
  };
  const { url, readyMs } = run;
  return {
    name: 'local',
    title: 'local workspace over HTTP',
    databaseUrl,
    poolSize: POOL_SIZE,
    url,
    administratorToken: token,
    firstStartMs: { 'first start in a fresh folder': readyMs },
    admit: (world) => httpAim(url, token, world),
    processes: () => [
      { name: 'workspace', pid: run.pid },
      ...descendantsOf(run.pid).map(({ pid }) => ({ name: 'embedded database', pid })),
    ],
    freshEdge: async () => {
      await end(run);
      run = await start(root, folder);
      return { url: run.url, pid: run.pid, startedMs: { 'start on this graph': run.readyMs } };
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function start(root: string, folder: string): Promise<Run> {
  const startedMs = performance.now();
  const command = join(root, 'apps/device-agent/bin/svc.mjs');
  const args = ['start', '--foreground', '--json', '--port', '0', '--root', folder];
  const child = spawn(process.execPath, ['--max-semi-space-size=16', command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // One caller stands for many here.
    env: { ...process.env, SVC_RATE_LIMIT_PER_MINUTE: '0' },
  });
  const { pid, url } = await untilReady(child);
  const response = await fetch(new URL('/health/ready', url));
  await response.text();
  if (!response.ok) throw new Error(`The local workspace says ${response.status} where it should be ready`);
  return { child, pid, url, readyMs: performance.now() - startedMs };
}

/** It prints one JSON value when it is ready, or the error object and ends. */
function untilReady(child: ChildProcess): Promise<z.infer<typeof Ready>> {
  let printed = '';
  let logged = '';
  child.stderr?.on('data', (chunk: Buffer) => (logged = `${logged}${chunk}`.slice(-4_000)));
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`The local workspace ${why}:\n${printed}${logged}`));
    const timer = setTimeout(() => fail('was not ready in time'), READY_WITHIN_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      printed = `${printed}${chunk}`.slice(-4_000);
      const ready = Ready.safeParse(parseJson(printed));
      if (!ready.success) return;
      clearTimeout(timer);
      resolve(ready.data);
    });
  });
}

async function end({ child }: Run): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** Undefined while it is not whole; the log may stand before it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{\n')));
  } catch {
    return undefined;
  }
}
