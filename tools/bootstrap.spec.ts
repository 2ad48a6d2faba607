import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { expectNoOrphans } from '@workspace-graph/testing';
import { Checkout, finish } from './bootstrap.fixture.js';

const waitingTask =
  "process.on('SIGTERM', () => process.exit(7)); console.log('up', process.argv.slice(2).join(' ')); setInterval(() => undefined, 1000);";
let checkout: Checkout;

beforeEach(() => {
  checkout = new Checkout();
  const packages = JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } });
  checkout.write('package-lock.json', packages);
  checkout.write('node_modules/.package-lock.json', packages);
  checkout.write('node_modules/a/package.json', JSON.stringify({ version: '1.0.0' }));
  checkout.write('apps/device-agent/bin/svc.mjs', waitingTask);
});

afterEach(() => checkout.remove(''));

describe('the bootstrap', () => {
  it('builds once, and again when a source changed or a result is gone', async () => {
    await finish(checkout.start(['build']));
    await finish(checkout.start(['build']));
    expect(checkout.builds()).toBe(1);
    appendFileSync(checkout.path('libs/one/src/index.ts'), '// changed');
    await finish(checkout.start(['build']));
    expect(checkout.builds()).toBe(2);
    checkout.remove('libs/one/dist');
    await finish(checkout.start(['build']));
    expect(checkout.builds()).toBe(3);
  });

  it('builds the package that changed, and all when something changed on which all rest', async () => {
    checkout.write('libs/two/package.json', JSON.stringify({ scripts: { build: 'node ../one/build.cjs' } }));
    await finish(checkout.start(['build']));
    expect(checkout.builds()).toBe(2);
    checkout.write('libs/two/src/index.ts', '// changed');
    await finish(checkout.start(['build']));
    expect(checkout.builds()).toBe(3);
    checkout.write('.swcrc', '{}');
    await finish(checkout.start(['build']));
    expect(checkout.builds()).toBe(5);
  });

  it('bundles what all was built of: the app that is started alone, and every one for the rest', async () => {
    checkout.write(
      'package.json',
      JSON.stringify({ workspaces: ['libs/*', 'apps/*'], dependencies: { node: '24.0.0' } }),
    );
    checkout.write('apps/device-agent/bin/svc.mjs', '');
    for (const app of ['device-agent', 'gateway']) {
      checkout.write(`apps/${app}/package.json`, JSON.stringify({ scripts: { bundle: 'node bundle.cjs' } }));
      checkout.write(
        `apps/${app}/bundle.cjs`,
        `const { appendFileSync, existsSync, mkdirSync } = require('node:fs');
         appendFileSync('../../bundles', '${app} ' + existsSync('../../libs/one/dist') + '\\n');
         mkdirSync('dist/bundle', { recursive: true });`,
      );
    }
    const bundledBy = async (task: string): Promise<string[]> => {
      checkout.write('bundles', '');
      expect((await finish(checkout.start([task]))).code).toBe(0);
      return checkout.read('bundles').split('\n').filter(Boolean).sort();
    };
    expect(await bundledBy('svc')).toEqual(['device-agent true']);
    expect(await bundledBy('build')).toEqual(['gateway true']);
    expect(await bundledBy('svc')).toEqual([]);
    appendFileSync(checkout.path('libs/one/src/index.ts'), '// changed');
    expect(await bundledBy('svc')).toEqual(['device-agent true']);
    expect(await bundledBy('build')).toEqual(['gateway true']);
  });

  it('builds everything anew after a build that failed', async () => {
    await finish(checkout.start(['build']));
    checkout.write('libs/two/package.json', JSON.stringify({ scripts: { build: 'exit 1' } }));
    expect(await finish(checkout.start(['build']))).toMatchObject({ code: 1 });
    checkout.remove('libs/two');
    await finish(checkout.start(['build']));
    expect(checkout.builds()).toBe(2);
  });

  it('names the step that failed, with what the program said and the way out', async () => {
    checkout.write('libs/one/build.cjs', "console.error('ENOSPC: no space left on device'); process.exit(1);");
    const { code, output } = await finish(checkout.start(['build']));
    expect(code).toBe(1);
    expect(output).toContain('✗ Building libs/one failed.\nENOSPC: no space left on device\n  The disk is full.');
  });

  it('takes over the lock of a process that is gone, and waits for one that lives', async () => {
    checkout.write('.toolchain/lock', '999999999');
    expect((await finish(checkout.start(['build']))).code).toBe(0);
    checkout.write('.toolchain/lock', String(process.pid));
    const child = checkout.start(['build']);
    const ended = finish(child);
    const isWaiting = new Promise((resolve) => child.stderr?.once('data', resolve));
    await Promise.race([isWaiting, ended]);
    checkout.remove('.toolchain/lock');
    expect((await ended).output).toContain(`Waiting for another command (process ${process.pid})`);
  });

  it('says which tasks there are', async () => {
    expect(await finish(checkout.start(['nonsense']))).toMatchObject({
      code: 2,
      output: expect.stringContaining('start|'),
    });
  });
});

describe('a task', () => {
  it('gets its arguments, the signals, and the last word on the exit code', async () => {
    const child = checkout.start(['start', '--port', '0']);
    const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    expect(line.toString()).toBe('up start --foreground --port 0\n');
    child.kill('SIGTERM');
    expect((await finish(child)).code).toBe(7);
    await expectNoOrphans({ groupId: child.pid });
  });

  it('ends when the bootstrap is killed', async () => {
    const child = checkout.start(['start']);
    await once(child.stdout ?? child, 'data');
    child.kill('SIGKILL');
    await expectNoOrphans({ groupId: child.pid, withinMs: 60_000 });
  });

  it('ends when npm, which started it through a shell, is killed', async () => {
    const bootstrap = `${process.execPath} ${checkout.path('tools/bootstrap.mjs')} start`;
    const npm = `require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(`${bootstrap}; true`)}], { stdio: 'inherit' })`;
    const env = { ...process.env, NODE_OPTIONS: '', npm_lifecycle_event: 'start' };
    const child = spawn(process.execPath, ['-e', npm], { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await expectNoOrphans({ groupId: child.pid, withinMs: 60_000 });
  });
});
