import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, expectNoOrphans, isRunning, listProcesses, processGroup, sharedPostgresUrl } from './index.js';

describe('the orphan check', () => {
  it('names a process that outlives its time', async () => {
    const child = spawn('sleep', ['30']);
    await expect(expectNoOrphans({ withinMs: 50 })).rejects.toThrow(`${child.pid} (parent ${process.pid}) sleep 30`);
    child.kill('SIGKILL');
    await expectNoOrphans();
  });

  it('finds what a group’s leader left behind', async () => {
    const leader = spawn('sh', ['-c', 'sleep 30 & echo up'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    const groupId = leader.pid ?? 0;
    await once(leader, 'exit');
    expect(processGroup(groupId)).toHaveLength(1);
    await expect(expectNoOrphans({ groupId, withinMs: 50 })).rejects.toThrow('sleep 30');
    process.kill(-groupId, 'SIGKILL');
    await expectNoOrphans({ groupId });
  });

  it('lets the run’s shared servers be', async () => {
    await sharedPostgresUrl();
    await expectNoOrphans({ withinMs: 0 });
  });

  it('takes a zombie for dead', async () => {
    // The shell does not reap its child while it sleeps.
    const shell = spawn('sh', ['-c', 'sh -c "exit 0" & exec sleep 30'], { stdio: 'ignore' });
    await once(shell, 'spawn');
    const hasForked = (): boolean =>
      listProcesses().some(({ pid, command }) => pid === shell.pid && command === 'sleep 30');
    while (!hasForked() || descendantsOf(shell.pid ?? 0).length > 0) await sleep(10);
    expect(descendantsOf(shell.pid ?? 0)).toEqual([]);
    expect(isRunning(shell.pid ?? 0)).toBe(true);
    shell.kill('SIGKILL');
    await once(shell, 'exit');
    expect(isRunning(shell.pid ?? 0)).toBe(false);
  });
});
