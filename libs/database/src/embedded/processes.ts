import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Text of a file under /proc; undefined when the process is gone or its file is not ours to read. */
function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(join('/proc', String(pid), file), 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a process runs. A zombie, which still answers signals, does not. */
export function isRunning(pid: number): boolean {
  if (process.platform !== 'linux') return answersSignals(pid);
  const state = readProc(pid, 'stat')?.replace(/^.*\) /s, '')[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** The command line of a process, '' where there is none to see. */
function commandOf(pid: number): string {
  if (process.platform === 'linux') return readProc(pid, 'cmdline')?.replaceAll('\0', ' ') ?? '';
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    // `ps` ends with 1 when there is no such process.
    if ((error as { status?: number }).status === 1) return '';
    throw error;
  }
}

/** Whether this process is the first process of a server on this data folder, and not another that got its number. */
export function isServerOf(pid: number, dataFolder: string): boolean {
  return isRunning(pid) && commandOf(pid).includes(`-D ${dataFolder} `);
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(join('/proc', String(pid), 'cwd'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
}

/** Server processes that work in this data folder, whoever started them. Known on Linux only; elsewhere empty. */
export function processesIn(dataFolder: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.filter(
    (pid) => workingFolder(pid) === dataFolder && commandOf(pid).includes('postgres') && isRunning(pid),
  );
}

/** Sends a signal; a process that is gone already is what was wanted. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** @returns whether the condition came true in time */
export async function waitFor(condition: () => boolean, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadlineMs) return false;
    await sleep(20);
  }
  return true;
}
