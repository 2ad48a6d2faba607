import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram } from '../main.js';
import { completionScript } from './completion.js';

/** A shell that this machine lacks cannot be asked. */
const isThere = (program: string): boolean => spawnSync(program, ['-c', 'true']).status === 0;
const withBash = isThere('bash') ? it : it.skip;
const withFish = isThere('fish') ? it : it.skip;
const withZsh = isThere('zsh') ? it : it.skip;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-completion-'));
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    writeFileSync(join(folder, shell), completionScript(createProgram(), shell));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers after these words, the last of which is being typed. Nothing: files are left to bash itself. */
function bash(...words: string[]): string[] {
  const script = `source "$0"; COMP_WORDS=(svc "$@"); COMP_CWORD=$#; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const said = execFileSync('bash', ['-c', script, join(folder, 'bash'), ...words], { encoding: 'utf8' });
  return said.split('\n').filter(Boolean);
}

function fish(line: string): string[] {
  const said = execFileSync(
    'fish',
    ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', join(folder, 'fish'), line],
    {
      encoding: 'utf8',
    },
  );
  return said
    .split('\n')
    .filter(Boolean)
    .map((entry) => entry.split('\t')[0] ?? '');
}

describe('what a shell completes', () => {
  withBash('in bash: commands, then options and what they take [cli.completion]', () => {
    expect(bash('')).toEqual(expect.arrayContaining(['start', 'token', 'completion']));
    expect(bash('tok')).toEqual(['token']);
    expect(bash('token', '')).toEqual(['create', 'list', 'revoke', 'rotate']);
    expect(bash('token', '-')).toEqual(['--help']);
    expect(bash('token', 'create', '')).toContain('--label');
    expect(bash('token', 'create', '--scope', '')).toEqual(['read', 'write', 'manage']);
    expect(bash('token', 'create', '--scope', 'w')).toEqual(['write']);
    expect(bash('token', 'create', '--scope', '=', 'm')).toEqual(['manage']);
    expect(bash('token', 'create', '--scope', '=')).toEqual(['read', 'write', 'manage']);
    const after = bash('token', 'create', '--scope', 'read', '--');
    expect(after).toEqual(['--scope', '--label', '--device', '--user', '--days', '--json', '--help']);
    expect(bash('token', 'create', '--label', 'list', '--device', '--sc')).toEqual(['--scope']);
    expect(bash('token', 'create', '--label', '')).toEqual([]);
  });

  withBash('in bash: choices of arguments, and files where files are meant', () => {
    expect(bash('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(bash('completion', 'z')).toEqual(['zsh']);
    expect(bash('--version', 'comp')).toEqual(['completion']);
    expect(bash('import', '')).toEqual([]);
    expect(bash('import', '-')).toEqual(expect.arrayContaining(['--dry-run', '--yes']));
    expect(bash('import', 'graph.json', '')).toContain('--dry-run');
    expect(bash('files', 'adopt', 'Oven', 'wip/a', '--status', '')).toEqual(['wip', 'output']);
  });

  withBash('zsh runs the script of bash, which is in order', () => {
    expect(spawnSync('bash', ['-n', join(folder, 'zsh')]).status).toBe(0);
  });

  withZsh('in zsh it loads', () => {
    const script = 'autoload -U compinit && compinit -u -D; source $1';
    expect(spawnSync('zsh', ['-f', '-c', script, 'zsh', join(folder, 'zsh')], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  withFish('in fish: options of commands below commands too', () => {
    expect(fish('svc tok')).toContain('token');
    expect(fish('svc token ')).toEqual(['create', 'list', 'revoke', 'rotate']);
    expect(fish('svc token create --scope ')).toEqual(expect.arrayContaining(['read', 'write', 'manage']));
    expect(fish('svc token create --scope read --l')).toContain('--label');
    expect(fish('svc completion ')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  });

  it('fish is told the options of commands below commands, and what they take', () => {
    const lines = completionScript(createProgram(), 'fish').split('\n');
    expect(lines).toContain(
      `complete -c svc -n '__svc_in "token create"' -l scope -x -a 'read write manage' -d 'scope of the token'`,
    );
    expect(lines).toContain(`complete -c svc -n '__svc_at "completion:0"' -a 'bash zsh fish'`);
    expect(lines).toContain(`complete -c svc -n '__svc_at "import:0"' -F`);
  });
});
