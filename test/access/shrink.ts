import type { Step } from './step.js';

/**
 * Leaves out steps for as long as the rest still fails, first in large pieces, then one by one, until no single step can
 * go or the time is over.
 */
export async function shrink(
  steps: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
  budgetMs: number,
): Promise<readonly Step[]> {
  const end = Date.now() + budgetMs;
  let left = steps;
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = left.length - size; at > -size && Date.now() < end; at -= size) {
      const fewer = [...left.slice(0, Math.max(at, 0)), ...left.slice(at + size)];
      if (fewer.length < left.length && (await fails(fewer))) left = fewer;
    }
  }
  return left;
}
