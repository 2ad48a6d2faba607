import { ScriptedWorkspace } from './testing/scripted-workspace.js';

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
