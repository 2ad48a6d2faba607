import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TextExtractors } from './text-extractors.js';

let folder: string;
let extractors: TextExtractors;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-extractors-'));
});
afterEach(() => extractors.close());
afterAll(() => rm(folder, { recursive: true, force: true }));

async function stateOf(filename: string): Promise<string> {
  const path = join(folder, filename);
  await writeFile(path, 'text');
  const { state, problem } = await extractors.extract({ handle: await open(path), filename });
  return problem === null ? state : `${state}: ${problem}`;
}

const entry = new URL('./troublesome-extractor.fixture.js', import.meta.url);

describe('threads that read files', () => {
  it('are replaced when one hangs or dies, and the files that come after are read', async () => {
    extractors = new TextExtractors({ threads: 1, entry, timeoutMs: 1_500 });
    const [hanging, dying, good] = await Promise.all(['hang.md', 'die.md', 'good.md'].map(stateOf));
    expect(hanging).toBe('failed: The worker thread was ended');
    expect(dying).toMatch(/^failed: The worker thread ended with 3/);
    expect(good).toBe('done');
  });

  it('may use only so much memory, and this process lives on', async () => {
    extractors = new TextExtractors({ threads: 1, entry, heapMegabytes: 64 });
    expect(await stateOf('swell.md')).toMatch(/^failed: .*memory/);
    expect(await stateOf('good.md')).toBe('done');
  });

  it('read real files, and rest until the next one comes', async () => {
    extractors = new TextExtractors({ threads: 2 });
    expect(await Promise.all(['a.md', 'b.md', 'c.md'].map(stateOf))).toEqual(['done', 'done', 'done']);
    await extractors.rest();
    expect(await stateOf('d.md')).toBe('done');
    await extractors.close();
    expect(await stateOf('e.md')).toBe('failed: The worker thread is closed');
  });
});
