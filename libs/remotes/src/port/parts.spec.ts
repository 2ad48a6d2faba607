import { partsOf, passingParts } from './index.js';

const PART = 1_048_576;

async function* chunksOf(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) yield Uint8Array.from({ length: size }, () => (at++ * 7) % 251);
}

function whole(sizes: readonly number[]): Buffer {
  const length = sizes.reduce((sum, size) => sum + size, 0);
  return Buffer.from(Uint8Array.from({ length }, (_none, at) => (at * 7) % 251));
}

describe.each([
  ['parts', partsOf],
  ['parts that share memory', passingParts],
])('%s', (_what, split) => {
  it.each<[string, number[], number[]]>([
    ['nothing', [], []],
    ['chunks without bytes', [0, 0], []],
    ['less than one part', [3, 5], [8]],
    ['one part exactly', [PART - 1, 1], [PART]],
    ['a chunk that is a part', [PART, PART], [PART, PART]],
    ['a chunk across two parts', [PART - 10, 30], [PART, 20]],
    ['a chunk of several parts', [2 * PART + 5, 7], [PART, PART, 12]],
    ['small chunks up to the end of a part', [600_000, 400_000, 48_576, 1], [PART, 1]],
  ])('have the size that was asked for, and all bytes in their order: %s', async (_name, given, expected) => {
    const parts: Buffer[] = [];
    for await (const part of split(chunksOf(given), PART)) parts.push(Buffer.from(part));
    expect(parts.map(({ length }) => length)).toEqual(expected);
    expect(Buffer.concat(parts).equals(whole(given))).toBe(true);
  });
});

it('parts are each its own, and those that share memory need that of one', async () => {
  const memoryOf = async (split: typeof partsOf): Promise<number> => {
    const seen = new Set<ArrayBufferLike>();
    for await (const part of split(chunksOf([PART - 1, PART, PART, 1]), PART)) seen.add(part.buffer);
    return seen.size;
  };
  expect(await memoryOf(partsOf)).toBe(3);
  expect(await memoryOf(passingParts)).toBe(1);
});
