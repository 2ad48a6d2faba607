import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checker = fileURLToPath(new URL('./boundaries.mjs', import.meta.url));
const packages = {
  contracts: 'libs/contracts',
  domain: 'libs/domain',
  bus: 'libs/bus',
  platform: 'libs/platform',
  database: 'libs/database',
  'service-graph': 'libs/services/graph',
  'service-identity': 'libs/services/identity',
  surfaces: 'libs/surfaces',
  testing: 'libs/testing',
  gateway: 'apps/gateway',
  'graph-svc': 'apps/graph-svc',
};

let root: string;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function addPackage(name: string, folder: string): void {
  const exports = { '.': { '@workspace-graph/source': './src/index.ts', default: './dist/index.js' } };
  write(join(folder, 'package.json'), JSON.stringify({ name: `@workspace-graph/${name}`, type: 'module', exports }));
  write(join(folder, 'src/index.ts'), 'export interface Entry { at: string }\n');
  write(join(folder, 'src/inner.ts'), 'export const inner = 1;\n');
  symlinkSync(join(root, folder), join(root, 'node_modules/@workspace-graph', name));
}

function importing(name: string): string {
  return `import type { Entry } from '@workspace-graph/${name}';\nexport type Of = Entry;\n`;
}

async function check(): Promise<string> {
  try {
    return (await run(process.execPath, [checker, '--root', root], { env: { ...process.env, NODE_OPTIONS: '' } }))
      .stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** `file [rule]` of each violation. */
function summary(output: string): string[] {
  return [...output.matchAll(/^(\S+) → .*\n {2}\[(\S+)\]/gm)].map((match) => `${match[1]} [${match[2]}]`).sort();
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'boundaries-'));
  mkdirSync(join(root, 'node_modules/@workspace-graph'), { recursive: true });
  write(
    'package.json',
    JSON.stringify({ name: 'planted', type: 'module', workspaces: ['libs/*', 'libs/services/*', 'apps/*'] }),
  );
  for (const [name, folder] of Object.entries(packages)) addPackage(name, folder);
});

afterEach(() => rmSync(root, { recursive: true }));

describe('import boundaries', () => {
  it('let every arrow of the architecture through', async () => {
    write('libs/domain/src/a.ts', importing('contracts'));
    write('libs/database/src/a.ts', importing('platform'));
    write(
      'libs/services/graph/src/a.ts',
      importing('database') +
        importing('domain')
          .replaceAll('Of', 'Two')
          .replace('{ Entry }', '{ Entry as Other }')
          .replace('= Entry', '= Other'),
    );
    write('libs/surfaces/src/a.ts', importing('bus'));
    write(
      'libs/database/src/a.spec.ts',
      `${importing('testing')}import { inner } from './inner.js';\nexport const used = inner;\n`,
    );
    write('libs/services/graph/src/graph.fixture.ts', importing('testing'));
    write('apps/gateway/src/a.ts', importing('surfaces'));
    write('test/e2e/a.spec.ts', importing('service-graph'));
    expect(await check()).toMatch(/^0 wrong imports in \d+ files/);
  });

  it('catch every wrong arrow', async () => {
    write('libs/contracts/src/a.ts', importing('domain'));
    write('libs/domain/src/a.ts', importing('database'));
    write('libs/bus/src/a.ts', importing('platform'));
    write('libs/platform/src/a.ts', importing('domain'));
    write('libs/database/src/a.ts', importing('domain'));
    write('libs/services/graph/src/a.ts', importing('surfaces'));
    write('libs/services/graph/src/b.ts', importing('service-identity'));
    write('libs/surfaces/src/a.ts', importing('database'));
    write('libs/surfaces/src/b.ts', importing('gateway'));
    write('apps/gateway/src/a.ts', importing('graph-svc'));
    write('apps/gateway/src/b.ts', importing('testing'));
    write('libs/domain/src/c.ts', "import './a.spec.js';\n");
    write('libs/domain/src/a.spec.ts', 'export const one = 1;\n');
    expect(summary(await check())).toEqual([
      'apps/gateway/src/a.ts [apps-apart]',
      'apps/gateway/src/b.ts [test-helpers-in-tests]',
      'libs/bus/src/a.ts [bus-imports]',
      'libs/contracts/src/a.ts [contracts-imports]',
      'libs/database/src/a.ts [database-imports]',
      'libs/domain/src/a.ts [domain-imports]',
      'libs/domain/src/c.ts [test-helpers-in-tests]',
      'libs/platform/src/a.ts [platform-imports]',
      'libs/services/graph/src/a.ts [services-imports]',
      'libs/services/graph/src/b.ts [services-apart]',
      'libs/surfaces/src/a.ts [surfaces-imports]',
      'libs/surfaces/src/b.ts [apps-on-top]',
      'libs/surfaces/src/b.ts [surfaces-imports]',
    ]);
  });

  it('catch paths into another package, cycles of types alone, unknown names and unknown libraries', async () => {
    write(
      'libs/domain/src/deep.ts',
      "import { inner } from '../../contracts/src/inner.js';\nexport const used = inner;\n",
    );
    write(
      'libs/domain/src/by-path.ts',
      "import type { Entry } from '../../contracts/src/index.js';\nexport type Of = Entry;\n",
    );
    write('libs/domain/src/x.ts', "import type { Y } from './y.js';\nexport interface X { y: Y }\n");
    write('libs/domain/src/y.ts', "import type { X } from './x.js';\nexport interface Y { x?: X }\n");
    write(
      'libs/domain/src/typo.ts',
      "import { inner } from '@workspace-graph/contracts/inner';\nexport const used = inner;\n",
    );
    write('libs/novelty/src/a.ts', importing('contracts'));
    expect(summary(await check())).toEqual([
      'libs/domain/src/by-path.ts [package-names]',
      'libs/domain/src/deep.ts [package-entries]',
      'libs/domain/src/deep.ts [package-names]',
      'libs/domain/src/typo.ts [resolvable]',
      'libs/domain/src/x.ts [no-cycle]',
      'libs/novelty/src/a.ts [known-libraries]',
    ]);
  });

  it('say what to do about each', async () => {
    write('apps/gateway/src/a.ts', importing('graph-svc'));
    expect(await check()).toContain(
      'apps/gateway/src/a.ts → apps/graph-svc/src/index.ts\n  [apps-apart] No app imports an app. Move what both need into a library.',
    );
  });
});
