import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { searchFiles } from '@workspace-graph/contracts';
import { locate, readContent } from '@workspace-graph/disk';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { docxOf } from '../testing/document-files.js';
import { FileIndexer } from './file-indexer.js';

const BOMBS = 8;
/** Small when packed, and seconds of work for whoever reads it to its one word. */
const BOMB = docxOf([...Array.from({ length: 900_000 }, () => ''), 'konec']);

let device: DeviceFixture;
beforeAll(async () => {
  device = await startDevice();
});
afterAll(() => device.close());

async function register(folder: { nodeId: string; path: string }, name: string, content: string | Buffer) {
  const path = `wip/${name}`;
  await writeFile(join(folder.path, path), content);
  const seen = await readContent(await locate(folder.path, path));
  await device.parts.files.apply(folder.nodeId, [{ kind: 'register', path, seen }], {
    action: 'scan',
    asker: null,
    strict: true,
  });
}

describe('texts that take long to be read', () => {
  it('keep no plain file out of the search, whatever they are called, and are found in the end [files.search.cheap-first]', async () => {
    const folder = await device.mirror('Alpha');
    const names = Array.from({ length: BOMBS }, (_, index) => (index % 2 === 0 ? `${index}.docx` : `${index}.md`));
    for (const name of names) await register(folder, name, BOMB);
    const plain = ['a.md', 'b.html', 'c.txt'];
    for (const name of plain) await register(folder, name, '<p>prosté');
    const answer = () => device.call(searchFiles, { query: 'prosté' });
    let found = await answer();
    for (; found.hits.length < plain.length; found = await answer()) await delay(20);
    expect(found.hits.map(({ filename }) => filename).sort()).toEqual(plain);
    // Some of the others still wait.
    expect(found.indexing).toBeGreaterThan(0);
    await device.module.get(FileIndexer).whenIdle();
    const late = await device.call(searchFiles, { query: 'konec', limit: 50 });
    expect(late.hits.map(({ filename }) => filename).sort()).toEqual(names.toSorted());
    expect(late.indexing).toBe(0);
  }, 300_000);
});
