import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collectGarbage: (() => void) | undefined;

/** Bytes that this process holds, buffers counted in, without what is only not collected yet. */
export function keptBytes(): number {
  if (!collectGarbage) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as () => void;
  }
  // The buffers that one collection finds are counted off in the background; the next one waits for that.
  for (let round = 0; round < 2; round += 1) collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
