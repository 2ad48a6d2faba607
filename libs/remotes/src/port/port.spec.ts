import { createHash } from 'node:crypto';
import { ERRORS, HASH_KINDS } from '@workspace-graph/contracts';
import { ContentHashes, RemoteFailure, type RemoteFailureReason, serviceErrorOf, Turns } from './index.js';

const BLOCK_BYTES = 4 * 1_048_576;

function hashesOf(content: Buffer, chunkBytes: number): Partial<Record<string, string>> {
  const hashes = new ContentHashes(HASH_KINDS);
  for (let start = 0; start < content.length; start += chunkBytes)
    hashes.update(content.subarray(start, start + chunkBytes));
  return hashes.end();
}

function sha256(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}

describe('hashes of a stream', () => {
  it('are those of the whole content, in one pass', () => {
    expect(hashesOf(Buffer.from('abc'), 2)).toEqual({
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      sha1: 'a9993e364706816aba3e25717850c26c9cd0d89d',
      md5: '900150983cd24fb0d6963f7d28e17f72',
      dropbox: sha256(sha256(Buffer.from('abc'))).toString('hex'),
    });
  });

  it.each([0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES])(
    'hash blocks of 4 MiB, however %d bytes arrive',
    (size) => {
      const content = Buffer.alloc(size, 'some content ');
      const blocks = [];
      for (let start = 0; start < size; start += BLOCK_BYTES) blocks.push(content.subarray(start, start + BLOCK_BYTES));
      const expected = sha256(Buffer.concat(blocks.map(sha256))).toString('hex');
      for (const chunkBytes of [size || 1, 65_537, BLOCK_BYTES])
        expect(hashesOf(content, chunkBytes)['dropbox']).toBe(expected);
    },
  );
});

describe('a failure of a remote', () => {
  it.each<[RemoteFailureReason, string, number]>([
    ['not_found', 'FILE_NOT_FOUND', 404],
    ['changed', 'CONFLICT', 409],
    ['exists', 'DESTINATION_EXISTS', 409],
    ['forbidden', 'REMOTE_REFUSED', 409],
    ['name_refused', 'REMOTE_REFUSED', 409],
    ['too_large', 'REMOTE_REFUSED', 409],
    ['unavailable', 'REMOTE_UNAVAILABLE', 503],
    ['full', 'STORAGE_FULL', 507],
    ['range', 'RANGE_NOT_SATISFIABLE', 416],
  ])('%s is told as %s [errors.remote-unavailable]', (reason, code, status) => {
    const error = serviceErrorOf(new RemoteFailure(reason, { path: 'a/b.txt' }), 'main');
    expect([error.code, error.status, error.retryable]).toEqual([code, status, reason === 'unavailable']);
    expect(error.details).toMatchObject({ remote_name: 'main', remote_path: 'a/b.txt' });
    expect(Object.keys(ERRORS)).toContain(code);
  });

  it('tells when to try again, and what lies there', () => {
    const busy = new RemoteFailure('unavailable', { path: 'a', retryAfterSeconds: 7 });
    expect(serviceErrorOf(busy, 'main').details).toMatchObject({ retry_after_seconds: 7 });
    const current = { revision: 'r2', sizeBytes: 3 };
    expect(serviceErrorOf(new RemoteFailure('changed', { path: 'a', current }), 'main').details).toMatchObject({
      current: { revision: 'r2', size_bytes: 3 },
    });
    expect(serviceErrorOf(new RemoteFailure('changed', { path: 'a', current: null }), 'main').details).toMatchObject({
      current: null,
    });
  });
});

describe('turns', () => {
  it('are waited for by those who change the same paths, or what lies above or below, and by nobody else', async () => {
    const turns = new Turns();
    const begun: string[] = [];
    const gates = new Map<string, () => void>();
    const take = (name: string, ...paths: string[]): Promise<void> =>
      turns.take(
        async () => {
          begun.push(name);
          await new Promise<void>((resolve) => gates.set(name, resolve));
        },
        ...paths,
      );
    const all = [
      take('first', 'wip/A.txt'),
      take('beside', 'wip/b.txt'),
      take('twin', 'WIP/a.TXT'),
      take('above', 'wip'),
      take('after', 'wip/b.txt/c'),
      take('elsewhere', 'wipe'),
    ];
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    await settle();
    expect(begun).toEqual(['first', 'beside', 'elsewhere']);
    for (const name of ['first', 'beside']) gates.get(name)?.();
    await settle();
    expect(begun.slice(3)).toEqual(['twin']);
    gates.get('twin')?.();
    await settle();
    expect(begun.slice(4)).toEqual(['above']);
    gates.get('above')?.();
    await settle();
    expect(begun.slice(5)).toEqual(['after']);
    for (const name of ['after', 'elsewhere']) gates.get(name)?.();
    await Promise.all(all);
  });

  it('end with an error for whoever took them alone, and wait for all where no path is named', async () => {
    const turns = new Turns();
    const failed = turns.take(async () => Promise.reject(new Error('full')), 'a');
    const order: string[] = [];
    const next = turns.take(async () => void order.push('everything'));
    const last = turns.take(async () => void order.push('b'), 'b');
    await expect(failed).rejects.toThrow('full');
    await Promise.all([next, last]);
    expect(order).toEqual(['everything', 'b']);
  });
});
