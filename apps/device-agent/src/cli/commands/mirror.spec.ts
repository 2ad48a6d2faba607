import { resolve } from 'node:path';
import { createProgram } from '../main.js';
import { error, type Script, ScriptedWorkspace } from '../testing/scripted-workspace.js';
import { completionScript } from './completion.js';

const NODE = '0190f3c2-0000-7000-8000-000000000001';
const MIRROR = {
  node: { id: NODE, type: 'project', name: 'Oven\u0007' },
  local_path: '/w/acme/projects/oven',
  state: 'missing',
  files: 3,
  created_at: '2026-05-04T10:00:00.000Z',
};

let workspace: ScriptedWorkspace;
beforeAll(async () => {
  workspace = await ScriptedWorkspace.start();
});
afterAll(() => workspace[Symbol.asyncDispose]());
beforeEach(() => void workspace.requests.splice(0));

/** Answers by "METHOD /path". */
function answers(table: Readonly<Record<string, ReturnType<Script>>>): void {
  workspace.script = ({ method, path }) => table[`${method} ${path}`] ?? null;
}
const bodyOf = (index: number): unknown => JSON.parse(workspace.requests.at(index)?.body ?? 'null');

describe('folders of nodes on the command line', () => {
  it('are made, with a word about files of somebody else and about the credential of agents', async () => {
    const made = {
      node_id: NODE,
      local_path: MIRROR.local_path,
      created: true,
      subdirs: ['wip'],
      remote_scaffold: { remote_name: null, folders: [], problem: null },
      scope_config: [
        { client: 'codex', path: '.codex/config.toml', state: 'foreign' },
        { client: 'claude-code', path: '.mcp.json', state: 'written' },
      ],
    };
    answers({ [`POST /nodes/${NODE}/mirror`]: { body: made } });
    const run = await workspace.svc('mirror', 'create', NODE, '--path', 'oven');
    expect([run.code, run.stdout]).toEqual([0, `${MIRROR.local_path}\n`]);
    const [foreign, credential, ...rest] = run.stderr.split('\n');
    expect([foreign, rest]).toEqual([
      '.codex/config.toml was not written by the workspace, so it was not changed.',
      [''],
    ]);
    expect(credential).toMatch(/read their credential from SVC_TOKEN.* svc agent env/);
    expect(bodyOf(-1)).toEqual({ custom_path: resolve('oven') });
    const json = await workspace.svc('mirror', 'create', NODE, '--json');
    expect([JSON.parse(json.stdout), json.stderr, bodyOf(-1)]).toEqual([made, '', {}]);
  });

  it('are listed over all pages, without what a terminal would obey', async () => {
    answers({
      'GET /mirrors?limit=500': { body: { items: [MIRROR], next_cursor: 'more' } },
      'GET /mirrors?limit=500&cursor=more': { body: { items: [{ ...MIRROR, state: 'ready' }], next_cursor: null } },
    });
    const { stdout } = await workspace.svc('mirror', 'list');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.split(/\s{2,}/))).toEqual([
      ['NODE', 'STATE', 'FILES', 'FOLDER'],
      ['Oven\\u0007', 'missing', '3', MIRROR.local_path],
      ['Oven\\u0007', 'ready', '3', MIRROR.local_path],
    ]);
    expect(JSON.parse((await workspace.svc('mirror', 'list', '--json')).stdout).items).toHaveLength(2);
  });

  it('are moved and given up, and refusals end with the exit code of a failure', async () => {
    answers({
      [`POST /nodes/${NODE}/mirror/move`]: { body: { ...MIRROR, local_path: '/data/oven' } },
      [`DELETE /nodes/${NODE}/mirror`]: { body: { node_id: NODE, local_path: '/data/oven' } },
    });
    expect((await workspace.svc('mirror', 'move', NODE, '/data/oven')).stdout).toBe('/data/oven\n');
    expect(bodyOf(-1)).toEqual({ path: '/data/oven' });
    expect((await workspace.svc('mirror', 'remove', NODE, '--yes')).stdout).toContain(
      '/data/oven is no longer tracked',
    );
    answers({ [`DELETE /nodes/${NODE}/mirror`]: { status: 409, body: error('NO_MIRROR', 'It has no folder.') } });
    const refused = await workspace.svc('mirror', 'remove', NODE, '--yes', '--json');
    expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([1, { code: 'NO_MIRROR' }]);
    expect((await workspace.svc('mirror', 'move', NODE)).code).toBe(2);
  });

  it('are given up after their preview only: without a terminal it is the result, and done', async () => {
    answers({ 'GET /mirrors?limit=500': { body: { items: [MIRROR], next_cursor: null } } });
    const preview = await workspace.svc('mirror', 'remove', NODE);
    expect(preview.code).toBe(0);
    expect(preview.stdout.split('\n')).toEqual([
      `${MIRROR.local_path} would no longer be tracked. The folder and its files stay there.`,
      'Would be removed from it: SVC_SCOPE.md and the entries for this workspace in the configuration of agents.',
      'Nothing was changed: add --yes to apply it.',
      '',
    ]);
    expect(workspace.requests.map(({ method }) => method)).toEqual(['GET']);
    const json = await workspace.svc('mirror', 'remove', NODE, '--json');
    expect(JSON.parse(json.stdout)).toEqual({ applied: false, node_id: NODE, local_path: MIRROR.local_path });
    answers({ 'GET /mirrors?limit=500': { body: { items: [], next_cursor: null } } });
    const none = await workspace.svc('mirror', 'remove', NODE, '--json');
    expect([none.code, JSON.parse(none.stdout)]).toMatchObject([1, { code: 'NO_MIRROR' }]);
    const help = (await workspace.svc('mirror', 'remove', '--help')).stdout;
    for (const word of ['--yes', 'SVC_SCOPE.md', '.mcp.json', 'every file in it']) expect(help).toContain(word);
  });

  it('are in the help and in what the shell completes', async () => {
    expect((await workspace.svc('mirror', '--help')).stdout).toContain('svc mirror move "Second oven" /data/oven');
    expect(completionScript(createProgram(), 'bash')).toContain('"mirror:0") found="create list move remove" ;;');
  });
});
