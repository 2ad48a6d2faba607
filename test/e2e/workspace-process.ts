import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@workspace-graph/client';
import type { InputOf, Operation, OutputOf } from '@workspace-graph/contracts';
import { memoryFolder } from '@workspace-graph/testing';
import { copyStarted, type Target } from './started-workspace.js';

const ROOT = join(import.meta.dirname, '../..');
export const SVC = join(ROOT, 'apps/device-agent/bin/svc.mjs');
const READY_MS = 90_000;
/** For a hook that starts a workspace: the machine may be busy. */
export const START_MS = READY_MS + 30_000;

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An ordinary user of this machine, for a test run that is root. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

export interface FolderOptions {
  /** Default: a new folder among the temporary ones. */
  readonly root?: string;
  /** The new folder lies on a disk, for what is about files and crashes. Default: in memory, where the system has such a folder. */
  readonly onDisk?: boolean;
  /** A copy of a workspace that was started before, for who does not ask how a first start goes. Default: nothing is in it. */
  readonly isStarted?: boolean;
  /** Default: the user of the test run. */
  readonly user?: RunAs;
  /** What comes before the command, such as a program that changes its surroundings. */
  readonly before?: readonly string[];
}

/** A folder for a workspace and the `svc` command in it, as a person would use them; removed by `dispose`. */
export class WorkspaceFolder implements AsyncDisposable {
  readonly root: string;
  private readonly options: FolderOptions;
  private running: RunningWorkspace[] = [];

  constructor(options: FolderOptions = {}) {
    this.options = options;
    const base = (options.onDisk ? undefined : memoryFolder()) ?? tmpdir();
    this.root = options.root ?? mkdtempSync(join(base, 'workspace-e2e-'));
  }

  /** Root's database goes where the folder is. */
  get temporary(): string {
    return this.options.root === undefined ? dirname(this.root) : tmpdir();
  }

  /** Environment of this person: nothing of the test run's own but what makes Node start sooner. */
  environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const places = { TMPDIR: this.temporary, HOME: this.root, SVC_WORKSPACE_ROOT: this.root };
    return { PATH, NODE_COMPILE_CACHE, ...places, SVC_PORT: '0', ...extra };
  }

  /** Starts `svc` as the person whose folder this is. */
  spawn(args: readonly string[], options: SpawnOptions): ChildProcess {
    const { user, before = [] } = this.options;
    const [program = '', ...rest] = [...before, process.execPath, SVC, ...args];
    return spawn(program, rest, { ...options, ...user });
  }

  /** Runs `svc` to its end. */
  async svc(
    args: readonly string[],
    options: { env?: Readonly<Record<string, string>>; input?: string } = {},
  ): Promise<CommandResult> {
    const child = this.spawn(args, { env: this.environment(options.env), stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin?.end(options.input ?? '');
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout: await stdout, stderr: await stderr };
  }

  /** Starts the workspace in the foreground of a process of its own and waits until it is ready. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<RunningWorkspace> {
    if (this.options.isStarted) await copyStarted(this, startOnce);
    const workspace = await RunningWorkspace.start(this, env);
    this.running.push(workspace);
    return workspace;
  }

  get token(): string {
    return readFileSync(join(this.root, '.svc/token'), 'utf8').trim();
  }

  /** Stops what `start` started. */
  async stop(): Promise<void> {
    for (const workspace of this.running.splice(0)) await workspace.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    // Root's database lies elsewhere when its server could not enter this folder.
    const location = join(this.root, '.svc/postgres/location');
    if (existsSync(location)) rmSync(readFileSync(location, 'utf8').trim(), { recursive: true, force: true });
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** In a folder of the test run, which goes with it. */
async function startOnce({ root, temporary }: Target): Promise<void> {
  const folder = new WorkspaceFolder({ root });
  try {
    await folder.start({ TMPDIR: temporary });
  } finally {
    await folder.stop();
  }
}

/** A workspace that runs in its own process group. */
export class RunningWorkspace {
  /** Where it listens. */
  url = '';
  /** Milliseconds from spawn to ready. */
  startMs = 0;
  private said = '';
  private readonly folder: WorkspaceFolder;
  private readonly child: ChildProcess;

  private constructor(folder: WorkspaceFolder, child: ChildProcess) {
    this.folder = folder;
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (this.said += chunk));
  }

  static async start(folder: WorkspaceFolder, env: Readonly<Record<string, string>>): Promise<RunningWorkspace> {
    const startedAt = performance.now();
    const child = folder.spawn(['start', '--foreground', '--json'], {
      env: folder.environment({ SVC_LOG_LEVEL: 'error', ...env }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const workspace = new RunningWorkspace(folder, child);
    workspace.url = (await workspace.ready()).url;
    workspace.startMs = performance.now() - startedAt;
    return workspace;
  }

  /** What it wrote to standard output and standard error. */
  get output(): string {
    return this.said;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  /** A request with the workspace's own credential. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.client().request(path, init);
  }

  /** The bare answer to an operation. */
  send<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return this.client().send(operation, input, { headers });
  }

  /** Calls an operation over REST. @throws Error with the status and body of anything but a success */
  async call<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OutputOf<Op>> {
    const response = await this.send(operation, input, headers);
    if (!response.ok) throw new Error(`${operation.name}: ${response.status} ${await response.text()}`);
    return (await response.json()) as OutputOf<Op>;
  }

  /** As Ctrl-C does it: the signal reaches every process of the group. Answers the exit code. */
  async interrupt(): Promise<number | null> {
    return this.end(() => process.kill(-this.pid, 'SIGINT'));
  }

  /** Ends the process as a crash does; the database server is left to itself. */
  async kill(): Promise<void> {
    await this.end(() => this.child.kill('SIGKILL'));
  }

  async stop(): Promise<number | null> {
    return this.end(() => this.child.kill('SIGTERM'));
  }

  /** Waits until it has ended by itself. Answers the exit code. */
  async ended(): Promise<number | null> {
    return this.end(() => undefined);
  }

  /** With the credential as it is now: a test may have replaced it. */
  private client(): Client {
    return new Client({ url: this.url, token: this.folder.token });
  }

  private ready(): Promise<{ url: string }> {
    return new Promise((resolve, reject) => {
      const fail = (what: string): void => reject(new Error(`The workspace ${what}: ${this.said}`));
      const timer = setTimeout(() => fail('was not ready in time'), READY_MS);
      const look = (): void => {
        const state = parseState(this.said);
        if (!state) return;
        clearTimeout(timer);
        this.child.stdout?.off('data', look);
        resolve(state);
      };
      this.child.stdout?.on('data', look);
      this.child.once('exit', (code) => {
        clearTimeout(timer);
        fail(`ended with ${code}`);
      });
    });
  }

  private async end(signal: () => void): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const ended = once(this.child, 'exit') as Promise<[number | null]>;
    signal();
    const [code] = await ended;
    return code;
  }
}

/** The state is the one object of the output that has a url; log lines may stand before it. */
function parseState(output: string): { url: string } | null {
  const found = /\{\s*"pid"[\s\S]*?\n\}/.exec(output);
  return found ? (JSON.parse(found[0]) as { url: string }) : null;
}

async function text(stream: NodeJS.ReadableStream | null): Promise<string> {
  let all = '';
  for await (const chunk of stream?.setEncoding('utf8') ?? []) all += chunk;
  return all;
}
