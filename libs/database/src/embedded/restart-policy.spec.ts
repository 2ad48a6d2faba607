import { type Failure, pauseBefore, type RestartPolicy, withFailure } from './restart-policy.js';

const policy: RestartPolicy = { mostEnds: 3, withinMs: 1_000, pauseMs: 10, longestPauseMs: 50 };

function failuresAt(times: readonly number[], passing = false): readonly Failure[] {
  return times.reduce<readonly Failure[]>((all, atMs) => withFailure(policy, all, { atMs, passing }), []);
}

describe('a server that ends by itself', () => {
  it('is started at once, then after longer and longer pauses, and in the end not any more', () => {
    const pauses = [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]].map((times) => pauseBefore(policy, failuresAt(times)));
    expect(pauses).toEqual([0, 10, 20, null]);
  });

  it('has its earlier ends forgiven after a while', () => {
    expect(pauseBefore(policy, failuresAt([0, 1, 2, 1_001]))).toBe(10);
    expect(pauseBefore(policy, failuresAt([0, 1, 2, 5_000]))).toBe(0);
  });

  it('is tried for as long as the disk is full, at a bounded pace', () => {
    const full = failuresAt(
      Array.from({ length: 500 }, (_, index) => index),
      true,
    );
    expect(pauseBefore(policy, full)).toBe(50);
    expect(pauseBefore(policy, withFailure(policy, full, { atMs: 500, passing: false }))).toBe(50);
  });
});
