import { setImmediate } from 'node:timers/promises';
import { Turns } from './turns.js';

describe('work in turns', () => {
  it('runs so many at once, in the order in which they came, and goes on after a failure', async () => {
    const turns = new Turns(2);
    const started: number[] = [];
    const ends: ((error?: Error) => void)[] = [];
    const results = [0, 1, 2, 3].map((number) =>
      turns.take(
        () =>
          new Promise<number>((resolve, reject) => {
            started.push(number);
            ends[number] = (error) => (error ? reject(error) : resolve(number));
          }),
      ),
    );
    const outcomes = Promise.allSettled(results);
    await setImmediate();
    expect(started).toEqual([0, 1]);
    ends[1]?.(new Error('failed'));
    await setImmediate();
    expect(started).toEqual([0, 1, 2]);
    ends[0]?.();
    await setImmediate();
    expect(started).toEqual([0, 1, 2, 3]);
    ends[3]?.();
    ends[2]?.();
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await turns.take(() => Promise.resolve('free again'))).toBe('free again');
  });
});
