import { execFileSync } from 'node:child_process';
import { ScriptedWorkspace } from '../testing/scripted-workspace.js';
import { howToSet, setVariable, shellOf } from './agent.js';

describe('the credential of agents', () => {
  let workspace: ScriptedWorkspace;
  beforeAll(async () => {
    workspace = await ScriptedWorkspace.start();
  });
  afterAll(() => workspace[Symbol.asyncDispose]());

  it.each([
    ['sh', "export SVC_TOKEN='svc_pat_test'\n"],
    ['fish', "set -gx SVC_TOKEN 'svc_pat_test'\n"],
    ['powershell', "$env:SVC_TOKEN = 'svc_pat_test'\n"],
    ['cmd', 'set "SVC_TOKEN=svc_pat_test"\n'],
  ])('is printed as %s reads it, and nothing beside it', async (shell, script) => {
    const run = await workspace.svc('agent', 'env', '--shell', shell);
    expect(run).toEqual({ code: 0, stdout: script, stderr: '' });
  });

  it('is printed as JSON with the script and the variable apart', async () => {
    const { stdout } = await workspace.svc('agent', 'env', '--shell', 'sh', '--json');
    expect(JSON.parse(stdout)).toEqual({
      shell: 'sh',
      variables: { SVC_TOKEN: 'svc_pat_test' },
      script: "export SVC_TOKEN='svc_pat_test'",
    });
  });

  it('reaches the programs that a shell starts, whatever is in it', () => {
    const value = `it's \\ "$HOME" \`x\``;
    const script = `${setVariable('sh', 'SVC_TOKEN', value)}; printenv SVC_TOKEN`;
    expect(execFileSync('sh', ['-c', script]).toString()).toBe(`${value}\n`);
  });

  it('is for the shell of the person', async () => {
    const shells = [{ SHELL: '/bin/zsh' }, { SHELL: '/usr/bin/fish' }, { SHELL: '/usr/bin/pwsh' }, {}];
    expect(shells.map((env) => shellOf(env, 'linux'))).toEqual(['sh', 'fish', 'powershell', 'sh']);
    expect(shellOf({}, 'win32')).toBe('powershell');
    const help = (await workspace.svc('agent', 'env', '--help')).stdout;
    for (const shell of ['sh', 'fish', 'powershell', 'cmd'] as const) expect(help).toContain(howToSet(shell));
  });
});
