import { createHash } from 'node:crypto';
import type { ResumableUploads } from '@workspace-graph/remotes';
import { KeptUploadHashes } from './upload-hashes.js';

type UploadedRange = Parameters<NonNullable<ResumableUploads['read']>>[1];

const content = Buffer.from('a content of some parts, which comes in pieces');
const { signal } = new AbortController();

function sha(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A storage that notes what it was asked to give back, and breaks off once after so many bytes. */
function storage({ breaksAfter = Number.POSITIVE_INFINITY } = {}) {
  const asked: UploadedRange[] = [];
  let left = breaksAfter;
  async function* read(_upload: string, range: UploadedRange): AsyncGenerator<Uint8Array> {
    asked.push(range);
    for (let at = range.offset; at < range.offset + range.length; at += 5) {
      if (left <= 0) {
        left = Number.POSITIVE_INFINITY;
        throw new Error('the storage is gone');
      }
      const chunk = content.subarray(at, Math.min(at + 5, range.offset + range.length));
      left -= chunk.byteLength;
      yield chunk;
    }
  }
  return { read, asked };
}

describe('hashes of uploads', () => {
  it('go on from part to part without anything being read', async () => {
    const hashes = new KeptUploadHashes();
    const { read, asked } = storage();
    const first = await hashes.at({ read }, { handle: 'a', bytes: 0 }, signal);
    first.arrived(content.subarray(0, 10));
    const second = await hashes.at({ read }, { handle: 'a', bytes: 10 }, signal);
    second.arrived(content.subarray(10));
    expect([second.isReread, second.end(), asked]).toEqual([false, sha(content), []]);
  });

  it('are made of what is there, where nothing of it is in mind', async () => {
    const { read, asked } = storage();
    const hash = await new KeptUploadHashes().at({ read }, { handle: 'a', bytes: 20 }, signal);
    expect([hash.isReread, asked]).toEqual([true, [{ offset: 0, length: 20 }]]);
    hash.arrived(content.subarray(20));
    expect(hash.end()).toBe(sha(content));
  });

  it('need what is missing alone', async () => {
    const hashes = new KeptUploadHashes();
    const { read, asked } = storage();
    (await hashes.at({ read }, { handle: 'a', bytes: 0 }, signal)).arrived(content.subarray(0, 10));
    const more = await hashes.at({ read }, { handle: 'a', bytes: 20 }, signal);
    const less = await hashes.at({ read }, { handle: 'a', bytes: 5 }, signal);
    expect(asked).toEqual([
      { offset: 10, length: 10 },
      { offset: 0, length: 5 },
    ]);
    expect([more.end(), less.end()]).toEqual([sha(content.subarray(0, 20)), sha(content.subarray(0, 5))]);
  });

  it('go on from where reading broke off', async () => {
    const hashes = new KeptUploadHashes();
    const { read, asked } = storage({ breaksAfter: 15 });
    await expect(hashes.at({ read }, { handle: 'a', bytes: 40 }, signal)).rejects.toThrow('the storage is gone');
    const hash = await hashes.at({ read }, { handle: 'a', bytes: 40 }, signal);
    expect([hash.end(), asked[1]]).toEqual([sha(content.subarray(0, 40)), { offset: 15, length: 25 }]);
  });

  it('are forgotten, the oldest first', async () => {
    const hashes = new KeptUploadHashes();
    const { read, asked } = storage();
    for (let index = 0; index <= 256; index += 1)
      (await hashes.at({ read }, { handle: `${index}`, bytes: 0 }, signal)).arrived(content.subarray(0, 10));
    hashes.forget('256');
    for (const handle of ['1', '0', '256']) await hashes.at({ read }, { handle, bytes: 10 }, signal);
    expect(asked).toHaveLength(2);
  });
});
