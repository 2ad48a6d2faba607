import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Parent and command of a process; undefined when it is gone or a zombie. */
function look(pid) {
  if (process.platform !== 'linux') return lookByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z') return undefined;
    return { parent: Number(parent), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') };
  } catch {
    return undefined;
  }
}

function lookByPs(pid) {
  try {
    const line = execFileSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [, parent, command] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    return parent === undefined ? undefined : { parent: Number(parent), command };
  } catch {
    // `ps` fails when there is no such process.
    return undefined;
  }
}

/** npm runs a script through a shell, which some systems replace by the script itself. */
function npmProcess() {
  const parent = look(process.ppid);
  if (parent === undefined) return undefined;
  return /^\S*sh -c /.test(parent.command) ? parent.parent : process.ppid;
}

/**
 * When npm, which runs this script, is killed, the task must not go on without anybody who could stop it.
 * @param end called once, when npm is gone
 */
export function watchLauncher(end) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const npm = npmProcess();
  if (npm === undefined || npm <= 1) return;
  const timer = setInterval(() => {
    if (look(npm) !== undefined) return;
    clearInterval(timer);
    end();
  }, 500);
  timer.unref();
}
