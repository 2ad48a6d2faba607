import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What a spec file leaves behind and the next one of the same worker would find, by a name for each. */
const LEFT_BEHIND = `
  const { default: environmentOf } = await import('./libs/testing/jest/leak-checking-environment.mjs');
  const config = { projectConfig: { globals: {}, testEnvironmentOptions: {}, fakeTimers: {} }, globalConfig: {} };
  const first = environmentOf(config, {});
  await first.setup();
  const limit = Symbol.for('TEST_TIMEOUT_SYMBOL');
  first.global[limit] = 1;
  first.global.process.env.LEFT_BEHIND = '1';
  await first.teardown();
  const second = environmentOf(config, {});
  console.log(JSON.stringify({ limit: second.global[limit] ?? null, variable: process.env.LEFT_BEHIND ?? null, shared: first === second }));
`;

it('a spec file finds neither the time limit nor the variables of the one before it in the same worker', () => {
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', LEFT_BEHIND], {
    cwd: join(root),
    encoding: 'utf8',
  });
  expect(JSON.parse(told)).toEqual({ limit: null, variable: null, shared: true });
});

/** Holds on to something in its module, as what it says to do before its tests does. */
const HOLDING = `
  const held = { held: true };
  (process.ofSpecs ??= []).push(new WeakRef(held));
  beforeAll(() => held);
  it('passes', () => expect(held.held).toBe(true));
`;
/** Says how many of those before it are still held. */
const COUNTING = `
  it('counts', async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    gc();
    process.stderr.write('held: ' + process.ofSpecs.filter((ref) => ref.deref()).length + ' of ' + process.ofSpecs.length);
  });
`;

it('a worker lets go of the modules of the spec files that it has run', async () => {
  const rootDir = await mkdtemp(join(tmpdir(), 'spec-environment-'));
  try {
    const names = Array.from({ length: 8 }, (_none, index) => `${index}.spec.js`);
    // Jest begins with the longest file.
    for (const name of names) await writeFile(join(rootDir, name), HOLDING.padEnd(2_000));
    await writeFile(join(rootDir, 'last.spec.js'), COUNTING);
    const parts = join(root, 'libs/testing/jest');
    const config = {
      rootDir,
      testEnvironment: join(parts, 'leak-checking-environment.mjs'),
      runtime: join(parts, 'sharing-runtime.mjs'),
      transform: {},
    };
    const jest = join(root, 'node_modules/jest/bin/jest.js');
    const args = ['--runInBand', '--ci', '--config', JSON.stringify(config)];
    const { NODE_OPTIONS: _, JEST_WORKER_ID: __, ...env } = process.env;
    const options = ['--expose-gc', '--experimental-vm-modules'];
    const { stderr } = await promisify(execFile)(process.execPath, [...options, jest, ...args], { cwd: rootDir, env });
    const [, held, all] = /held: (\d+) of (\d+)/.exec(stderr) ?? [];
    // The last one may still be ending.
    expect([Number(held) <= 1, all]).toEqual([true, '8']);
  } finally {
    await rm(rootDir, { recursive: true });
  }
});
