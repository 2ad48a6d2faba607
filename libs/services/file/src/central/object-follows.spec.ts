import { createHash } from 'node:crypto';
import {
  applyFileChanges,
  type Caller,
  createFile,
  deleteFile,
  type FileChange,
  moveFile,
  readFile,
  ServiceError,
  writeFile,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { RemoteFailure } from '@workspace-graph/remotes';
import { type CentreFixture, startCentre } from './central.fixture.js';
import { ObjectFollows } from './object-follows.js';
import { Repairs } from './repairs.js';

let centre: CentreFixture;
let writer: Caller;
let node: string;

beforeAll(async () => {
  centre = await startCentre();
  writer = await centre.harness.user('Wanda');
});
beforeEach(async () => {
  node = await centre.project();
});
afterAll(() => centre[Symbol.asyncDispose]());
afterEach(() => {
  for (const storage of [centre.main, centre.north]) {
    storage.failWith(null);
    storage.before = () => undefined;
    storage.after = () => undefined;
  }
});

const create = (filename: string, content: string, nodeId = node) =>
  centre.harness.call(createFile, { node_id: nodeId, filename, content }, writer);
const read = async (path: string, nodeId = node) =>
  (await centre.harness.call(readFile, { node_id: nodeId, path }, writer)).content;
/** What a workstation tells of its folder. */
const apply = (...changes: FileChange[]) =>
  centre.harness.call(
    applyFileChanges,
    { node_id: node, action: 'scan_mirror', changes, strict: true },
    { ...writer, device_id: newId() },
  );
const moved = (file_id: string, path: string, node_id?: string): FileChange => ({
  kind: 'move',
  file_id,
  path,
  ...(node_id === undefined ? {} : { node_id }),
});
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const repair = (): Promise<number> => centre.harness.module.get(Repairs).run();
const intents = () =>
  centre.sql<{ last_error: string | null }>('SELECT last_error FROM file.pending_op ORDER BY created_at, id');
const allFollowed = () => eventually('all have followed', async () => (await intents()).length === 0);
const below = async (nodeId = node): Promise<Record<string, string>> => {
  const folder = `${await centre.folder(nodeId)}/`;
  const all = { ...(await centre.main.texts()), ...(await centre.north.texts()) };
  return Object.fromEntries(
    Object.entries(all).flatMap(([path, text]) => (path.startsWith(folder) ? [[path.slice(folder.length), text]] : [])),
  );
};

describe('the object of a file whose record a workstation moves', () => {
  it('follows it within its node, with nothing copied', async () => {
    const { id } = await create('plan.md', 'The second oven.');
    centre.main.before = (what) => {
      if (what === 'write') throw new Error('nothing is to be written');
    };
    await apply(moved(id, 'outputs/2026/plan.md'));
    await allFollowed();
    expect(await below()).toEqual({ 'outputs/2026/plan.md': 'The second oven.' });
    expect(await read('outputs/2026/plan.md')).toBe('The second oven.');
  });

  it('follows it to another node, and to the remote of that one', async () => {
    const [near, far] = [await centre.project(), await centre.project({ organization: 'north' })];
    const [one, two] = [await create('one.md', '1'), await create('two.md', '2')];
    await apply(moved(one.id, 'wip/one.md', near), moved(two.id, 'wip/two.md', far));
    await allFollowed();
    expect([await below(), await below(near), await below(far)]).toEqual([
      {},
      { 'wip/one.md': '1' },
      { 'wip/two.md': '2' },
    ]);
    expect([await read('wip/one.md', near), await read('wip/two.md', far)]).toEqual(['1', '2']);
    expect(Object.keys(await centre.north.texts())).toContain(`${await centre.folder(far)}/wip/two.md`);
  });

  it('follows it over several steps, into names that others leave', async () => {
    const files = [await create('a.md', 'a'), await create('b.md', 'b'), await create('c.md', 'c')];
    const [a, b, c] = files.map(({ id }) => id) as [string, string, string];
    await apply(moved(c, 'wip/d.md'), moved(b, 'wip/c.md'), moved(a, 'wip/b.md'));
    await allFollowed();
    expect(await below()).toEqual({ 'wip/b.md': 'a', 'wip/c.md': 'b', 'wip/d.md': 'c' });
  });

  it('lies where it lay while the remote is away, and follows when it is back', async () => {
    const { id } = await create('plan.md', 'one');
    centre.main.before = () => {
      throw new RemoteFailure('unavailable', { path: '' });
    };
    await apply(moved(id, 'wip/later.md'));
    await eventually('it was tried', async () => (await intents()).some(({ last_error }) => last_error !== null));
    expect(await read('wip/later.md')).toBe('one');
    // It goes on meanwhile, and back again.
    await apply(moved(id, 'wip/latest.md'));
    centre.main.before = () => undefined;
    await repair();
    expect([await below(), await intents()]).toEqual([{ 'wip/latest.md': 'one' }, []]);
  });

  it('is found where a process that ended had moved it', async () => {
    const { id } = await create('plan.md', 'one');
    centre.main.after = () => {
      throw new RemoteFailure('unavailable', { path: '' });
    };
    await apply(moved(id, 'wip/there.md'));
    await eventually('it is moved', async () => (await below())['wip/there.md'] === 'one');
    centre.main.after = () => undefined;
    await repair();
    expect([await intents(), await read('wip/there.md')]).toEqual([[], 'one']);
  });

  it('takes no place of anything else, and is read where it lies', async () => {
    const { id } = await create('plan.md', 'ours');
    await centre.main.write(`${await centre.folder(node)}/wip/taken.md`, bytes('theirs'), {
      expected: null,
      modifiedAt: new Date().toISOString(),
    });
    await apply(moved(id, 'wip/taken.md'));
    await eventually('it is told', async () => (await intents()).some(({ last_error }) => last_error !== null));
    expect((await intents())[0]?.last_error).toBe('The path wip/taken.md is taken by another file.');
    expect(await read('wip/taken.md')).toBe('ours');
    expect(await below()).toEqual({ 'wip/plan.md': 'ours', 'wip/taken.md': 'theirs' });
    await centre.harness.call(deleteFile, { file_id: id, confirmed: true }, writer);
    expect([await below(), await intents()]).toEqual([{ 'wip/taken.md': 'theirs' }, []]);
  });

  it('changes its name with the object of another file, and in larger circles', async () => {
    const files = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => create(`${name}.md`, name)));
    const [a, b, c, d, e, f] = files.map(({ id }) => id) as [string, string, string, string, string, string];
    // Two that change their names, three in a circle, and one that goes where the last of those was.
    await apply(moved(a, 'wip/x.md'), moved(b, 'wip/a.md'), moved(a, 'wip/b.md'));
    await apply(
      moved(c, 'wip/x.md'),
      moved(e, 'wip/c.md'),
      moved(d, 'wip/e.md'),
      moved(c, 'wip/d.md'),
      moved(f, 'outputs/f.md'),
    );
    await allFollowed();
    expect(await below()).toEqual({
      'outputs/f.md': 'f',
      'wip/a.md': 'b',
      'wip/b.md': 'a',
      'wip/c.md': 'e',
      'wip/d.md': 'c',
      'wip/e.md': 'd',
    });
    for (const [path, content] of Object.entries(await below())) expect(await read(path)).toBe(content);
  });

  it('that stepped aside in a circle is found when the process ended in the same moment, wherever its record went since', async () => {
    const [a, b] = [await create('a.md', 'a'), await create('b.md', 'b')];
    centre.main.after = (what) => {
      if (what === 'move') throw new RemoteFailure('unavailable', { path: '' });
    };
    await apply(moved(a.id, 'wip/c.md'), moved(b.id, 'wip/a.md'), moved(a.id, 'wip/b.md'));
    const hidden = async () => Object.keys(await below()).filter((path) => path.includes('/.moving-'));
    await eventually('one stepped aside', async () => (await hidden()).length === 1);
    await apply(moved(a.id, 'wip/d.md'), moved(b.id, 'wip/b.md'));
    centre.main.after = () => undefined;
    await repair();
    await allFollowed();
    expect(await below()).toEqual({ 'wip/b.md': 'b', 'wip/d.md': 'a' });
    expect([await read('wip/b.md'), await read('wip/d.md')]).toEqual(['b', 'a']);
  });

  it('leaves its name to a new file of the same content, and to nobody while it cannot leave it', async () => {
    const { id } = await create('plan.md', 'same');
    centre.main.before = (what) => {
      if (what === 'move') throw new RemoteFailure('unavailable', { path: '' });
    };
    await apply(moved(id, 'wip/old.md'));
    const input = { node_id: node, filename: 'plan.md', content: 'same' };
    await centre.harness.refusal(createFile, input, writer, 'DESTINATION_EXISTS');
    centre.main.before = () => undefined;
    const made = await create('plan.md', 'same');
    expect(await below()).toEqual({ 'wip/old.md': 'same', 'wip/plan.md': 'same' });
    await centre.harness.call(deleteFile, { file_id: made.id, confirmed: true }, writer);
    expect([await read('wip/old.md'), await intents()]).toEqual(['same', []]);
  });

  it('needs nothing when somebody else moves it, or it comes back', async () => {
    const [a, b] = [await create('a.md', 'a'), await create('b.md', 'b')];
    centre.main.before = (what) => {
      if (what === 'move') throw new RemoteFailure('unavailable', { path: '' });
    };
    await apply(moved(a.id, 'wip/x.md'), moved(b.id, 'wip/y.md'));
    await eventually('both were tried', async () => (await intents()).every(({ last_error }) => last_error !== null));
    await apply(moved(b.id, 'wip/b.md'));
    centre.main.before = () => undefined;
    await centre.harness.call(moveFile, { file_id: a.id, new_filename: 'z.md', confirmed: true }, writer);
    await repair();
    expect([await below(), await intents()]).toEqual([{ 'wip/b.md': 'b', 'wip/z.md': 'a' }, []]);
  });

  it('is followed on when its record moves in the same moment', async () => {
    const { id } = await create('plan.md', 'one');
    let isSecond = false;
    centre.main.after = async (what) => {
      if (what !== 'move' || isSecond) return;
      isSecond = true;
      await apply(moved(id, 'wip/second.md'));
    };
    await apply(moved(id, 'wip/first.md'));
    await allFollowed();
    expect(await below()).toEqual({ 'wip/second.md': 'one' });
  });

  it.each<[string, (fileId: string) => Promise<unknown>, Record<string, string>]>([
    [
      'replaced',
      () => {
        const change = { node_id: node, path: 'wip/there.md', content: 'two', expected_sha256: sha('one') };
        return centre.harness.call(writeFile, change, writer);
      },
      { 'wip/there.md': 'two' },
    ],
    [
      'moved',
      (file_id) => centre.harness.call(moveFile, { file_id, new_filename: 'on.md', confirmed: true }, writer),
      { 'wip/on.md': 'one' },
    ],
    ['deleted', (file_id) => centre.harness.call(deleteFile, { file_id, confirmed: true }, writer), {}],
  ])('is waited for by whoever has it %s, and is so where it went', async (_what, change, left) => {
    const { id } = await create('plan.md', 'one');
    const [begun, goes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    centre.main.before = async (what) => {
      if (what !== 'move') return;
      begun.resolve();
      await goes.promise;
    };
    await apply(moved(id, 'wip/there.md'));
    await begun.promise;
    const changed = change(id);
    goes.resolve();
    expect(await changed).toBeDefined();
    expect(await below()).toEqual(left);
    await allFollowed();
  });

  it('is moved by one instance of the service at a time', async () => {
    const { id } = await create('plan.md', 'one');
    const follows = centre.harness.module.get(ObjectFollows);
    let moves = 0;
    centre.main.before = (what) => {
      if (what === 'move') moves += 1;
    };
    await apply(moved(id, 'wip/there.md'));
    const noted = await centre.sql<{ id: string }>('SELECT id::text FROM file.pending_op');
    const signal = AbortSignal.timeout(60_000);
    await Promise.all([...noted, ...noted, ...noted].map((intent) => follows.settle(intent, signal)));
    await allFollowed();
    expect([moves, await below()]).toEqual([1, { 'wip/there.md': 'one' }]);
    expect(await follows.settle({ id: newId() }, signal)).toBe(true);
  });

  it('notes nothing for a file that is on no remote', async () => {
    const content = {
      sha256: '0'.repeat(64),
      size_bytes: 1,
      mime_type: 'text/plain',
      modified_at: '2026-01-01T00:00:00Z',
    };
    const { results } = await apply({ kind: 'register', path: 'wip/local.md', ...content });
    const [result] = results;
    if (!result || !('file' in result) || !result.file) throw new ServiceError('INTERNAL', 'not registered');
    await apply(moved(result.file.id, 'wip/other.md'));
    expect(await intents()).toEqual([]);
  });
});

async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isSo()); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() > deadline) throw new Error(`it did not come about that ${what}`);
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
