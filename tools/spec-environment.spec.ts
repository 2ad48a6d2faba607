import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
