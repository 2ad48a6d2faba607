import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { copyRepository, follow, linkPackages, type Step, stepsOf } from './docs/follow-page.mjs';

const ROOT = dirname(import.meta.dirname);
/** Everything is compiled anew, which takes minutes on a busy machine. */
const STEPS_MS = 900_000;
const PAGES = { operation: pageOf('adding-an-operation'), service: pageOf('adding-a-service') };
/** What the build makes anew of the two pages. */
const BUILT = ['libs/contracts', 'libs/platform', 'libs/services/graph', 'apps/activity-svc'];
/** What is started of them. */
const BUNDLED = ['gateway', 'graph-svc', 'session-svc', 'file-svc', 'activity-svc'].map((name) => `apps/${name}`);
/** One instance of each service suffices for what is shown. */
const SCALE = ['graph-svc', 'session-svc', 'file-svc', 'activity-svc'].flatMap((name) => ['--scale', `${name}=1`]);
/** What the pages say to try, and the checks that what they add must pass; in one run, for each begins with servers of its own. */
const SPECS = [
  'count-edges',
  'contracts/src/operations',
  'contracts/src/references',
  'test/central/compose-file',
  'test/central/broker',
  'libs/platform/src/config',
];
const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const run = promisify(execFile);

function pageOf(name: string): Step[] {
  return stepsOf(readFileSync(join(ROOT, `docs/${name}.md`), 'utf8'));
}

/** Without what jest tells its own processes. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, JEST_WORKER_ID: __, ...others } = process.env;
  return { ...others, PATH: [dirname(process.execPath), others['PATH']].join(delimiter) };
}

let copy: string;
const node = (...args: string[]) => run(process.execPath, args, { cwd: copy, env: environment() });

async function script(folder: string, name: string): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(join(copy, folder, 'package.json'), 'utf8'));
  const PATH = [join(copy, 'node_modules/.bin'), environment().PATH].join(delimiter);
  await run('sh', ['-c', scripts[name]], { cwd: join(copy, folder), env: { ...environment(), PATH } });
}

beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), 'workspace-copy-'));
  copyRepository(ROOT, copy);
  for (const steps of Object.values(PAGES)) follow(steps, copy);
  linkPackages(copy);
  for (const folder of BUILT) await script(folder, 'build');
  for (const folder of BUNDLED) await script(folder, 'bundle');
  await node('deploy/write-nats-conf.mjs');
  await node('tools/write-docs.mjs');
}, STEPS_MS);
afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('the pages on adding', () => {
  it('name no more places than they say', () => {
    // With the written document, and the list of the tools.
    expect(new Set(PAGES.operation.map(({ path }) => path)).size + 2).toBe(6);
    const places = new Set(
      PAGES.service.map(({ path }) => /^(libs\/contracts|apps\/[\w-]+)\//.exec(path)?.[1] ?? path),
    );
    // With the generated ones.
    expect(places.size + 1).toBe(5);
  });

  it(
    'make what has the right types',
    async () => {
      await node('tools/typecheck.mjs');
    },
    STEPS_MS,
  );

  it(
    'make an operation and a service that every check takes',
    async () => {
      await node(...JEST, '--ci=false', '--updateSnapshot', ...SPECS, 'mcp/tool-table');
      const { paths } = JSON.parse(readFileSync(join(copy, 'docs/openapi.json'), 'utf8'));
      expect(paths['/nodes/{node_id}/edges/count']).toBeDefined();
    },
    STEPS_MS,
  );

  it(
    'make a service that starts, and that hears, tells and answers',
    async () => {
      const central = spawn(process.execPath, ['tools/central.mjs', '--port', '0', '--no-fsync', ...SCALE], {
        cwd: copy,
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const wrote: string[] = [];
      const ended = new Promise<number | null>((resolve) => void central.once('close', resolve));
      try {
        createInterface({ input: central.stderr }).on('line', (line) => void wrote.push(line));
        const told = await until(central.stdout, /^Administrator token: /);
        if (told === null) throw new Error(`It ended:\n${wrote.slice(-40).join('\n')}`);
        const [, url = ''] = /ready at (\S+)/.exec(told) ?? [];
        const [, token = ''] = /token: (\S+)/.exec(told) ?? [];
        const ask = (path: string, body?: object) =>
          fetch(new URL(path, url), {
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
          });
        expect(await (await ask('/activity')).json()).toEqual({ changes: 0 });
        expect((await ask('/nodes', { type: 'organization', name: 'Counted' })).status).toBe(201);
        for (let changes = 0; changes === 0; await sleep(50))
          ({ changes } = (await (await ask('/activity')).json()) as { changes: number });
      } finally {
        central.kill('SIGINT');
      }
      expect(await ended).toBe(0);
    },
    STEPS_MS,
  );
});

/** Everything up to the line that matches; null when the stream ends before. */
async function until(stream: NodeJS.ReadableStream, line: RegExp): Promise<string | null> {
  const lines: string[] = [];
  for await (const next of createInterface({ input: stream })) {
    lines.push(next);
    if (line.test(next)) return lines.join('\n');
  }
  return null;
}
