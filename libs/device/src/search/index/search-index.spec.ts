import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fold, type NotedFile, termsOf } from '@workspace-graph/domain';
import { packText } from '../text/packed-text.js';
import type { ReadFile } from './index-messages.js';
import { SearchIndex } from './search-index.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-index-'));
  file = join(folder, 'search.db');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const noted = (fileId: string, more: Partial<NotedFile> = {}): NotedFile => ({
  fileId,
  nodeId: 'node',
  path: `wip/${fileId}.md`,
  sha256: 'new',
  modifiedMs: 1,
  ...more,
});
const read = (fileId: string, text: string): ReadFile => ({
  fileId,
  sha256: 'new',
  state: 'done',
  text: packText(text),
  words: new TextEncoder().encode(fold(text)),
});
const found = (index: SearchIndex, query: string): string[] =>
  index.search({ terms: termsOf(query), limit: 100, offset: 0 }).map(({ fileId }) => fileId);

describe('the search index', () => {
  it('tells which texts are to be read, knows names before them, and does not ask again for what failed', () => {
    const index = SearchIndex.open(file);
    expect(index.note([noted('a'), noted('b')], [])).toEqual(['a', 'b']);
    expect(found(index, 'a')).toEqual(['a']);
    index.put([
      read('a', 'text'),
      { ...read('b', ''), state: 'failed', text: null, words: null },
      read('unknown', 'text'),
    ]);
    expect(index.note([noted('a'), noted('b')], [])).toEqual([]);
    expect(index.note([noted('a', { sha256: 'other' }), noted('b', { sha256: 'other' })], [])).toEqual(['a', 'b']);
    expect(found(index, 'text')).toEqual(['a']);
    index.close();
  });

  it('keeps the text of a file that moves, and forgets those that a census does not meet', () => {
    const index = SearchIndex.open(file);
    index.note([noted('a'), noted('b'), noted('c')], []);
    index.put(['a', 'b', 'c'].map((id) => read(id, 'společný text')));
    index.beginCensus();
    expect(
      index.note([noted('a', { path: 'outputs/Nové jméno.md', nodeId: 'other', modifiedMs: null })], ['b']),
    ).toEqual([]);
    index.endCensus();
    expect([found(index, 'text'), found(index, 'nove jmeno spolecny'), found(index, 'c')]).toEqual([['a'], ['a'], []]);
    index.removeNode('other');
    expect(found(index, 'text')).toEqual([]);
    index.close();
  });

  it('finds at once what is written later with what comes, and asks for it again when that was cut off', () => {
    const index = SearchIndex.open(file);
    index.note([noted('a'), noted('b')], []);
    index.put([read('a', 'text')], true);
    expect(found(index, 'text')).toEqual(['a']);
    index.close();
    const again = SearchIndex.open(file);
    expect([again.note([noted('a')], []), found(again, 'text')]).toEqual([['a'], []]);
    again.put([read('a', 'text')], true);
    again.put([read('b', 'text')]);
    again.close();
    const last = SearchIndex.open(file);
    expect([last.note([noted('a'), noted('b')], []), found(last, 'text').toSorted()]).toEqual([[], ['a', 'b']]);
    last.close();
  });

  it('shows the place in a long text where the words stand together, as they are written there', () => {
    const index = SearchIndex.open(file);
    const filler = 'Žádná shoda zde není. '.repeat(20_000);
    index.note([noted('a')], []);
    index.put([read('a', `${filler}Plán. ${filler}Čtvrtletní PLÁN výdajů. ${filler}`)]);
    const [snippet] = index.snippets(['a'], termsOf('vydaju plan'));
    expect(snippet).toContain('Čtvrtletní «PLÁN» «výdajů».');
    expect(index.snippets(['a', 'gone'], termsOf('neexistuje'))).toEqual([null, null]);
    index.close();
  });

  it('is made anew when it is of another version, or damaged in the middle of work', async () => {
    SearchIndex.open(file).close();
    const { DatabaseSync } = await import('node:sqlite');
    const other = new DatabaseSync(file);
    other.exec('PRAGMA user_version = 999');
    other.close();
    const index = SearchIndex.open(file);
    expect(index.note([noted('a')], [])).toEqual(['a']);
    index.close();
    await writeFile(file, Buffer.alloc(100_000, 1));
    const again = SearchIndex.open(file);
    expect(found(again, 'a')).toEqual([]);
    again.close();
  });

  it('is whole after its process was killed in the middle of writing', async () => {
    const child = spawn(
      process.execPath,
      [
        '--conditions=@workspace-graph/source',
        '--disable-warning=ExperimentalWarning',
        '--import',
        new URL('../../testing/source-worker.mjs', import.meta.url).href,
        new URL('./busy-index.fixture.ts', import.meta.url).pathname,
        file,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    for await (const lines of child.stdout) if (String(lines).includes('put 20\n')) break;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const index = SearchIndex.open(file);
    const names = Array.from({ length: 100 }, (_, name) => String(name));
    const missing = index.note(
      names.map((name) => noted(name, { sha256: '20' })),
      [],
    );
    // What was put last may have been the 20th or one of the next; all of it is there or nothing.
    expect([0, 100]).toContain(missing.length);
    expect(found(index, 'spolecne')).toHaveLength(100);
    const counts = Array.from({ length: 200 }, (_, round) => found(index, `kolo${round}`).length);
    expect(counts.filter((count) => count > 0)).toEqual([100]);
    index.close();
  });

  it('tells of damage instead of answering wrongly when bytes change under it', async () => {
    const index = SearchIndex.open(file);
    index.note(
      Array.from({ length: 500 }, (_, id) => noted(`f${id}`)),
      [],
    );
    index.close();
    const handle = await open(file, 'r+');
    for (let at = 4_096; at < (await handle.stat()).size; at += 4_096)
      await handle.write(Buffer.alloc(4_096, 0xaa), 0, 4_096, at);
    await handle.close();
    const damaged = SearchIndex.open(file);
    const outcome = (): unknown => damaged.note([noted('x')], []);
    expect(outcome).toThrow(expect.objectContaining({ errcode: expect.any(Number) }));
    damaged.close();
  });
});
