import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, type ProcessInfo, processGroup } from './processes.js';
import { ownServerPids } from './servers/child.js';
import { sharedServerPids } from './shared-servers.js';

export interface OrphanCheck {
  /** Look at this process group; without it, at the descendants of `parentPid`. */
  groupId?: number;
  /** Default: this process. */
  parentPid?: number;
  /** How long processes that are already ending may take. Default 2000. */
  withinMs?: number;
}

function survivors(check: OrphanCheck): ProcessInfo[] {
  const listed =
    check.groupId === undefined ? descendantsOf(check.parentPid ?? process.pid) : processGroup(check.groupId);
  const servers = [...ownServerPids(), ...sharedServerPids()];
  const tolerated = new Set(servers.flatMap((pid) => [pid, ...descendantsOf(pid).map((entry) => entry.pid)]));
  return listed.filter((entry) => entry.pid !== process.pid && !tolerated.has(entry.pid));
}

/**
 * Passes once no process is left in the group (or under the parent); servers that this library still
 * runs for the tests do not count.
 * @throws Error naming pid and command of each process that outlived `withinMs`
 */
export async function expectNoOrphans(check: OrphanCheck = {}): Promise<void> {
  const deadlineMs = Date.now() + (check.withinMs ?? 2000);
  let left = survivors(check);
  while (left.length > 0 && Date.now() < deadlineMs) {
    await sleep(25);
    left = survivors(check);
  }
  if (left.length === 0) return;
  const lines = left.map((entry) => `  ${entry.pid} (parent ${entry.parentPid}) ${entry.command}`);
  throw new Error(`${left.length} process(es) left behind:\n${lines.join('\n')}`);
}
