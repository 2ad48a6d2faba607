import { setTimeout as sleep } from 'node:timers/promises';

const BETWEEN_LOOKS_MS = 10;
/** Looks that fit into a second at most. On a busy machine each takes longer, as does what is looked for. */
export const LOOKS_OF_A_SECOND = 1_000 / BETWEEN_LOOKS_MS;
const MOST_MS = 60_000;

/**
 * Looks again and again until there is what is looked for. Answers how many looks were in vain.
 * @throws Error after a minute
 */
export async function looksUntil(what: string, isThere: () => boolean | Promise<boolean>): Promise<number> {
  const startedMs = performance.now();
  for (let looks = 0; ; looks += 1) {
    if (await isThere()) return looks;
    if (performance.now() - startedMs > MOST_MS) throw new Error(`Not within ${MOST_MS} ms: ${what}`);
    await sleep(BETWEEN_LOOKS_MS);
  }
}

/** How many looks it takes until all of them are settled. */
export async function looksUntilSettled(what: string, promises: readonly Promise<unknown>[]): Promise<number> {
  let isSettled = false;
  const end = (): void => {
    isSettled = true;
  };
  void Promise.allSettled(promises).then(end);
  return looksUntil(what, () => isSettled);
}
