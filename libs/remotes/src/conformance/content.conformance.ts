import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { keptBytes } from '@workspace-graph/testing';
import { ContentHashes } from '../port/index.js';
import { LONG_MB, LONG_MS } from './sizes.conformance.js';
import { bytesOf, failureOf, type Stage } from './stage.js';

const BLOCK = Buffer.alloc(65_536, 'block of a large file ');
const BLOCKS = 200;
const MB = 1_048_576;
/** How often it is looked what is held of a long content, and how much that may be. */
const LOOK_MB = 16;
const HELD_MB = 24;

async function* blocks(): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < BLOCKS; count += 1) yield BLOCK;
}

/** What is written and read, and what is left when either is broken off. */
export function contentScenarios(stage: () => Stage): void {
  it.each([
    ['an empty one', ''],
    ['a short one', 'Feed the sourdough at five.'],
    ['one with every kind of character', 'Příliš žluťoučký kůň 🐎\0\r\n'],
  ])('gives back %s as it was', async (_what, content) => {
    const written = await stage().put('wip/a.md', content);
    expect(await stage().remote.stat('wip/a.md')).toEqual(written);
    expect(written).toMatchObject({ kind: 'file', path: 'wip/a.md', sizeBytes: Buffer.byteLength(content) });
    expect(await stage().textOf('wip/a.md')).toBe(content);
  });

  it('gives back a large one, with the same hashes in one pass', async () => {
    const sent = new ContentHashes(['sha256', 'dropbox']);
    const got = new ContentHashes(['sha256', 'dropbox']);
    await stage().remote.write('large.bin', sent.passing(blocks()), { expected: null });
    await using content = await stage().remote.read('large.bin');
    for await (const chunk of content.bytes) got.update(chunk);
    expect(got.sizeBytes).toBe(BLOCK.length * BLOCKS);
    expect(got.end()).toEqual(sent.end());
  });

  it(
    'holds little of a long one at any time [sync.transfer.streaming]',
    async () => {
      if (stage().world.isInMemory) return;
      const { signal } = new AbortController();
      const before = keptBytes();
      let most = 0;
      const look = (): void => {
        most = Math.max(most, keptBytes() - before);
      };
      async function* long(): AsyncGenerator<Uint8Array> {
        for (let mb = 1; mb <= LONG_MB; mb += 1) {
          for (let count = 0; count < MB / BLOCK.length; count += 1) yield Buffer.from(BLOCK);
          if (mb % LOOK_MB === 0) look();
        }
      }
      await stage().remote.write('long.bin', long(), { expected: null, signal });
      await using content = await stage().remote.read('long.bin', { signal });
      let sizeBytes = 0;
      for await (const { byteLength } of content.bytes) {
        sizeBytes += byteLength;
        if (sizeBytes % (LOOK_MB * MB) < byteLength) look();
      }
      expect(sizeBytes).toBe(LONG_MB * MB);
      expect(most).toBeLessThan(HELD_MB * MB);
    },
    LONG_MS,
  );

  it('gives a part of it', async () => {
    await stage().put('a.txt', '0123456789');
    const part = async (offset: number, length?: number): Promise<string> => {
      const range = { offset, ...(length === undefined ? {} : { length }) };
      await using content = await stage().remote.read('a.txt', { range });
      let text = '';
      for await (const chunk of content.bytes) text += Buffer.from(chunk).toString();
      return text;
    };
    expect([await part(3, 4), await part(7), await part(8, 100), await part(10)]).toEqual(['3456', '789', '89', '']);
    expect(await failureOf(part(11))).toBe('range');
  });

  it('keeps the time of the last edit', async () => {
    if (!stage().remote.capabilities.keepsModified) return;
    const modifiedAt = '2026-02-03T04:05:06.000Z';
    await stage().remote.write('a.txt', bytesOf('a'), { expected: null, modifiedAt });
    expect(await stage().remote.stat('a.txt')).toMatchObject({ modifiedAt });
  });

  it('tells another revision for each content', async () => {
    const first = await stage().put('a.txt', 'one');
    const second = await stage().put('a.txt', 'two!', first.revision);
    expect(second.revision).not.toBe(first.revision);
    expect((await stage().put('b.txt', 'one')).revision).not.toBe(second.revision);
  });

  it('reads only the revision that is asked for', async () => {
    const { revision } = await stage().put('a.txt', 'one');
    await stage().world.plant('a.txt', 'another');
    expect(await failureOf(stage().remote.read('a.txt', { expected: revision }))).toBe('changed');
  });

  it('reads no folder, and nothing that is not there', async () => {
    await stage().remote.makeFolder('folder');
    expect(await failureOf(stage().remote.read('folder'))).toBe('not_found');
    expect(await failureOf(stage().remote.read('none'))).toBe('not_found');
    expect(await failureOf(stage().remote.read('none/at/all'))).toBe('not_found');
    expect(await stage().remote.stat('none/at/all')).toBeNull();
  });

  describe('broken off', () => {
    async function* stalled(started: () => void): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half of it');
      started();
      await new Promise(() => undefined);
    }

    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half of it');
      throw new Error('the sender is gone');
    }

    it('leaves nothing of a new file whose stream stalls until it is aborted', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const bytes = stalled(() => controller.abort(reason));
      const { signal } = controller;
      await expect(stage().remote.write('a.txt', bytes, { expected: null, signal })).rejects.toBe(reason);
      expect([await stage().remote.stat('a.txt'), await stage().world.leftOvers()]).toEqual([null, []]);
    });

    it('leaves the old content when the new one fails', async () => {
      const { revision: expected } = await stage().put('a.txt', 'old');
      await expect(stage().remote.write('a.txt', failing(), { expected })).rejects.toThrow('the sender is gone');
      expect([await stage().textOf('a.txt'), await stage().world.leftOvers()]).toEqual(['old', []]);
    });

    it('begins nothing for a signal that is aborted already', async () => {
      await stage().put('a.txt', 'old');
      const holding = await stage().holding('a.txt');
      const reason = new Error('too late');
      const options = { ...holding, signal: AbortSignal.abort(reason) };
      const { remote } = stage();
      await expect(remote.write('a.txt', bytesOf('new'), options)).rejects.toBe(reason);
      await expect(remote.remove('a.txt', options)).rejects.toBe(reason);
      await expect(remote.move('a.txt', 'b.txt', options)).rejects.toBe(reason);
      await expect(remote.read('a.txt', options)).rejects.toBe(reason);
      expect(await stage().pathsIn('')).toEqual(['a.txt']);
    });

    it('ends a read with the reason of its signal', async () => {
      await stage().remote.write('large.bin', blocks(), { expected: null });
      const controller = new AbortController();
      const reason = new Error('enough');
      await using content = await stage().remote.read('large.bin', { signal: controller.signal });
      const reading = async (): Promise<void> => {
        for await (const _chunk of content.bytes) {
          controller.abort(reason);
          await turn();
        }
      };
      await expect(reading()).rejects.toBe(reason);
    });

    it('lets go of a content that nobody reads to its end', async () => {
      const { revision: expected } = await stage().remote.write('large.bin', blocks(), { expected: null });
      {
        await using content = await stage().remote.read('large.bin');
        for await (const chunk of content.bytes) {
          expect(createHash('sha256').update(chunk).digest('hex')).toHaveLength(64);
          break;
        }
      }
      await stage().remote.remove('large.bin', { expected });
      expect(await stage().pathsIn('')).toEqual([]);
    });
  });
}
