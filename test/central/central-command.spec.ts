import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { whoami } from '@workspace-graph/contracts';
import { descendantsOf, isRunning, type ProcessInfo } from '@workspace-graph/testing';
import { ROOT, until } from './central-world.js';
import { RestClient } from './rest-client.js';

const started: ChildProcess[] = [];

afterEach(async () => {
  for (const child of started.splice(0))
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
});

/** Runs the command in a process group of its own, as a terminal does. */
function run(...args: string[]): { readonly child: ChildProcess; readonly output: () => string } {
  const child = spawn(process.execPath, [join(ROOT, 'tools/central.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { child, output: () => output };
}

/** What runs below it; the wrapper that ends a server with its parent becomes the server. */
function ours(child: ChildProcess, name: string): ProcessInfo[] {
  return descendantsOf(child.pid ?? -1).filter((entry) => entry.command.includes(name));
}

/** The command lines of the servers below it. */
function stores(child: ChildProcess): string {
  return descendantsOf(child.pid ?? -1)
    .map((entry) => entry.command)
    .filter((command) => !command.includes('dist/bundle/main.js'))
    .join('\n');
}

describe('npm run central', () => {
  it('says how it is used, and what it does not understand', async () => {
    const help = run('--help');
    expect(await once(help.child, 'close')).toEqual([0, null]);
    expect(help.output()).toMatch(/^Usage: npm run central/);
    const wrong = run('--scale', 'gateway=none');
    expect(await once(wrong.child, 'close')).toEqual([1, null]);
    expect(wrong.output()).toBe('--scale takes SERVICE=NUMBER\n');
  });

  it('prints address and token, starts again what died, and ends everything on Ctrl-C [config.compose.truthful]', async () => {
    const { child, output } = run('--port', '0');
    await until('it is ready', () => output().includes('Ctrl-C stops it.'));
    const [, url = ''] = /ready at (http:\S+)/.exec(output()) ?? [];
    const [, token = ''] = /Administrator token: (\S+)/.exec(output()) ?? [];
    const administrator = new RestClient(url, token);
    expect(await administrator.call(whoami, {})).toMatchObject({ scope: 'manage' });

    const [victim] = ours(child, 'apps/graph-svc/dist/bundle/main.js');
    process.kill(victim?.pid ?? -1, 'SIGKILL');
    expect((await administrator.call(whoami, {})).scope).toBe('manage');
    const instances = (): number[] => ours(child, 'apps/graph-svc/dist/bundle/main.js').map((entry) => entry.pid);
    await until('another instance runs', () => instances().length === 2 && !instances().includes(victim?.pid ?? -1));
    const serving = (): string[] =>
      output()
        .split('\n')
        .filter((line) => line.includes('"process":"graph-svc"') && line.includes('"serving"'));
    await until('it serves', () => serving().length === 3);

    expect(stores(child)).toMatch(/postgres .*max_connections=100/);
    expect(stores(child)).not.toContain('fsync=off');
    // Nothing is told to be there that is not.
    const hasObjects = ours(child, 'minio server').length > 0;
    expect(output().includes('minio is not started: this machine has no program of that name')).toBe(!hasObjects);

    const all = descendantsOf(child.pid ?? -1);
    for (const name of ['nats-server', 'postgres', 'redis-server', 'gateway'])
      expect(all.some((entry) => entry.command.includes(name))).toBe(true);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(all.filter((entry) => isRunning(entry.pid))).toEqual([]);
    expect(output()).not.toContain('did not stop cleanly');
  });

  it('leaves nothing behind when it is killed, and syncs nothing to disk when told so', async () => {
    const { child, output } = run('--port', '0', '--quiet', '--no-fsync');
    await until('it is ready', () => output().includes('Ctrl-C stops it.'));
    expect(stores(child)).toMatch(/postgres .*fsync=off/);
    expect(stores(child)).toMatch(/redis-server/);
    const all = descendantsOf(child.pid ?? -1);
    expect(all.length).toBeGreaterThan(4);
    child.kill('SIGKILL');
    await until('everything has ended', () => all.every((entry) => !isRunning(entry.pid)));
  });
});
