import {
  adoptFiles,
  type Caller,
  createFile,
  fileStatus,
  type InputOf,
  moveFile,
  type OutputOf,
  RawJson,
  readFile,
  renameFolder,
  STATUS_BUCKETS,
  scaffoldRemote,
  surveyRemote,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { RemoteFailure } from '@workspace-graph/remotes';
import { type CentreFixture, startCentre } from './central.fixture.js';

let centre: CentreFixture;
let writer: Caller;
let node: string;
let folder: string;

beforeAll(async () => {
  centre = await startCentre();
  writer = await centre.harness.user('Wanda');
});
beforeEach(async () => {
  node = await centre.project();
  folder = await centre.folder(node);
});
afterAll(() => centre[Symbol.asyncDispose]());
afterEach(() => {
  centre.main.failWith(null);
  centre.main.before = () => undefined;
});

const create = (filename: string, content: string, subpath: string | null = null) =>
  centre.harness.call(createFile, { node_id: node, filename, content, subpath }, writer);
/** What somebody puts onto the storage by hand. */
const put = (path: string, content: string) =>
  centre.main.write(`${folder}/${path}`, bytes(content), { expected: null, modifiedAt: '2026-01-01T00:00:00.000Z' });
const plain = <T>(reply: T | RawJson): T => (reply instanceof RawJson ? (reply.parse() as T) : reply);
const status = async (input: Partial<InputOf<typeof fileStatus>> = {}, caller = writer) =>
  plain<OutputOf<typeof fileStatus>>(await centre.harness.call(fileStatus, { node_id: node, ...input }, caller));
const paths = (told: OutputOf<typeof fileStatus>) =>
  Object.fromEntries(
    STATUS_BUCKETS.flatMap((bucket) =>
      told[bucket].length === 0 ? [] : [[bucket, told[bucket].map(({ path }) => path).sort()]],
    ),
  );
const adopt = async (input: Omit<InputOf<typeof adoptFiles>, 'node_id'>, caller = writer) =>
  plain<OutputOf<typeof adoptFiles>>(await centre.harness.call(adoptFiles, { node_id: node, ...input }, caller));
const rename = async (input: Partial<InputOf<typeof renameFolder>>) =>
  plain<OutputOf<typeof renameFolder>>(
    await centre.harness.call(
      renameFolder,
      { node_id: node, old_prefix: 'wip/a', new_prefix: 'wip/b', dry_run: false, ...input },
      writer,
    ),
  );
const below = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(await centre.main.texts()).flatMap(([path, text]) =>
      path.startsWith(`${folder}/`) ? [[path.slice(folder.length + 1), text]] : [],
    ),
  );

describe('the state of files for whoever has no workstation', () => {
  it('tells what lies on the remote beside the records, without reading it', async () => {
    await create('there.md', 'one');
    const gone = await create('gone.md', 'two');
    await centre.main.remove(`${folder}/wip/gone.md`, { expected: await revisionOf('wip/gone.md') });
    await put('outputs/by/hand.md', 'three');
    for (const hidden of ['wip/.hidden.md', 'wip/.hidden/file.md', 'elsewhere/file.md']) await put(hidden, 'x');
    await centre.sql(
      `INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type, modified_at)
       VALUES ($1, $2, 'wip/never.md', 'wip/never.md', $3, 1, 'text/plain', now())`,
      [newId(), node, '0'.repeat(64)],
    );
    const told = await status();
    expect(paths(told)).toEqual({
      new_remote: ['outputs/by/hand.md'],
      pull_candidates: ['wip/there.md'],
      remote_missing: ['wip/gone.md', 'wip/never.md'],
    });
    expect(told.new_remote).toEqual([
      {
        file_id: null,
        node_id: node,
        path: 'outputs/by/hand.md',
        section: 'outputs',
        size_bytes: 5,
        local_path: null,
        problem: null,
      },
    ]);
    expect(told.remote_missing.find(({ path }) => path === 'wip/gone.md')?.file_id).toBe(gone.id);
    expect([told.counts.new_remote, told.counts.remote_missing, told.truncated]).toEqual([1, 2, false]);
    // As recorded, nobody has looked whether it is gone.
    expect(paths(await status({ include_discovery: false }))).toEqual({
      pull_candidates: ['wip/gone.md', 'wip/there.md'],
      remote_missing: ['wip/never.md'],
    });
  });

  it('tells what is missing where the node was before, and nothing else of that folder', async () => {
    const [kept, gone] = [await create('kept.md', 'one'), await create('gone.md', 'two')];
    await create('here.md', 'three');
    const left = `${folder}-left`;
    for (const name of ['kept.md', 'other.md'])
      await centre.main.write(`${left}/wip/${name}`, bytes('one'), {
        expected: null,
        modifiedAt: '2026-01-01T00:00:00.000Z',
      });
    for (const { id } of [kept, gone])
      await centre.sql(`UPDATE file.record SET remote_path = $2 || '/' || path WHERE id = $1`, [id, left]);
    expect(paths(await status())).toEqual({
      // What lies under its names in the folder that is its own now.
      pull_candidates: ['wip/here.md', 'wip/kept.md'],
      remote_missing: ['wip/gone.md'],
      new_remote: ['wip/gone.md', 'wip/kept.md'],
    });
  });

  it('is cut to what is asked for, and counted whole', async () => {
    for (const name of ['a', 'b', 'c']) await create(`${name}.md`, name, 'deep');
    await create('other.md', 'o');
    const told = await status({ path_prefix: 'wip/deep/', limit: 2 });
    expect([paths(told), told.counts.pull_candidates, told.truncated]).toEqual([
      { pull_candidates: ['wip/deep/a.md', 'wip/deep/b.md'] },
      4,
      true,
    ]);
    expect(paths(await status({ classes: ['new_remote'] }))).toEqual({});
    expect(paths(await status({ remote_name: 'north' }))).toEqual({});
    expect((await status({ remote_name: 'main' })).counts.pull_candidates).toBe(4);
  });

  it('tells nothing of what the caller does not see', async () => {
    await create('seen.md', 'one');
    const reader = await centre.harness.user('Rita');
    const closed = await centre.project({ readers: [reader] });
    await centre.harness.refusal(fileStatus, { node_id: closed }, writer, 'NODE_NOT_FOUND');
    await centre.harness.refusal(fileStatus, { node_id: closed, include_discovery: false }, writer, 'NODE_NOT_FOUND');
    await centre.harness.refusal(adoptFiles, { node_id: closed, paths: ['wip/x.md'] }, writer, 'NODE_NOT_FOUND');
    await centre.harness.refusal(adoptFiles, { node_id: closed, paths: ['wip/x.md'] }, reader, 'FORBIDDEN');
    await centre.harness.refusal(
      renameFolder,
      { node_id: closed, old_prefix: 'wip/a', new_prefix: 'wip/b' },
      writer,
      'NODE_NOT_FOUND',
    );
    const mine = await centre.harness.call(
      createFile,
      { node_id: closed, filename: 'x.md', content: 'x' },
      centre.admin,
    );
    const everything = plain<OutputOf<typeof fileStatus>>(
      await centre.harness.call(fileStatus, { limit: 2_000 }, writer),
    );
    const ids = STATUS_BUCKETS.flatMap((bucket) => everything[bucket].map(({ file_id }) => file_id));
    expect([ids.includes(mine.id), everything.pull_candidates.some(({ path }) => path === 'wip/seen.md')]).toEqual([
      false,
      true,
    ]);
  });

  it('tells why a remote cannot be asked', async () => {
    await create('there.md', 'one');
    centre.main.failWith('unavailable');
    const told = await status();
    expect([paths(told), told.remote_error[0]?.problem]).toEqual([
      { remote_error: ['wip/there.md'] },
      expect.stringContaining('main'),
    ]);
  });

  it('tells devices where content differs from what was seen last', async () => {
    const made = await create('there.md', 'one');
    const survey = async () => plain(await centre.harness.call(surveyRemote, { node_id: node }, device()));
    expect(await survey()).toEqual({ untracked: [], missing: [], changed: [], failed: [], complete: true });
    await centre.main.write(`${folder}/wip/there.md`, bytes('by hand'), {
      expected: await revisionOf('wip/there.md'),
      modifiedAt: '2026-01-01T00:00:00.000Z',
    });
    expect((await survey()).changed).toMatchObject([{ file_id: made.id }]);
    // What is on its way to another node is nobody's find.
    const other = await centre.project();
    centre.main.before = (what) => {
      if (what === 'move') throw new RemoteFailure('unavailable', { path: '' });
    };
    await centre.harness.call(moveFile, { file_id: made.id, new_node_id: other, confirmed: true }, writer);
    expect((await survey()).untracked).toEqual([]);
  });
});

describe('files that lie on the remote and are not tracked', () => {
  it('are tracked as they lie there, once', async () => {
    await put('wip/one.md', 'one');
    await put('outputs/two.md', 'two');
    await create('known.md', 'known');
    const wanted = ['one.md', 'outputs/two.md', 'wip/known.md', 'wip/none.md', 'wip/ONE.md', '../x', 'wip/.DS_Store'];
    const { files, skipped } = await adopt({ paths: wanted });
    expect(files.map(({ path, remote_name, size_bytes }) => [path, remote_name, size_bytes])).toEqual([
      ['wip/one.md', 'main', 3],
      ['outputs/two.md', 'main', 3],
    ]);
    expect(skipped.map(({ path }) => path).sort()).toEqual([
      '../x',
      'wip/.DS_Store',
      'wip/ONE.md',
      'wip/known.md',
      'wip/none.md',
    ]);
    const { content } = await centre.harness.call(readFile, { node_id: node, path: 'outputs/two.md' }, writer);
    expect(content).toBe('two');
    expect(paths(await status())).toEqual({ pull_candidates: ['outputs/two.md', 'wip/known.md', 'wip/one.md'] });
    expect((await adopt({ paths: wanted })).files).toEqual([]);
    expect((await adopt({ paths: ['wip/nothing.md'] })).skipped).toEqual([
      { path: 'wip/nothing.md', reason: 'is not a file on the remote of the node' },
    ]);
  });

  it('are untouched when the remote breaks off in between', async () => {
    for (const name of ['a', 'b', 'c']) await put(`wip/${name}.md`, name);
    const stat = centre.main.stat.bind(centre.main);
    centre.main.stat = async (path, options) => {
      if (path.endsWith('c.md')) throw new RemoteFailure('unavailable', { path });
      return stat(path, options);
    };
    await centre.harness.refusal(
      adoptFiles,
      { node_id: node, paths: ['a.md', 'b.md', 'c.md'] },
      writer,
      'REMOTE_UNAVAILABLE',
    );
    centre.main.stat = stat;
    expect((await status()).counts.new_remote).toBe(3);
    expect((await adopt({ paths: ['a.md', 'b.md', 'c.md'] })).files).toHaveLength(3);
  });
});

describe('a folder that is renamed on the remote', () => {
  it('goes file by file, in parts, with what stands in the way told', async () => {
    for (const name of ['1', '2', '3']) await create(`${name}.md`, name, 'a/deep');
    await create('3.md', 'in the way', 'b/deep');
    expect(await rename({ dry_run: true })).toMatchObject({ applied: false, remaining: 3 });
    const first = await rename({ limit: 1 });
    expect([first.applied, first.remaining, first.renamed.map(({ to }) => to)]).toEqual([true, 2, ['wip/b/deep/1.md']]);
    const second = await rename({});
    expect([second.remaining, second.renamed.map(({ to, problem }) => [to, problem !== null])]).toEqual([
      1,
      [
        ['wip/b/deep/2.md', false],
        ['wip/b/deep/3.md', true],
      ],
    ]);
    expect(await below()).toEqual({
      'wip/b/deep/1.md': '1',
      'wip/b/deep/2.md': '2',
      'wip/a/deep/3.md': '3',
      'wip/b/deep/3.md': 'in the way',
    });
    await centre.harness.refusal(
      renameFolder,
      { node_id: node, old_prefix: 'wip/none', new_prefix: 'wip/x' },
      writer,
      'FILE_NOT_FOUND',
    );
    await centre.harness.refusal(
      renameFolder,
      { node_id: node, old_prefix: 'wip/a', new_prefix: 'wip/a/b' },
      writer,
      'VALIDATION_FAILED',
    );
  });

  it('tells the one reason for which nothing of it moved', async () => {
    await create('1.md', '1', 'a');
    centre.main.before = (what) => {
      if (what === 'move') throw new RemoteFailure('forbidden', { path: '' });
    };
    await centre.harness.refusal(
      renameFolder,
      { node_id: node, old_prefix: 'wip/a', new_prefix: 'wip/b', dry_run: false },
      writer,
      'REMOTE_REFUSED',
    );
    expect(await below()).toEqual({ 'wip/a/1.md': '1' });
  });
});

const device = (): Caller => ({ ...writer, device_id: newId() });

async function revisionOf(path: string): Promise<string> {
  const entry = await centre.main.stat(`${folder}/${path}`);
  return entry && 'revision' in entry ? entry.revision : '';
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe('the folders of a node on its remote', () => {
  const scaffold = (node_id: string, person = writer) =>
    centre.harness.call(scaffoldRemote, { node_id }, { ...person, device_id: newId() });

  it('are made where they are not there, and told as the caller may see them [mirrors.create.tool]', async () => {
    await centre.main.makeFolder(`${folder}/wip`);
    const made = ['outputs', 'resources'].map((section) => `${folder}/${section}`);
    expect(await scaffold(node)).toEqual({ remote_name: 'main', folders: made, problem: null });
    for (const path of made) expect(await centre.main.stat(path)).toMatchObject({ kind: 'folder' });
    expect(await scaffold(node)).toEqual({ remote_name: 'main', folders: [], problem: null });
  });

  it('of an organization are those of its nodes [mirrors.layout.organization-remote-scaffold]', async () => {
    const [row] = await centre.sql<{ id: string }>(
      `SELECT id FROM graph.node WHERE type = 'organization' AND sync_key = 'acme'`,
    );
    const names = ['workflow', 'projects', 'processes', 'areas', 'principles'];
    await scaffold(row?.id ?? '', centre.admin);
    for (const name of names) expect(await centre.main.stat(`acme/${name}`)).toMatchObject({ kind: 'folder' });
  });

  it('keep nothing else from being done when the remote does not answer', async () => {
    centre.main.failWith('unavailable');
    expect(await scaffold(node)).toMatchObject({
      remote_name: 'main',
      folders: [],
      problem: expect.stringContaining('main'),
    });
  });
});
