import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STATUS_BUCKETS } from '@workspace-graph/contracts';
import { error, type Script, ScriptedWorkspace } from '../testing/scripted-workspace.js';

const NODE = '0190f3c2-0000-7000-8000-000000000001';
const FILE = '0190f3c2-0000-7000-8000-000000000002';
const SHA = 'a'.repeat(64);

let workspace: ScriptedWorkspace;
let folder: string;
beforeAll(async () => {
  workspace = await ScriptedWorkspace.start();
  folder = await mkdtemp(join(tmpdir(), 'svc-cli-'));
});
afterAll(async () => {
  await workspace[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
beforeEach(() => void workspace.requests.splice(0));

/** Answers by "METHOD /path", without the query. */
function answers(table: Readonly<Record<string, ReturnType<Script>>>): void {
  workspace.script = ({ method, path }) => table[`${method} ${path.split('?')[0]}`] ?? null;
}

const asked = (): string[] => workspace.requests.map(({ method, path }) => `${method} ${path}`);
const tracked = (path: string) => ({ id: FILE, path, size_bytes: 3, local_path: `/w/${path}` });
const emptyBuckets = Object.fromEntries(STATUS_BUCKETS.map((bucket) => [bucket, []]));
const statusWith = (...paths: string[]) => ({
  body: {
    ...emptyBuckets,
    clean: paths.map((path) => ({ path, file_id: FILE, problem: null })),
    counts: Object.fromEntries(STATUS_BUCKETS.map((bucket) => [bucket, bucket === 'clean' ? paths.length : 0])),
    truncated: false,
  },
});

describe('files on the command line', () => {
  it('are listed over all pages up to the limit, and the rest is announced', async () => {
    const file = {
      ...tracked('wip/a.md'),
      node_name: 'Oven',
      modified_at: null,
      updated_at: '2026-05-04T10:00:00.000Z',
    };
    answers({ 'GET /files': { body: { items: [file], next_cursor: 'more' } } });
    const listed = await workspace.svc('files', 'list', '--limit', '2');
    expect(listed.stdout).toContain('wip/a.md');
    expect(listed.stdout).toContain('There are more');
    expect(asked()).toEqual(['GET /files?limit=2', 'GET /files?cursor=more&limit=1']);
  });

  it('are made of documents of cloud services, with what is asked for', async () => {
    const made = {
      file_id: FILE,
      filename: 'Plan.md',
      remote_path: 'acme/projects/oven/wip/Plan.md',
      local_path: null,
    };
    answers({ [`POST /nodes/${NODE}/files/snapshot`]: { status: 200, body: made } });
    const url = 'https://docs.example.org/document/d/abc/edit';
    const args = ['--format', 'markdown', '--name', 'Plan.md', '--subpath', 'plans'];
    expect((await workspace.svc('files', 'snapshot', NODE, url, ...args)).stdout).toBe(`${made.remote_path}\n`);
    expect(JSON.parse(workspace.requests.at(0)?.body ?? '')).toEqual({
      doc_url: url,
      format: 'markdown',
      filename: 'Plan.md',
      subpath: 'plans',
    });
    const wrong = await workspace.svc('files', 'snapshot', NODE, url, '--format', 'odt');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('odt')]);
  });

  it('are read byte for byte, to standard output or into a file that is whole or not there', async () => {
    const content = 'line\u0000\n';
    answers({ [`GET /nodes/${NODE}/file`]: { body: content, headers: { etag: `"${SHA}"` } } });
    expect((await workspace.svc('files', 'read', NODE, 'notes/a b.md')).stdout).toBe(content);
    expect(asked()).toEqual([`GET /nodes/${NODE}/file?path=wip%2Fnotes%2Fa%20b.md&raw=true`]);
    const target = join(folder, 'a.md');
    const saved = await workspace.svc('files', 'read', NODE, 'wip/a.md', '--output', target, '--json');
    expect(JSON.parse(saved.stdout)).toEqual({ file: target, bytes: 6, sha256: SHA });
    expect(await readFile(target, 'utf8')).toBe(content);
    await writeFile(target, 'mine');
    const kept = await workspace.svc('files', 'read', NODE, 'wip/a.md', '--output', target);
    expect([kept.code, kept.stderr]).toEqual([1, expect.stringContaining('already exists')]);
    expect(await readFile(target, 'utf8')).toBe('mine');
    expect((await workspace.svc('files', 'read', NODE, 'wip/a.md', '--output', target, '--yes')).code).toBe(0);
    expect(await readFile(target, 'utf8')).toBe(content);
    answers({});
    const missing = await workspace.svc('files', 'read', NODE, 'wip/a.md', '--output', join(folder, 'b.md'));
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('ROUTE_NOT_FOUND')]);
    expect(await readdir(folder)).toEqual(['a.md']);
  });

  it('are put only where nothing lies, or replace exactly what was seen', async () => {
    const source = join(folder, 'offer.md');
    await writeFile(source, 'the offer');
    const written = { body: { file: tracked('resources/offer.md'), version: 1 } };
    const url = `/nodes/${NODE}/file`;
    answers({ [`PUT ${url}`]: written, [`HEAD ${url}`]: { headers: { etag: `"${SHA}"` } } });
    const put = await workspace.svc('files', 'put', NODE, source, 'resources/');
    expect([put.code, put.stdout]).toEqual([0, 'Put resources/offer.md (3 bytes).\n']);
    expect(workspace.requests[0]).toMatchObject({
      path: `${url}?path=resources%2Foffer.md`,
      headers: { 'if-none-match': '*' },
      body: 'the offer',
    });
    await workspace.svc('files', 'put', NODE, source, 'wip/plan.md', '--replace');
    expect(workspace.requests.at(-1)?.headers).toMatchObject({ 'if-match': `"${SHA}"` });
    answers({ [`PUT ${url}`]: written });
    await workspace.svc('files', 'put', NODE, source, 'wip/plan.md', '--replace');
    expect(workspace.requests.at(-1)?.headers).toMatchObject({ 'if-none-match': '*' });
    answers({
      [`HEAD ${url}`]: { status: 409 },
      [`GET ${url}`]: { status: 409, body: error('NO_MIRROR', 'The node has no folder on this device.') },
    });
    const homeless = await workspace.svc('files', 'put', NODE, source, 'wip/plan.md', '--replace');
    expect([homeless.code, homeless.stderr]).toEqual([1, expect.stringContaining('has no folder on this device')]);
    expect(workspace.requests.at(-1)).toMatchObject({ method: 'GET', headers: { range: 'bytes=0-0' } });
    const [nowhere, nameless] = [
      await workspace.svc('files', 'put', NODE, join(folder, 'none'), '--json'),
      await workspace.svc('files', 'put', NODE, '-', '--json'),
    ];
    expect([nowhere.code, JSON.parse(nowhere.stdout)]).toMatchObject([1, { code: 'FILE_UNREADABLE' }]);
    expect([nameless.code, JSON.parse(nameless.stdout)]).toMatchObject([2, { code: 'PATH_INVALID' }]);
  });

  it('are created with their place taken apart, and a path that is none is wrong usage', async () => {
    answers({ [`POST /nodes/${NODE}/files`]: { status: 201, body: tracked('outputs/x/y.md') } });
    const created = await workspace.svc('files', 'create', NODE, 'outputs/x/y.md', '--text', 'Hi');
    expect(created.stdout).toBe('Created outputs/x/y.md.\n/w/outputs/x/y.md\n');
    expect(JSON.parse(workspace.requests[0]?.body ?? '')).toEqual({
      filename: 'y.md',
      section: 'outputs',
      subpath: 'x',
      content: 'Hi',
    });
    expect((await workspace.svc('files', 'create', NODE, '../y.md')).code).toBe(2);
  });

  it('are moved and deleted after their preview only: without a terminal it is the result, and done', async () => {
    const preview = {
      applied: false,
      from: { node_id: NODE, path: 'wip/a.md' },
      to: { node_id: NODE, path: 'outputs/a.md' },
      already_at_target: false,
      file: null,
      repair_needed: false,
      hint: null,
    };
    const route = `/nodes/${NODE}/files/${FILE}`;
    workspace.script = ({ method, path, body }) => {
      if (path.startsWith('/files/status')) return statusWith('wip/a.md');
      if (method === 'DELETE') {
        const applied = path.includes('confirmed=true');
        return {
          body: {
            applied,
            file: tracked('wip/a.md'),
            removes: ['record', 'local_copy'],
            trash_id: applied ? 't1' : null,
            repair_needed: false,
            hint: null,
          },
        };
      }
      return { body: { ...preview, applied: JSON.parse(body).confirmed === true } };
    };
    const shown = await workspace.svc('files', 'move', NODE, 'wip/a.md', 'outputs/');
    expect([shown.code, shown.stdout]).toEqual([
      0,
      'Would move wip/a.md to outputs/a.md.\nNothing was changed: add --yes to apply it.\n',
    ]);
    const done = await workspace.svc('files', 'move', NODE, FILE, 'outputs/', '--yes');
    expect([done.code, done.stdout]).toEqual([0, 'Moved wip/a.md to outputs/a.md.\n']);
    expect(JSON.parse(workspace.requests.at(-1)?.body ?? '')).toEqual({
      new_section: 'outputs',
      new_subpath: null,
      confirmed: true,
    });
    expect((await workspace.svc('files', 'delete', NODE, 'wip/a.md', '--json')).code).toBe(0);
    expect(asked().at(-1)).toBe(`DELETE ${route}?mode=complete`);
    const deleted = await workspace.svc('files', 'delete', NODE, 'wip/a.md', '--yes');
    expect([deleted.code, deleted.stdout]).toEqual([0, expect.stringContaining('svc trash restore t1')]);
    const unknown = await workspace.svc('files', 'delete', NODE, 'wip/b.md', '--yes', '--json');
    expect([unknown.code, JSON.parse(unknown.stdout)]).toMatchObject([1, { code: 'FILE_NOT_FOUND' }]);
  });

  it('of a folder are renamed until nothing remains, or nothing moves any more', async () => {
    const remaining = [4, 2, 2];
    const renamed = [{ file_id: FILE, from: 'wip/a/x', to: 'wip/b/x', already_at_target: false, problem: null }];
    workspace.script = () => ({
      body: { applied: true, renamed, remaining: remaining.shift() ?? 0, repair_needed: false, hint: null },
    });
    const stuck = await workspace.svc('files', 'rename-folder', NODE, 'wip/a', 'wip/b', '--yes');
    expect([stuck.stdout, asked()]).toEqual([
      expect.stringContaining('2 files still under the old name'),
      expect.any(Array),
    ]);
    expect(workspace.requests).toHaveLength(3);
    const rest = await workspace.svc('files', 'rename-folder', NODE, 'wip/a', 'wip/b', '--yes', '--json');
    expect(JSON.parse(rest.stdout)).toMatchObject({ remaining: 0 });
  });

  it('and the trash never let a name from disk command the terminal', async () => {
    const hostile = { path: 'wip/\u001b[2Jx', reason: 'is \u0007 not a file' };
    answers({ [`POST /nodes/${NODE}/files/adopt`]: { body: { files: [], skipped: [hostile] } } });
    const { stdout } = await workspace.svc('files', 'adopt', NODE, 'wip/x');
    expect(stdout).toContain('wip/\\u001b[2Jx');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it('are told by status, which says nothing of folders where there are none', async () => {
    const me = { user: { name: 'Petra' }, scope: 'manage' };
    answers({ 'GET /me': { body: me } });
    const central = await workspace.svc('status', '--json');
    expect([central.code, JSON.parse(central.stdout)]).toMatchObject([0, { user: 'Petra', folders: null }]);
    const failures = [{ node: { name: 'Oven' }, path: 'wip/x', message: 'A symbolic link.', at: 'now' }];
    const scans = [{ node: { name: 'Oven' }, seen: 10, to_read: 4 }];
    const health = {
      watching: true,
      mirrors: 3,
      mirrors_missing: 1,
      files: 10,
      scans,
      failures,
      failures_complete: true,
      set_aside: [],
    };
    answers({ 'GET /me': { body: me }, 'GET /sync/health': { body: health } });
    const { stdout } = await workspace.svc('status');
    for (const text of [
      '3, 1 missing; 10 tracked files',
      'Oven: 10 files found, 4 to read',
      'Oven: wip/x: A symbolic link.',
    ])
      expect(stdout).toContain(text);
  });

  it('are followed until no scan runs, a line for each change', async () => {
    const quiet = {
      watching: true,
      mirrors: 1,
      mirrors_missing: 0,
      files: 2,
      scans: [],
      failures: [],
      failures_complete: true,
      set_aside: [],
    };
    const scan = { node: { name: 'Oven' }, seen: 2, to_read: 1 };
    const looks = [{ ...quiet, scans: [scan] }];
    workspace.script = () => ({ body: looks.shift() ?? quiet });
    const { code, stdout } = await workspace.svc('watch', '--until-quiet', '--json');
    expect([
      code,
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ]).toEqual([
      0,
      [
        { files: 2, scans: [{ name: 'Oven', seen: 2, to_read: 1 }], failures: [] },
        { files: 2, scans: [], failures: [] },
      ],
    ]);
  });

  it('that are left by a pull are told of beside the only one that is refused', async () => {
    const other = FILE.replace(/2$/, '3');
    const files = [
      { file_id: FILE, path: 'wip/new.md', class: 'updated' },
      { file_id: other, path: 'wip/edited.md', class: 'conflict' },
    ];
    const refused = { code: 'CONFLICT', message: 'Something lies in its place.', retryable: false };
    answers({
      'POST /files/pull': { body: { pulled: null, preview: { node_id: NODE, files, complete: true } } },
      [`POST /nodes/${NODE}/files/pull-all`]: { body: { pulled: [], refused: [{ file_id: FILE, ...refused }] } },
    });
    const pulled = await workspace.svc('files', 'pull', NODE);
    expect([pulled.code, pulled.stdout]).toEqual([
      1,
      'refused  wip/new.md: Something lies in its place.\n' +
        'left     wip/edited.md: changed here and not uploaded: store it, or pull it with --force\n',
    ]);
  });

  it('are refused by the workspace with its own words', async () => {
    answers({ 'GET /files/search': { status: 404, body: error('NODE_NOT_FOUND', 'There is no such node.') } });
    const refused = await workspace.svc('files', 'search', 'bread', '--node', NODE, '--json');
    expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([1, { code: 'NODE_NOT_FOUND' }]);
  });
});
