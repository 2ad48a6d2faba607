import { setTimeout as sleep } from 'node:timers/promises';
import { ContentReader, type Scanned } from './content-reader.js';
import type { WalkedFile } from './disk-walk.js';
import type { ScanThreads } from './scan-threads.js';

const row = { nodeId: 'n', path: '/nowhere', identity: '', scannedAt: null, createdAt: '' };
/** Files each of which is a batch of its own. */
const files = Array.from({ length: 4 }, (_, index): WalkedFile => {
  const path = `wip/${index}.bin`;
  return { path, onDisk: path, stamp: `${16 * 1_048_576}:1`, inode: `${index}`, mtimeMs: 0 };
});

function readerThat(read: (path: string) => Promise<never[]>): ContentReader {
  const threads = { read: ({ files: batch }: { files: WalkedFile[] }) => read(batch[0]?.path ?? '') };
  const found = { again: new Map<string, string>(), failures: new Map<string, string>() };
  return new ContentReader(threads as unknown as ScanThreads, { row, ...found, progress: { toRead: files.length } });
}

describe('reading ahead', () => {
  it('tells of a batch that failed when it is its turn, and ends no process before', async () => {
    const slow = Promise.withResolvers<never[]>();
    const reader = readerThat((path) =>
      path === 'wip/0.bin' ? slow.promise : Promise.reject(new Error('the folder is gone')),
    );
    const taken: Scanned[][] = [];
    const reading = (async () => {
      for await (const part of reader.readAll(files)) taken.push(part);
    })();
    await sleep(20);
    slow.resolve([]);
    await expect(reading).rejects.toThrow('the folder is gone');
    expect(taken).toHaveLength(1);
  });
});
