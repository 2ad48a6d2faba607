import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { GatheredWrites } from './gathered-writes.js';

const KB = 1_024;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gathered-writes-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes chunks of these sizes, which all come in the same memory. Answers what was written and how often the disk was. */
async function written(sizes: readonly number[]): Promise<{ same: boolean; writes: number }> {
  const path = join(folder, 'a.bin');
  await using handle = await open(path, 'w');
  const write = jest.spyOn(handle, 'write');
  const writes = new GatheredWrites(handle);
  const memory = Buffer.alloc(Math.max(0, ...sizes));
  const expected: Buffer[] = [];
  for (const [index, size] of sizes.entries()) {
    const chunk = memory.subarray(0, size).fill(index + 1);
    expected.push(Buffer.from(chunk));
    await writes.write(chunk);
  }
  await writes.end();
  return { same: Buffer.concat(expected).equals(await readFile(path)), writes: write.mock.calls.length };
}

describe('writes of a file', () => {
  it.each([
    ['of nothing', [], 0],
    ['of one chunk go as they are', [4 * KB], 1],
    ['of chunks of a network go together', Array<number>(33).fill(64 * KB), 5],
    ['of large chunks go one by one', [KB * KB, KB * KB], 2],
    ['of chunks of all sizes keep their order', [KB, 3 * KB, 600 * KB, 5 * KB, 510 * KB, 512 * KB, 1], 7],
  ])('%s', async (_what, sizes, most) => {
    expect(await written(sizes)).toEqual({ same: true, writes: most });
  });
});
