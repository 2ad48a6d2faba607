import fc from 'fast-check';
import { type Framed, framed, unframed } from './content-frames.js';

const MOST = 1_000;

async function* all<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const bytesOf = async (contents: readonly Framed<unknown>[]): Promise<Uint8Array> =>
  Buffer.concat(await collected(framed(all(contents))));
const read = (parts: Iterable<Uint8Array>): Promise<Framed<unknown>[]> => collected(unframed(all(parts), MOST));
/** The bytes in pieces whose sizes are given, over and over. */
function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = sizes[pieces.length % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const content = fc.record({ header: fc.jsonValue(), bytes: fc.uint8Array({ maxLength: 300 }) });

describe('several contents in one stream', () => {
  it('come out as they went in, however the stream is cut', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(content, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        async (contents, sizes) => {
          const found = await read(cut(await bytesOf(contents), sizes));
          expect(found.map(({ header }) => header)).toEqual(
            contents.map(({ header }) => JSON.parse(JSON.stringify(header)) as unknown),
          );
          expect(found.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).toEqual(
            contents.map(({ bytes }) => Buffer.from(bytes).toString('hex')),
          );
        },
      ),
    ));

  it('travel many at a time where they are small, and whole where they are not', async () => {
    const sizes = [...Array.from({ length: 60 }, () => 4_096), 100_000, 0, 70_000];
    const contents = sizes.map((size, index) => ({ header: { index }, bytes: new Uint8Array(size).fill(index) }));
    const chunks = await collected(framed(all(contents)));
    expect(chunks).toHaveLength(7);
    const found = await collected(unframed(all(chunks), 100_000));
    expect(found.map(({ bytes }) => [bytes.length, bytes.at(-1)])).toEqual(
      sizes.map((size, index) => [size, size === 0 ? undefined : index]),
    );
  });

  it('are never taken for whole when the stream ends within one', async () => {
    const whole = await bytesOf([{ header: { name: 'a' }, bytes: Buffer.from('content') }]);
    for (let length = 1; length < whole.length; length += 1)
      await expect(read([whole.subarray(0, length)])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await read([])).toEqual([]);
  });

  it('are refused before they are held where they are too large, or no contents at all', async () => {
    const large = await bytesOf([{ header: {}, bytes: new Uint8Array(MOST + 1) }]);
    const header = await bytesOf([{ header: 'x'.repeat(20_000), bytes: new Uint8Array() }]);
    const noJson = Uint8Array.from([0, 0, 0, 1, 0, 0, 0, 0, 123]);
    for (const bytes of [large.subarray(0, 8), header.subarray(0, 8), noJson, Buffer.from('GET / HTTP/1.1\r\n\r\n')])
      await expect(read([bytes])).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});
