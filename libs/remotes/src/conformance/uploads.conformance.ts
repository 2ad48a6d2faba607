import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { ResumableUploads } from '../port/index.js';
import { bytesOf, failureOf, type Stage } from './stage.js';

/** What has three parts, the last one short: of every byte it can be told where it belongs. */
function contentOf({ partBytes }: ResumableUploads): Buffer {
  const content = Buffer.alloc(2 * partBytes + 1_000);
  for (let at = 0; at + 4 <= content.length; at += 4) content.writeUInt32LE(at, at);
  return content;
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

async function* chunks(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.byteLength; at += 100_000) yield content.subarray(at, at + 100_000);
}

async function* broken(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* chunks(content);
  throw new Error('the sender is gone');
}

/** What becomes of contents whose upload is broken off, and gone on with. */
export function uploadScenarios(stage: () => Stage): void {
  /** Null where a backend has no such thing. */
  const uploads = (): ResumableUploads | null => stage().remote.uploads ?? null;
  const shaOf = async (path: string): Promise<string> => {
    await using content = await stage().remote.read(path);
    return sha256(await buffer(content.bytes));
  };

  it('goes on after a break where whole parts end, and shows nothing before all is there', async () => {
    const them = uploads();
    if (!them) return;
    const content = contentOf(them);
    const { partBytes } = them;
    const upload = await them.begin('wip/a.bin');
    expect(Buffer.byteLength(upload)).toBeLessThan(4_096);
    expect(await them.received(upload)).toBe(0);
    const first = content.subarray(0, partBytes + 5_000);
    await expect(them.append(upload, 0, broken(first))).rejects.toThrow('the sender is gone');
    expect(await them.received(upload)).toBe(partBytes);
    expect(await stage().remote.stat('wip/a.bin')).toBeNull();
    expect(await them.append(upload, partBytes, chunks(content.subarray(partBytes)))).toBe(content.length);
    expect(await them.received(upload)).toBe(content.length);
    expect(await stage().remote.stat('wip/a.bin')).toBeNull();
    const file = await them.finish(upload, { expected: null });
    expect([file.sizeBytes, await shaOf('wip/a.bin')]).toEqual([content.length, sha256(content)]);
    expect(await stage().remote.stat('wip/a.bin')).toEqual(file);
    expect(await failureOf(them.received(upload))).toBe('not_found');
    expect([await stage().pathsIn('wip'), await stage().world.leftOvers()]).toEqual([['wip/a.bin'], []]);
  });

  it('goes on from the end of a part that is there, or from none', async () => {
    const them = uploads();
    if (!them) return;
    const content = contentOf(them);
    const { partBytes } = them;
    const upload = await them.begin('a.bin');
    expect(await failureOf(them.append(upload, partBytes, bytesOf('x')))).toBe('changed');
    await them.append(upload, 0, chunks(content.subarray(0, 2 * partBytes)));
    const again = await them.append(upload, partBytes, chunks(content.subarray(partBytes))).catch(() => 'refused');
    const from = again === 'refused' ? 2 * partBytes : content.length;
    await them.append(upload, from, chunks(content.subarray(from)));
    await them.finish(upload, { expected: null });
    expect(await shaOf('a.bin')).toBe(sha256(content));
  });

  it('gives back what is there of it, where it gives anything back', async () => {
    const them = uploads();
    if (!them?.read) return;
    const content = contentOf(them);
    const { partBytes } = them;
    const upload = await them.begin('a.bin');
    await them.append(upload, 0, chunks(content.subarray(0, partBytes)));
    const given = async (offset: number, length: number): Promise<string> => {
      const hash = createHash('sha256');
      for await (const chunk of them.read?.(upload, { offset, length }) ?? []) hash.update(chunk);
      return hash.digest('hex');
    };
    expect(await given(0, partBytes)).toBe(sha256(content.subarray(0, partBytes)));
    expect(await given(5_000, 100_000)).toBe(sha256(content.subarray(5_000, 105_000)));
    expect(await given(partBytes, 0)).toBe(sha256(Buffer.alloc(0)));
    expect(await failureOf(given(0, partBytes + 1))).toBe('changed');
    await them.abandon(upload);
    expect(await failureOf(given(0, 1))).toBe('not_found');
  });

  it('replaces what is expected alone, and stays for another try', async () => {
    const them = uploads();
    if (!them) return;
    const { revision } = await stage().put('a.txt', 'old');
    const upload = await them.begin('a.txt');
    await them.append(upload, 0, bytesOf('new content'));
    expect(await failureOf(them.finish(upload, { expected: null }))).toBe('exists');
    await stage().world.plant('a.txt', 'of somebody else');
    expect(await failureOf(them.finish(upload, { expected: revision }))).toBe('changed');
    expect(await stage().textOf('a.txt')).toBe('of somebody else');
    await them.finish(upload, await stage().holding('a.txt'));
    expect(await stage().textOf('a.txt')).toBe('new content');
  });

  it('keeps the time of the last edit', async () => {
    const them = uploads();
    if (!them || !stage().remote.capabilities.keepsModified) return;
    const modifiedAt = '2026-02-03T04:05:06.000Z';
    const upload = await them.begin('a.txt');
    await them.append(upload, 0, bytesOf('a'));
    expect(await them.finish(upload, { expected: null, modifiedAt })).toMatchObject({ modifiedAt });
  });

  it('leaves nothing when it is given up', async () => {
    const them = uploads();
    if (!them) return;
    const upload = await them.begin('wip/a.bin');
    await them.append(upload, 0, bytesOf('half of it'));
    await them.abandon(upload);
    await them.abandon(upload);
    expect(await failureOf(them.received(upload))).toBe('not_found');
    expect(await stage().remote.stat('wip/a.bin')).toBeNull();
    expect(await stage().world.leftOvers()).toEqual([]);
  });

  it('has nothing under a name that is none of an upload', async () => {
    const them = uploads();
    if (!them) return;
    for (const upload of ['', '{}', '{"id":"../../a","path":"a"}', 'null'])
      expect([upload, await failureOf(them.received(upload))]).toEqual([upload, 'not_found']);
  });

  it('goes on after the network was cut', async () => {
    const them = uploads();
    const { network } = stage().world;
    if (!them || !network) return;
    const content = contentOf(them);
    const upload = await them.begin('a.bin');
    const { partBytes } = them;
    await them.append(upload, 0, chunks(content.subarray(0, partBytes)));
    await network.cut({ direction: 'up', bytes: 1_000_000 });
    expect(await failureOf(them.append(upload, partBytes, chunks(content.subarray(partBytes))))).toBe('unavailable');
    await stage().world.mend();
    expect(Math.floor((await them.received(upload)) / partBytes)).toBe(1);
    await them.append(upload, partBytes, chunks(content.subarray(partBytes)));
    await them.finish(upload, { expected: null });
    expect(await shaOf('a.bin')).toBe(sha256(content));
  });
}
