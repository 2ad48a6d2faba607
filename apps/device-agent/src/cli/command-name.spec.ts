import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { commandName, withCommandName } from './command-name.js';

describe('the name of the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-name-'));
  writeFileSync(join(folder, 'svc'), '#!/bin/sh\n');
  chmodSync(join(folder, 'svc'), 0o755);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['svc', { PATH: ['/nowhere', folder].join(delimiter) }],
    ['npx svc', { PATH: '/nowhere' }],
    ['npx svc', {}],
    ['npx svc', { PATH: join(process.cwd(), 'node_modules/.bin') }],
    ['npm run svc --', { PATH: folder, npm_lifecycle_event: 'svc' }],
  ])('is %s with %j', (name, environment) => {
    expect(commandName(environment)).toBe(name);
  });

  it('is quiet where a shell reads what it prints', () => {
    const text = 'eval "$(svc agent env)" or `svc status`';
    expect(withCommandName(text, 'npm run svc --')).toBe(
      'eval "$(npm run -s svc -- agent env)" or `npm run svc -- status`',
    );
    expect(withCommandName(text, 'npx svc')).toBe('eval "$(npx svc agent env)" or `npx svc status`');
  });

  it('stands wherever a text names a command, and nowhere else', () => {
    const text = 'Start it with `svc start`, or (svc stop) · svc demo. svc: no. /opt/svc start, my-svc x, svc.';

    expect(withCommandName(text, 'npx svc')).toBe(
      'Start it with `npx svc start`, or (npx svc stop) · npx svc demo. svc: no. /opt/svc start, my-svc x, svc.',
    );
    expect(withCommandName(text, 'svc')).toBe(text);
  });
});
