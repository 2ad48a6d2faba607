import { SharedLooks } from './shared-looks.js';

describe('a look that several calls need', () => {
  it('is one that began after each of them asked', async () => {
    const looks = new SharedLooks<number>();
    const ends: ((value: number) => void)[] = [];
    const look = (): Promise<number> => new Promise((resolve) => ends.push(resolve));
    const first = looks.take('a', look);
    const others = [looks.take('a', look), looks.take('a', look)];
    const elsewhere = looks.take('b', look);
    expect(ends).toHaveLength(2);
    ends[0]?.(1);
    ends[1]?.(2);
    expect([await first, await elsewhere]).toEqual([1, 2]);
    while (ends.length < 3) await Promise.resolve();
    const late = looks.take('a', look);
    ends[2]?.(3);
    expect(await Promise.all(others)).toEqual([3, 3]);
    while (ends.length < 4) await Promise.resolve();
    ends[3]?.(4);
    expect(await late).toBe(4);
    const again = looks.take('a', look);
    expect(ends).toHaveLength(5);
    ends[4]?.(5);
    expect(await again).toBe(5);
  });

  it('fails for those who share it alone', async () => {
    const looks = new SharedLooks<number>();
    const first = looks.take('a', () => Promise.reject(new Error('away')));
    const other = looks.take('a', () => Promise.resolve(2));
    await expect(first).rejects.toThrow('away');
    expect(await other).toBe(2);
  });
});
