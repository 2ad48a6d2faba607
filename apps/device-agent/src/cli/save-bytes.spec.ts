import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScriptedWorkspace } from './testing/scripted-workspace.js';

const DOCUMENT = '{"format":"workspace-graph/1","nodes":[]}';

let workspace: ScriptedWorkspace;
let folder: string;
beforeAll(async () => {
  workspace = await ScriptedWorkspace.start();
  workspace.script = ({ path }) => (path.startsWith('/export') ? { body: DOCUMENT } : null);
  folder = await mkdtemp(join(tmpdir(), 'svc-export-'));
});
afterAll(async () => {
  await workspace[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe('an export', () => {
  it('replaces a file only when that is wanted, by either word [cli.import-export]', async () => {
    const file = join(folder, 'graph.json');
    await writeFile(file, 'mine');
    const refused = await workspace.svc('export', file, '--json');
    expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([1, { code: 'FILE_EXISTS' }]);
    expect([await readFile(file, 'utf8'), workspace.requests]).toEqual(['mine', []]);
    for (const flag of ['--yes', '--confirm']) {
      await writeFile(file, 'mine');
      expect((await workspace.svc('export', file, flag)).code).toBe(0);
      expect(await readFile(file, 'utf8')).toBe(DOCUMENT);
    }
    expect((await workspace.svc('export', join(folder, 'new.json'))).code).toBe(0);
    expect((await workspace.svc('export', '-')).stdout).toBe(DOCUMENT);
  });

  it('never takes the place of something that is no file', async () => {
    const refused = await workspace.svc('export', folder, '--yes', '--json');
    expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([1, { code: 'FILE_UNWRITABLE' }]);
  });

  it('tells why a file cannot be written, and nothing of the draft beside it', async () => {
    const file = join(folder, 'no', 'graph.json');
    const refused = await workspace.svc('export', file, '--json');
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([
      1,
      {
        code: 'FILE_UNWRITABLE',
        message: `${file} cannot be written: no such file or directory.`,
        hint: expect.stringContaining('a folder that exists'),
      },
    ]);
  });
});
