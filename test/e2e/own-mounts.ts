import { spawnSync } from 'node:child_process';

interface Mount {
  readonly from: string;
  readonly onto: string;
}

const SCRIPT = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';

/** What to put before a command so that it alone finds one file or folder in the place of another. Needs root on Linux. */
export function withMount({ from, onto }: Mount): readonly string[] {
  return ['unshare', '--mount', 'sh', '-c', SCRIPT, 'sh', from, onto];
}

/** Whether this test run may give a command mounts of its own. */
export function ownMountsAvailable(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const [program = '', ...args] = [...withMount({ from: '/tmp', onto: '/tmp' }), 'true'];
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
