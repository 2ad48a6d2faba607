import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScriptedWorkspace } from './testing/scripted-workspace.js';

const SVC = fileURLToPath(new URL('../../bin/svc.mjs', import.meta.url));
let workspace: ScriptedWorkspace;
beforeAll(async () => {
  workspace = await ScriptedWorkspace.start();
});
afterAll(() => workspace[Symbol.asyncDispose]());

describe('wrong usage', () => {
  it.each([
    ['an unknown command', ['bogus'], /^Unknown command 'bogus'/],
    ['a misspelt command', ['statos'], /Did you mean status/],
    ['a missing option', ['token', 'create'], /--scope/],
    ['a value that is no choice', ['token', 'create', '--scope', 'all', '--label', 'x'], /read, write, manage/],
    ['a number that is none', ['token', 'create', '--scope', 'read', '--label', 'x', '--days', '0'], /whole number/],
    ['a missing argument', ['import'], /file/],
    ['too much', ['stop', 'it'], /argument/],
    ['an unknown option', ['status', '--loud'], /--loud/],
    ['half a command', ['token'], /./],
  ])('is told as the error object with --json: %s [cli.json, cli.exit-codes]', async (_what, args, message) => {
    const run = await workspace.svc(...args, '--json');
    expect([run.code, run.stderr]).toEqual([2, '']);
    expect(JSON.parse(run.stdout)).toEqual({
      code: 'WRONG_USAGE',
      message: expect.stringMatching(message),
      hint: expect.stringContaining('--help'),
    });
    expect(workspace.requests).toEqual([]);
  });

  it('is told in words without it, and behind -- nothing is an option', async () => {
    const run = await workspace.svc('bogus');
    expect([run.code, run.stdout, run.stderr]).toEqual([2, '', expect.stringContaining('unknown command')]);
    const behind = await workspace.svc('bogus', '--', '--json');
    expect([behind.code, behind.stdout]).toEqual([2, '']);
  });

  it('is not what asks for help', async () => {
    const run = await workspace.svc('token', 'create', '--help', '--json');
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('--scope')]);
  });
});

describe('what the environment says wrongly', () => {
  afterEach(() => {
    workspace.environment = {};
  });

  it.each([['status'], ['token', 'list'], ['mirror', 'list'], ['sessions', 'list']])(
    'is told by every command: svc %s %s',
    async (...args) => {
      workspace.environment = { SVC_PROT: '4011' };
      const run = await workspace.svc(...args);
      expect(run.stderr).toContain('svc: SVC_PROT: there is no such variable; did you mean SVC_PORT?');
      expect((await workspace.svc(...args, '--json')).stdout).not.toContain('SVC_PROT');
    },
  );

  it('is a credential that looks like none', async () => {
    workspace.environment = { SVC_TOKEN: 'the one from the mail' };
    const run = await workspace.svc('token', 'list', '--json');
    expect([run.code === 0, JSON.parse(run.stdout)]).toMatchObject([
      false,
      { code: 'NO_CREDENTIAL', message: 'The value of SVC_TOKEN is not a credential.' },
    ]);
    expect(`${run.stdout}${run.stderr}`).not.toContain('the mail');
  });

  it('is a port that HTTP clients refuse to call, also where it is an option', async () => {
    const before = workspace.requests.length;
    const run = await workspace.svc('start', '--port', '4190', '--json');
    expect(run.code).not.toBe(0);
    expect(run.stdout).toContain('they refuse 4190, 6000 and others');
    expect(workspace.requests).toHaveLength(before);
  });
});

describe('a command that runs no workspace', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-light-'));
  afterAll(() => rmSync(root, { recursive: true }));

  it.each(['--version', 'status', 'doctor', 'stop'])('starts without loading the servers: svc %s', async (command) => {
    const loaded = await packagesLoadedBy(command);
    expect(loaded).toContain('commander');
    expect(loaded.filter((name) => /^(@nestjs|@prisma|@opentelemetry|@modelcontextprotocol|rxjs)/.test(name))).toEqual(
      [],
    );
  });

  /** The names of the packages that the files contain which a new process of the command loads. */
  async function packagesLoadedBy(...args: string[]): Promise<string[]> {
    const tell = `import { registerHooks } from 'node:module';
      const urls = new Set();
      registerHooks({ load: (url, context, next) => (urls.add(url), next(url, context)) });
      process.on('exit', () => console.error('loaded ' + [...urls].filter((url) => url.startsWith('file:')).join(' ')));`;
    const command = [`--import=data:text/javascript,${encodeURIComponent(tell)}`, SVC, ...args];
    const stderr = await new Promise<string>((resolve) => {
      // The exit code is told on its own; what was loaded is told in any case.
      execFile(process.execPath, command, { env: { SVC_WORKSPACE_ROOT: root } }, (_error, _stdout, text) =>
        resolve(text),
      );
    });
    const files = (/^loaded (.*)$/m.exec(stderr)?.[1] ?? '').split(' ').map((url) => fileURLToPath(url));
    // A bundle says above each module where it comes from.
    const modules = files.flatMap((file) => [
      file,
      ...(readFileSync(file, 'utf8').match(/^\/\/.*node_modules.*$/gm) ?? []),
    ]);
    return [...new Set(modules.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? ''))];
  }
});
