import { setTimeout as sleep } from 'node:timers/promises';
import { readContents, type Scanned } from './content-reader.js';
import type { WalkedFile } from './disk-walk.js';
import type { ScanThreads } from './scan-threads.js';

/** Files each of which is a batch of its own. */
const files = Array.from({ length: 4 }, (_, index): WalkedFile => {
  const path = `wip/${index}.bin`;
  return { path, onDisk: path, stamp: `${16 * 1_048_576}:1`, inode: `${index}`, mtimeMs: 0 };
});

function readWith(read: (path: string) => Promise<never[]>) {
  const threads = { read: ({ files: batch }: { files: WalkedFile[] }) => read(batch[0]?.path ?? '') };
  return readContents(threads as unknown as ScanThreads, '/nowhere', files);
}

describe('reading ahead', () => {
  it('tells of a batch that failed when it is its turn, and ends no process before', async () => {
    const slow = Promise.withResolvers<never[]>();
    const parts = readWith((path) =>
      path === 'wip/0.bin' ? slow.promise : Promise.reject(new Error('the folder is gone')),
    );
    const taken: (readonly Scanned[])[] = [];
    const reading = (async () => {
      for await (const { read } of parts) taken.push(read);
    })();
    await sleep(20);
    slow.resolve([]);
    await expect(reading).rejects.toThrow('the folder is gone');
    expect(taken).toHaveLength(1);
  });
});
