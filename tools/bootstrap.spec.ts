import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expectNoOrphans } from '@workspace-graph/testing';
import { matchesLock } from './bootstrap/install.mjs';

const tools = dirname(fileURLToPath(import.meta.url));
const fakeBuilder =
  "require('node:fs').appendFileSync('builds', 'x'); require('node:fs').mkdirSync('libs/one/dist', { recursive: true });";
const waitingTask =
  "process.on('SIGTERM', () => process.exit(7)); console.log('up', process.argv.slice(2).join(' ')); setInterval(() => undefined, 1000);";
let root: string;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function start(args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const own = { ...process.env, NODE_OPTIONS: '', npm_lifecycle_event: undefined, ...env };
  return spawn(process.execPath, [join(root, 'tools/bootstrap.mjs'), ...args], { env: own, detached: true });
}

async function finish(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

function builds(): number {
  return existsSync(join(root, 'builds')) ? readFileSync(join(root, 'builds'), 'utf8').length : 0;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bootstrap-'));
  cpSync(tools, join(root, 'tools'), { recursive: true });
  write('package.json', JSON.stringify({ workspaces: ['libs/*'], dependencies: { node: '24.0.0' } }));
  write('package-lock.json', JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
  write('node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
  write('node_modules/nx/dist/bin/nx.js', fakeBuilder);
  write('libs/one/package.json', JSON.stringify({ name: 'one', scripts: { build: 'x' } }));
  write('libs/one/src/index.ts', '');
  write('apps/device-agent/bin/svc.mjs', waitingTask);
});

afterEach(() => rmSync(root, { recursive: true }));

describe('the bootstrap', () => {
  it('builds once, and again when a source changed or a result is gone', async () => {
    await finish(start(['build']));
    await finish(start(['build']));
    expect(builds()).toBe(1);
    appendFileSync(join(root, 'libs/one/src/index.ts'), '// changed');
    await finish(start(['build']));
    expect(builds()).toBe(2);
    rmSync(join(root, 'libs/one/dist'), { recursive: true });
    await finish(start(['build']));
    expect(builds()).toBe(3);
  });

  it('names the step that failed, with what the program said and the way out', async () => {
    write('node_modules/nx/dist/bin/nx.js', "console.error('ENOSPC: no space left on device'); process.exit(1);");
    const { code, output } = await finish(start(['build']));
    expect(code).toBe(1);
    expect(output).toContain('✗ Building failed.\nENOSPC: no space left on device\n  The disk is full.');
  });

  it('installs nothing while what is installed fits the lock file, packages for other systems aside', async () => {
    const lock = {
      packages: {
        '': {},
        'node_modules/a': { version: '1.0.0' },
        'node_modules/b': { version: '1.0.0', optional: true },
      },
    };
    expect(matchesLock(lock, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true);
    expect(matchesLock(lock, { packages: { 'node_modules/a': { version: '1.0.1' } } })).toBe(false);
    expect(matchesLock(lock, { packages: {} })).toBe(false);
  });

  it('takes over the lock of a process that is gone, and waits for one that lives', async () => {
    write('.toolchain/lock', '999999999');
    expect((await finish(start(['build']))).code).toBe(0);
    write('.toolchain/lock', String(process.pid));
    const waiting = finish(start(['build']));
    await sleep(300);
    rmSync(join(root, '.toolchain/lock'));
    expect((await waiting).output).toContain(`Waiting for another command (process ${process.pid})`);
  });

  it('says which tasks there are', async () => {
    expect(await finish(start(['nonsense']))).toMatchObject({ code: 2, output: expect.stringContaining('start|') });
  });
});

describe('a task', () => {
  it('gets its arguments, the signals, and the last word on the exit code', async () => {
    const child = start(['start', '--port', '0']);
    const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    expect(line.toString()).toBe('up start --foreground --port 0\n');
    child.kill('SIGTERM');
    expect((await finish(child)).code).toBe(7);
    await expectNoOrphans({ groupId: child.pid });
  });

  it('ends when the bootstrap is killed', async () => {
    const child = start(['start']);
    await once(child.stdout ?? child, 'data');
    child.kill('SIGKILL');
    await expectNoOrphans({ groupId: child.pid, withinMs: 5000 });
  });

  it('ends when npm, which started it through a shell, is killed', async () => {
    const bootstrap = `${process.execPath} ${join(root, 'tools/bootstrap.mjs')} start`;
    const npm = `require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(`${bootstrap}; true`)}], { stdio: 'inherit' })`;
    const env = { ...process.env, NODE_OPTIONS: '', npm_lifecycle_event: 'start' };
    const child = spawn(process.execPath, ['-e', npm], { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await expectNoOrphans({ groupId: child.pid, withinMs: 5000 });
  });
});
