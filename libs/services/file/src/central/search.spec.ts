import { type Caller, createFile, type InputOf, LIMITS, listFiles, searchFiles } from '@workspace-graph/contracts';
import { type CentreFixture, startCentre } from './central.fixture.js';

let centre: CentreFixture;
let wanda: Caller;
let rita: Caller;
/** What only Wanda sees, and what everybody does. */
let closed: string;
let open: string;

beforeAll(async () => {
  centre = await startCentre();
  [wanda, rita] = [await centre.harness.user('Wanda'), await centre.harness.user('Rita')];
  [closed, open] = [await centre.project({ readers: [wanda] }), await centre.project()];
});
afterAll(() => centre[Symbol.asyncDispose]());

const create = (node_id: string, filename: string, content: string, caller = wanda) =>
  centre.harness.call(createFile, { node_id, filename, content }, caller);
const search = (input: InputOf<typeof searchFiles>, caller = wanda) => centre.harness.call(searchFiles, input, caller);
const names = async (query: string, caller = wanda): Promise<string[]> =>
  (await search({ query }, caller)).hits.map(({ filename }) => filename).sort();

describe('searching in files on a remote that has no search of its own', () => {
  beforeAll(async () => {
    await create(open, 'bread.md', 'Žitný kvásek roste přes noc.\nA sourdough, of rye.');
    await create(open, 'table.csv', 'rye,sourdough\n1,2');
    await create(open, 'rye.md', 'nothing of it');
    await create(open, 'photo.jpg', 'sourdough');
    await create(open, 'street.txt', 'Hlavní Straße 12');
    await create(closed, 'secret.md', 'sourdough', centre.admin);
  });

  it('finds whole words and phrases of texts, whatever their case and diacritics [files.search.remote]', async () => {
    expect(await names('sourdough')).toEqual(['bread.md', 'secret.md', 'table.csv']);
    expect(await names('"sourdough of rye"')).toEqual(['bread.md']);
    expect(await names('KVASEK zitny')).toEqual(['bread.md']);
    expect(await names('sourdoug')).toEqual([]);
    expect(await names('strasse')).toEqual(['street.txt']);
  });

  it('shows where the words stand, and names a file once', async () => {
    const { hits, complete } = await search({ query: 'rye' });
    const shown = hits.map(({ filename, snippet }) => [filename, snippet?.includes('«rye»') ?? null]);
    expect(shown.sort()).toEqual([
      ['bread.md', true],
      ['rye.md', null],
      ['table.csv', true],
    ]);
    expect(complete).toBe(true);
  });

  it('opens nothing that the caller does not see, and looks into one node where one is named', async () => {
    const opened: string[] = [];
    const { read } = centre.main;
    centre.main.read = (path, options) => {
      opened.push(path);
      return read.call(centre.main, path, options);
    };
    try {
      expect(await names('sourdough', rita)).toEqual(['bread.md', 'table.csv']);
      expect(opened.filter((path) => path.includes('secret'))).toEqual([]);
      opened.length = 0;
      expect((await search({ query: 'sourdough', node_id: closed })).hits).toHaveLength(1);
      expect(opened.filter((path) => path.endsWith('.md'))).toEqual([expect.stringContaining('secret.md')]);
      await centre.harness.refusal(searchFiles, { query: 'sourdough', node_id: closed }, rita, 'NODE_NOT_FOUND');
    } finally {
      centre.main.read = read;
    }
  });

  it('says that there is more than it was asked for', async () => {
    const { hits, complete } = await search({ query: 'sourdough', limit: 1 });
    expect([hits.length, complete]).toEqual([1, false]);
  });

  it('says that it is not complete when a remote does not answer or the time is over', async () => {
    centre.main.failWith('unavailable');
    expect(await search({ query: 'rye' })).toMatchObject({ hits: [{ filename: 'rye.md' }], complete: false });
    centre.main.failWith(null);
    const { now } = performance;
    const { read } = centre.main;
    let isOver = false;
    // The time is over once the first text is read.
    performance.now = () => now.call(performance) + (isOver ? LIMITS.grepMs + 1 : 0);
    centre.main.read = (path, options) => {
      isOver ||= path.endsWith('.md');
      return read.call(centre.main, path, options);
    };
    try {
      expect((await search({ query: 'sourdough' })).complete).toBe(false);
    } finally {
      performance.now = now;
      centre.main.read = read;
    }
    expect((await search({ query: 'sourdough' })).complete).toBe(true);
  });

  it('leaves out what was removed from the storage by hand', async () => {
    const { remote_path, id } = await create(open, 'gone.md', 'sourdough');
    const entry = (await centre.main.stat(remote_path)) as { readonly revision: string };
    await centre.main.remove(remote_path, { expected: entry.revision });
    expect(await names('sourdough')).not.toContain('gone.md');
    const { items } = await centre.harness.call(listFiles, { node_id: open }, wanda);
    expect(items.map((file) => file.id)).toContain(id);
  });
});
