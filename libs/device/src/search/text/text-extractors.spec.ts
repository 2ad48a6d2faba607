import { mkdir, mkdtemp, open, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inodeOf, stampOf } from '@workspace-graph/disk';
import type { TrackedText } from './extraction.js';
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

async function tracked(filename: string): Promise<TrackedText> {
  await writeFile(join(folder, filename), 'text');
  return trackedAt(filename);
}

async function trackedAt(filename: string): Promise<TrackedText> {
  const path = join(folder, filename);
  const found = await stat(path, { bigint: true });
  return { path, filename, stamp: stampOf(found), inode: inodeOf(found) };
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

  it('are replaced when one dies of a file that was read together with others: these are read one by one', async () => {
    extractors = new TextExtractors({ threads: 1, entry });
    expect(await extractors.extractTracked([await tracked('die.md'), await tracked('good.md')])).toEqual([]);
    expect(await stateOf('good.md')).toBe('done');
  });

  it('read files together only while each is the one that is tracked', async () => {
    extractors = new TextExtractors({ threads: 1 });
    await mkdir(join(folder, 'wip'));
    const names = ['same.md', 'written.md', 'replaced.md', 'gone.md', 'wip/behind-a-link.md'];
    const files = await Promise.all(names.map(tracked));
    await writeFile(join(folder, 'written.md'), 'next');
    await writeFile(join(folder, 'other.md'), 'text');
    await rename(join(folder, 'other.md'), join(folder, 'replaced.md'));
    await rm(join(folder, 'gone.md'));
    await rename(join(folder, 'wip'), join(folder, 'real'));
    await mkdir(join(folder, 'elsewhere'));
    await writeFile(join(folder, 'elsewhere/behind-a-link.md'), 'secret');
    await symlink(join(folder, 'elsewhere'), join(folder, 'wip'));
    await writeFile(join(folder, 'slow.pdf'), '%PDF-');
    const read = await extractors.extractTracked([...files, await trackedAt('slow.pdf')]);
    expect(read.map(({ state }) => state)).toEqual(['done', 'changed', 'changed', 'changed', 'changed', 'slow']);
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
