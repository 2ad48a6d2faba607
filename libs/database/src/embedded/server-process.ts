import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from './address.js';
import type { Binaries } from './binaries.js';
import { failureFrom } from './failures.js';
import type { Places } from './places.js';
import { ServerLog } from './server-log.js';
import { identityOf, serverEnvironment } from './server-user.js';

/** How a server ended that nobody asked to. */
export interface ServerEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** Null when it exited by itself. */
  readonly signal: NodeJS.Signals | null;
  /** The last lines that it wrote. */
  readonly log: string;
}

/** Safe against power cuts as delivered; sized for a workstation, and quiet about statements, which hold people's words. */
const settings: Readonly<Record<string, string>> = {
  shared_buffers: '128MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '64MB',
  max_connections: '60',
  max_worker_processes: '4',
  max_parallel_workers: '2',
  max_parallel_workers_per_gather: '1',
  io_method: 'sync',
  jit: 'off',
  random_page_cost: '1.1',
  wal_level: 'minimal',
  max_wal_senders: '0',
  min_wal_size: '80MB',
  max_wal_size: '512MB',
  log_checkpoints: 'off',
  log_startup_progress_interval: '1s',
  log_min_error_statement: 'panic',
  log_timezone: 'UTC',
  timezone: 'UTC',
  cluster_name: 'workspace-graph',
};

function findSetpriv(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  // biome-ignore lint/style/noProcessEnv: where a system's program lies is not a setting of the product
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/bin'].filter(
    (folder) => folder !== '',
  );
  return folders
    .map((folder) => join(folder, 'setpriv'))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Where `setpriv` is there, the kernel ends the server when this process dies, even by SIGKILL; elsewhere the next start does. */
function startChild(binaries: Binaries, places: Places, args: readonly string[]): ChildProcess {
  const setpriv = findSetpriv();
  const [command, before] =
    setpriv === undefined ? [binaries.postgres, []] : [setpriv, ['--pdeathsig', 'INT', '--', binaries.postgres]];
  return spawn(command, [...before, ...args], {
    ...identityOf(places.user),
    cwd: '/',
    env: serverEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    // A group of its own: Ctrl-C in a terminal must reach only the parent, which stops the server last.
    detached: process.platform !== 'win32',
  });
}

function statusInLockFile(dataFolder: string, pid: number): string | undefined {
  try {
    const lines = readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid ? lines[7]?.trim() : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export interface ServerProcessOptions {
  readonly binaries: Binaries;
  readonly places: Places;
  readonly address: Address;
  /** Called every second while the server brings its data in order after a crash. */
  readonly onRecovery: (line: string) => void;
}

/** One running server, child of this process. */
export class ServerProcess {
  readonly ended: Promise<ServerEnd>;
  readonly pid: number;
  private readonly child: ChildProcess;
  private readonly places: Places;
  private readonly log: ServerLog;
  private recovering = false;
  private over: ServerEnd | undefined;

  constructor(options: ServerProcessOptions) {
    const { binaries, places, address } = options;
    this.places = places;
    this.log = new ServerLog(places.folder, (line) => this.read(line, options.onRecovery));
    const all = Object.entries({ ...settings, ...address.settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    this.child = startChild(binaries, places, ['-D', places.dataFolder, '-p', String(address.port), ...all]);
    this.pid = this.child.pid ?? 0;
    this.child.stdout?.on('data', (chunk: Buffer) => this.log.write(chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => this.log.write(chunk.toString()));
    this.ended = this.watch();
    process.once('exit', this.endNow);
  }

  /** Waits until it takes connections; however long recovery takes, as long as the server works and it is wanted. */
  async ready(withinMs: number, signal?: AbortSignal): Promise<void> {
    let deadlineMs = performance.now() + withinMs;
    while (statusInLockFile(this.places.dataFolder, this.pid) !== 'ready') {
      if (this.over !== undefined) throw failureFrom(this.over.log, this.places.root);
      if (this.recovering) deadlineMs = performance.now() + withinMs;
      if (performance.now() > deadlineMs) await this.giveUp('not ready in time');
      if (signal?.aborted) await this.giveUp('the start was cancelled');
      await sleep(5);
    }
  }

  /** Ends it: fast, which loses nothing; and harder where it does not obey. */
  async stop(): Promise<void> {
    const steps = [
      ['SIGINT', 60_000],
      ['SIGQUIT', 10_000],
      ['SIGKILL', 10_000],
    ] as const;
    for (const [name, graceMs] of steps) {
      if (this.over !== undefined) return;
      this.child.kill(name);
      await Promise.race([this.ended, sleep(graceMs, undefined, { ref: false })]);
    }
  }

  private readonly endNow = (): void => void this.child.kill('SIGINT');

  private read(line: string, onRecovery: (line: string) => void): void {
    if (line.includes('automatic recovery in progress')) this.recovering = true;
    if (line.includes('ready to accept connections')) this.recovering = false;
    if (this.recovering) onRecovery(line);
  }

  private watch(): Promise<ServerEnd> {
    const { promise, resolve } = Promise.withResolvers<ServerEnd>();
    const finish = (exitCode: number | null, signal: NodeJS.Signals | null): void => {
      process.off('exit', this.endNow);
      this.over ??= { exitCode, signal, log: this.log.tail() };
      resolve(this.over);
    };
    this.child.once('error', (error) => {
      this.log.write(`${error.message}\n`);
      finish(null, null);
    });
    // Not `close`: the server's children may hold the pipe open for a while after it was killed.
    this.child.once('exit', (code, signal) => setTimeout(finish, 20, code, signal));
    return promise;
  }

  private async giveUp(why: string): Promise<never> {
    const log = this.log.tail();
    await this.stop();
    throw failureFrom(`${log}\n${why}`, this.places.root);
  }
}
