import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findOnPath } from './binaries.js';
import type { ServerUser } from './server-user.js';

export interface ChildSpec {
  binary: string;
  args: string[];
  /** Receives standard output and error; its tail is quoted when the server fails. */
  logFile: string;
  /** The user to run as, where this process is root and the server refuses to be. */
  user?: ServerUser;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

export interface ServerChild {
  readonly pid: number;
  /** Settles when the process has ended, by whatever cause. */
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** From here on, a script waits for this server's end before it exits; a server that is merely running holds nothing up. */
  hold(): void;
  kill(signal: NodeJS.Signals): void;
  /** The last lines of the log, for error messages. */
  logTail(): string;
}

const running = new Set<ChildProcess>();
let exitHookSet = false;

/** Pids of the servers that this process started and that still run. */
export function ownServerPids(): number[] {
  return [...running].flatMap((child) => (child.pid === undefined ? [] : [child.pid]));
}

function killAllNow(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Where `setpriv` is there, the kernel ends the server when this process dies, even by SIGKILL. */
export function wrapCommand(spec: Pick<ChildSpec, 'binary' | 'args' | 'user'>): [string, string[]] {
  const setpriv = process.platform === 'linux' ? findOnPath('setpriv') : undefined;
  if (setpriv === undefined) return [spec.binary, spec.args];
  const { user } = spec;
  const identity =
    user === undefined ? [] : ['--reuid', String(user.uid), '--regid', String(user.gid), '--init-groups'];
  return [setpriv, [...identity, '--pdeathsig', 'INT', '--', spec.binary, ...spec.args]];
}

/** Starts a server process whose life ends with this one's. */
export function startChild(spec: ChildSpec): ServerChild {
  const [command, args] = wrapCommand(spec);
  const log = openSync(spec.logFile, 'a');
  const child = spawn(command, args, {
    stdio: ['ignore', log, log],
    env: spec.env ?? process.env,
    cwd: spec.cwd ?? '/',
    // Ctrl-C reaches only us, who know what has to stop first; without setpriv it has to reach the server as well.
    detached: command !== spec.binary,
  });
  closeSync(log);
  child.unref();
  let spawnError = '';
  let over = false;
  running.add(child);
  if (!exitHookSet) process.once('exit', killAllNow);
  exitHookSet = true;
  const ended = new Promise<void>((resolve) => {
    const finish = (): void => {
      over = true;
      running.delete(child);
      resolve();
    };
    child.once('exit', finish);
    child.once('error', (error) => {
      spawnError = `${error.message}\n`;
      finish();
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    hasEnded: () => over,
    hold: () => child.ref(),
    kill: (signal) => void child.kill(signal),
    logTail: () => spawnError + (existsSync(spec.logFile) ? readFileSync(spec.logFile, 'utf8').slice(-2000) : ''),
  };
}

/** Asks a server to end and, after `graceMs`, kills it. Settles when it is gone. */
export async function endChild(child: ServerChild, signal: NodeJS.Signals, graceMs = 5000): Promise<void> {
  if (child.hasEnded()) return;
  child.hold();
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await child.ended;
  clearTimeout(timer);
}

const endingSignals = new Set<NodeJS.Signals>(['SIGKILL', 'SIGQUIT', 'SIGINT', 'SIGTERM', 'SIGABRT']);

export function endsServer(signal: NodeJS.Signals): boolean {
  return endingSignals.has(signal);
}

/** Sends a signal and, where it is one that ends a server, waits until the process is gone. */
export async function signalChild(child: ServerChild, signal: NodeJS.Signals): Promise<void> {
  child.hold();
  child.kill(signal);
  if (endsServer(signal)) await child.ended;
}

export interface Readiness {
  server: string;
  withinMs: number;
  pauseMs: number;
  /** True once the server does its work. */
  probe: () => Promise<boolean>;
}

/** @throws Error with the end of the server's log when it ended, or was not ready in time */
export async function waitUntilReady(
  child: ServerChild,
  { server, withinMs, pauseMs, probe }: Readiness,
): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const ready = await probe();
    // Asked after the probe: another server on the same port may have answered it.
    if (child.hasEnded()) throw new Error(`${server} ended while starting:\n${child.logTail()}`);
    if (ready) return;
    if (Date.now() > deadlineMs) throw new Error(`${server} was not ready within ${withinMs} ms:\n${child.logTail()}`);
    await sleep(pauseMs);
  }
}
