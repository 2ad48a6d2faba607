import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** One running process; a zombie (dead, not yet reaped) is never listed. */
export interface ProcessInfo {
  /** Process id. */
  pid: number;
  /** Process id of the parent, or of the process that adopted it. */
  parentPid: number;
  /** Id of its process group. */
  groupId: number;
  /** Program and arguments, joined by spaces. */
  command: string;
}

function readProcEntry(pid: number): ProcessInfo | undefined {
  let stat: string;
  let commandLine: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  // The name stands in parentheses and may itself hold spaces and parentheses.
  const nameEnd = stat.lastIndexOf(')');
  const [state, parentPid, groupId] = stat.slice(nameEnd + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  const name = stat.slice(stat.indexOf('(') + 1, nameEnd);
  return { pid, parentPid: Number(parentPid), groupId: Number(groupId), command: commandLine || name };
}

function isGone(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ESRCH';
}

function listFromProc(): ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcEntry(Number(name)))
    .filter((entry) => entry !== undefined);
}

function listFromPs(): ProcessInfo[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,command='], { encoding: 'utf8' });
  return table.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (match === null || match[4]?.startsWith('Z')) return [];
    return [{ pid: Number(match[1]), parentPid: Number(match[2]), groupId: Number(match[3]), command: match[5] ?? '' }];
  });
}

/** Every running process of the machine that this user may see. */
export function listProcesses(): ProcessInfo[] {
  return process.platform === 'linux' ? listFromProc() : listFromPs();
}

/** True while the process runs; a zombie counts as dead, which `process.kill(pid, 0)` gets wrong. */
export function isRunning(pid: number): boolean {
  if (process.platform === 'linux') return readProcEntry(pid) !== undefined;
  return listFromPs().some((entry) => entry.pid === pid);
}

/** The running members of a process group. */
export function processGroup(groupId: number): ProcessInfo[] {
  return listProcesses().filter((entry) => entry.groupId === groupId);
}

/** Children of a process, their children, and so on. */
export function descendantsOf(pid: number): ProcessInfo[] {
  const all = listProcesses();
  const found = new Map<number, ProcessInfo>();
  let wave = new Set([pid]);
  while (wave.size > 0) {
    const next = all.filter((entry) => wave.has(entry.parentPid) && !found.has(entry.pid));
    for (const entry of next) found.set(entry.pid, entry);
    wave = new Set(next.map((entry) => entry.pid));
  }
  return [...found.values()];
}
