import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectNoOrphans } from '@workspace-graph/testing';
import { Checkout, finish } from './bootstrap.fixture.js';

/**
 * As npm in what matters here: `ci` begins by removing everything, `install` adds what is absent and takes a folder with
 * the right version for the whole package. A file `npm-mode` makes it fail, or hang and ignore a request to end; it writes
 * each call to `npm-calls`.
 */
const fakeNpm = String.raw`
const fs = require('node:fs');
const [command, ...options] = process.argv.slice(2);
const scope = options.includes('--omit=dev') ? 'run' : options.includes('--include=dev') ? 'all' : 'unknown';
const mode = fs.existsSync('npm-mode') ? fs.readFileSync('npm-mode', 'utf8') : '';
fs.appendFileSync('npm-calls', command + ' ' + scope + '\n');
const fail = (text) => { console.error(text); process.exit(1); };
if (mode === 'offline') fail('npm error code ENOTFOUND');
if (mode === 'misfit' && command === 'ci') fail('npm error code EUSAGE');
if (command === 'ci') fs.rmSync('node_modules', { recursive: true, force: true });
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
const wanted = Object.entries(packages).filter(([path, one]) => path !== '' && !one.foreign && (scope === 'all' || !one.dev));
for (const [path, { version, link, resolved }] of wanted) {
  if (link) {
    fs.mkdirSync('node_modules', { recursive: true });
    if (!fs.existsSync(path)) fs.symlinkSync(fs.realpathSync(resolved), path);
    continue;
  }
  const present = fs.existsSync(path + '/package.json') && JSON.parse(fs.readFileSync(path + '/package.json', 'utf8'));
  if (present && present.version === version) continue;
  fs.mkdirSync(path, { recursive: true });
  fs.writeFileSync(path + '/package.json', JSON.stringify({ version }));
  if (mode === 'hang') break;
  fs.writeFileSync(path + '/index.js', '');
}
if (mode === 'hang') { process.on('SIGTERM', () => undefined); fs.writeFileSync('hanging', ''); setInterval(() => undefined, 1000); }
else {
  const listed = mode === 'misfit' ? [] : wanted;
  fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(listed) }));
  if (mode === 'full') console.error('npm warn tar TAR_ENTRY_ERROR ENOSPC: no space left on device, write');
}`;
const packages = {
  '': { version: '1.0.0' },
  'node_modules/a': { version: '1.0.0' },
  'node_modules/for-windows': { version: '1.0.0', optional: true, foreign: true },
  'node_modules/d': { version: '1.0.0', dev: true },
  'node_modules/d-for-windows': { version: '1.0.0', dev: true, optional: true, foreign: true },
  'node_modules/e': { version: '1.0.0', dev: true },
  'node_modules/one': { resolved: 'libs/one', link: true },
  'libs/one/node_modules/n': { version: '1.0.0' },
};
let checkout: Checkout;

function lock(changes: Record<string, unknown> = {}): void {
  checkout.write('package-lock.json', JSON.stringify({ packages: { ...packages, ...changes } }));
}

/** Lets npm work, or fail in one of the ways that `fakeNpm` knows. */
function npm(mode: '' | 'offline' | 'misfit' | 'hang' | 'full'): void {
  checkout.write('npm-mode', mode);
}

const start = (task: string) =>
  checkout.start([task], { npm_execpath: checkout.path('npm/npm-cli.js'), NODE_ENV: 'production' });
const run = (task: string) => finish(start(task));

/** What npm was asked for since the last time. */
function calls(): string[] {
  if (!checkout.has('npm-calls')) return [];
  const lines = checkout.read('npm-calls').trim().split('\n');
  checkout.remove('npm-calls');
  return lines;
}

async function killWhileInstalling(task: string): Promise<void> {
  npm('hang');
  const child = start(task);
  const ended = once(child, 'close');
  while (!checkout.has('hanging') && child.exitCode === null) await sleep(20);
  child.kill('SIGKILL');
  await ended;
  await expectNoOrphans({ groupId: child.pid, withinMs: 60_000 });
  checkout.remove('hanging');
  npm('');
  calls();
}

beforeEach(() => {
  checkout = new Checkout();
  checkout.write('npm/npm-cli.js', fakeNpm);
  lock();
});

afterEach(() => checkout.remove(''));

describe('what is installed', () => {
  it('is what running needs for a start, to which the tests add theirs and remove nothing', async () => {
    expect((await run('svc')).code).toBe(0);
    expect(calls()).toEqual(['ci run']);
    expect([checkout.has('node_modules/a'), checkout.has('node_modules/d')]).toEqual([true, false]);
    checkout.write('node_modules/a/in-use', '');
    expect((await run('test')).code).toBe(0);
    expect(calls()).toEqual(['install all']);
    expect([checkout.has('node_modules/a/in-use'), checkout.has('node_modules/d/index.js')]).toEqual([true, true]);
    for (const task of ['svc', 'test', 'lint']) await run(task);
    expect(calls()).toEqual([]);
  });

  it('is everything in one step when the tests come first', async () => {
    await run('test');
    await run('svc');
    expect(calls()).toEqual(['ci all']);
  });

  it('is installed once by two starts at the same time', async () => {
    const ended = await Promise.all([run('svc'), run('svc')]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(calls()).toEqual(['ci run']);
  });

  it('follows a changed lock file in place, and stays everything where it was everything', async () => {
    await run('svc');
    lock({ 'node_modules/a': { version: '2.0.0' } });
    await run('svc');
    expect(calls()).toEqual(['ci run', 'install run']);
    await run('test');
    lock();
    await run('svc');
    expect(calls()).toEqual(['install all', 'install all']);
    expect(JSON.parse(checkout.read('node_modules/a/package.json'))).toEqual({ version: '1.0.0' });
  });

  it('has a link to each package of ours, new ones too', async () => {
    await run('svc');
    checkout.write('libs/two/package.json', '{}');
    lock({ 'node_modules/two': { resolved: 'libs/two', link: true } });
    await run('svc');
    expect(calls()).toEqual(['ci run', 'install run']);
    expect([checkout.has('node_modules/one/package.json'), checkout.has('node_modules/two/package.json')]).toEqual([
      true,
      true,
    ]);
  });

  it('may come from a developer, or from a revision that stamped differently', async () => {
    await run('test');
    calls();
    checkout.remove('node_modules/.workspace-graph-install');
    await run('test');
    checkout.write('node_modules/.workspace-graph-install', 'c0ffee');
    await run('svc');
    expect(calls()).toEqual([]);
  });

  it('is nothing that an earlier revision, which knows no parts, takes for everything', async () => {
    await run('svc');
    expect(checkout.has('node_modules/.package-lock.json')).toBe(false);
  });

  it('is not what npm lists without having installed it, nor what a clean-up took away', async () => {
    await run('svc');
    calls();
    lock({ 'node_modules/a': { version: '2.0.0' } });
    const listed = { packages: { ...packages, 'node_modules/a': { version: '2.0.0' } } };
    checkout.write('node_modules/.package-lock.json', JSON.stringify(listed));
    await run('svc');
    expect(calls()).toEqual(['install run']);
    checkout.remove('libs/one/node_modules');
    await run('svc');
    expect(calls()).toEqual(['install run']);
    expect(checkout.has('libs/one/node_modules/n/index.js')).toBe(true);
  });
});

describe('an installation that does not end', () => {
  it('is begun anew when it was the first', async () => {
    await killWhileInstalling('svc');
    expect((await run('svc')).code).toBe(0);
    expect(calls()).toEqual(['ci run']);
    expect(checkout.has('node_modules/a/index.js')).toBe(true);
  });

  it('leaves what runs as it was, and no piece of a package once it is repeated', async () => {
    await run('svc');
    checkout.write('node_modules/a/in-use', '');
    await killWhileInstalling('test');
    expect([checkout.has('node_modules/d/package.json'), checkout.has('node_modules/d/index.js')]).toEqual([
      true,
      false,
    ]);
    expect((await run('svc')).code).toBe(0);
    expect(calls()).toEqual([]);
    expect((await run('test')).code).toBe(0);
    expect(calls()).toEqual(['install all']);
    expect([checkout.has('node_modules/d/index.js'), checkout.has('node_modules/a/in-use')]).toEqual([true, true]);
  });

  it('leaves no piece when the lock file goes back to what it was', async () => {
    await run('svc');
    lock({ 'node_modules/a': { version: '2.0.0' } });
    await killWhileInstalling('svc');
    lock();
    await killWhileInstalling('svc');
    expect(checkout.has('node_modules/a/index.js')).toBe(false);
    expect((await run('svc')).code).toBe(0);
    expect(checkout.has('node_modules/a/index.js')).toBe(true);
  });
});

describe('an installation that fails', () => {
  it('says so without a network, and lets run what was there', async () => {
    await run('svc');
    npm('offline');
    const { code, output } = await run('test');
    expect([code, output]).toEqual([1, expect.stringContaining('The package registry cannot be reached.')]);
    calls();
    expect((await run('svc')).code).toBe(0);
    expect(calls()).toEqual([]);
    npm('');
    expect((await run('test')).code).toBe(0);
  });

  it('says so when a file could not be written, and is not believed afterwards', async () => {
    npm('full');
    expect(await run('svc')).toMatchObject({ code: 1, output: expect.stringContaining('The disk is full.') });
    npm('');
    calls();
    expect((await run('svc')).code).toBe(0);
    expect(calls()).toEqual(['ci run']);
  });

  it('says so when package.json asks for something else, and removes nothing', async () => {
    await run('svc');
    lock({ 'node_modules/b': { version: '1.0.0' } });
    npm('misfit');
    const { code, output } = await run('svc');
    expect([code, output]).toEqual([1, expect.stringContaining('do not match')]);
    expect(checkout.has('node_modules/a/index.js')).toBe(true);
  });
});
