import { sweeping } from './passed-bytes.js';

const CHUNK_BYTES = 65_536;
const CHUNKS = 6_000;
const MB = 1_048_576;
/** Of the chunks: less than what has V8 clear all of a heap. */
const MOST_MB = 12;

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < CHUNKS; index += 1) yield Buffer.alloc(CHUNK_BYTES, index);
}

describe('a content that passes', () => {
  it('leaves little behind while it does, and is passed on as it is', async () => {
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    let index = 0;
    for await (const chunk of sweeping(chunks())) {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      expect([chunk.byteLength, chunk[0], chunk.at(-1)]).toEqual([CHUNK_BYTES, index % 256, index % 256]);
      index += 1;
    }
    expect(index).toBe(CHUNKS);
    expect(most / MB).toBeLessThan(MOST_MB);
  });

  it('ends with whoever stops reading, and as its stream does', async () => {
    let isEnded = false;
    async function* failing(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('a');
        throw new Error('the sender is gone');
      } finally {
        isEnded = true;
      }
    }
    for await (const _chunk of sweeping(failing())) break;
    expect(isEnded).toBe(true);
    const read = async (): Promise<void> => {
      for await (const _chunk of sweeping(failing()));
    };
    await expect(read()).rejects.toThrow('the sender is gone');
  });

  it('has nobody else collect garbage', () => {
    expect('gc' in globalThis).toBe(false);
  });
});
