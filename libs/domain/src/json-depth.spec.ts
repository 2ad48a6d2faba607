import { jsonDepth } from './json-depth.js';

describe('the depth of a JSON text', () => {
  const depthOf = (text: string) => jsonDepth(Buffer.from(text));

  it('counts arrays and objects, and not what stands in texts', () => {
    expect(['1', '[]', '{"a":[{}]}', '"[[["', '{"\\"[":"\\\\"}', '[1,[2],[3]]'].map(depthOf)).toEqual([
      0, 1, 3, 0, 1, 2,
    ]);
  });

  it('of a million brackets is found at once', () => {
    expect(depthOf('['.repeat(1_000_000))).toBe(1_000_000);
  });
});
