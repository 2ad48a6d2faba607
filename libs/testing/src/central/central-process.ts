import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { wrapCommand } from '../servers/child.js';

export interface CentralProcessOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly onLine: (line: string, stream: 'stdout' | 'stderr') => void;
  /** Milliseconds to end after the stop signal. */
  readonly stopGraceMs: number;
}

const KEPT_LINES = 200;

/** One process of the central workspace. */
export class CentralProcess {
  readonly name: string;
  /** Resolves when it has ended, by whatever cause, and all that it wrote has been read. */
  readonly ended: Promise<void>;
  private readonly child: ChildProcess;
  private readonly kept: string[] = [];

  constructor(private readonly options: CentralProcessOptions) {
    this.name = options.name;
    const [program = '', ...rest] = options.command;
    const [command, args] = wrapCommand({ binary: program === 'node' ? process.execPath : program, args: rest });
    this.child = spawn(command, args, {
      env: environmentOf(options.environment),
      cwd: options.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      // In a group of its own, Ctrl-C reaches only who stops everything in order.
      detached: true,
    });
    this.read(this.child.stdout, 'stdout');
    this.read(this.child.stderr, 'stderr');
    this.ended = once(this.child, 'close').then(() => undefined);
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Null while it runs, and when a signal ended it. */
  get exitCode(): number | null {
    return this.child.exitCode;
  }

  /** The last lines that it wrote. */
  get lines(): readonly string[] {
    return this.kept;
  }

  /** Ends it the way a crash does. */
  async kill(): Promise<void> {
    if (this.isRunning) this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Asks it to stop and waits; a process that does not is killed. Answers whether it stopped by itself, and cleanly. */
  async stop(): Promise<boolean> {
    if (this.isRunning) this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), this.options.stopGraceMs);
    await this.ended;
    clearTimeout(timer);
    return this.exitCode === 0;
  }

  private read(stream: Readable | null, name: 'stdout' | 'stderr'): void {
    if (!stream) return;
    createInterface({ input: stream }).on('line', (line) => {
      this.kept.push(line);
      if (this.kept.length > KEPT_LINES) this.kept.shift();
      this.options.onLine(line, name);
    });
  }
}

const KEPT_VARIABLES = ['PATH', 'SVC_TEST_RUN', 'NODE_COMPILE_CACHE'];

/**
 * Nothing of the caller's environment but what finds programs, marks a test run and makes Node start sooner: a variable
 * that the compose file forgets must be missing.
 */
function environmentOf(declared: Readonly<Record<string, string>>): Record<string, string> {
  const kept = KEPT_VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]] as const] : []));
  return { ...Object.fromEntries(kept), ...declared };
}
