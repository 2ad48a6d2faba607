import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/**
 * Seconds that each of the slow spec files takes beside others on a quiet machine with two cores. Those that move many bytes in
 * the worker stand two hundred higher: what earlier files leave in its heap makes each collection dear. So does the one of a
 * thousand MCP sessions, which counts sockets and memory, and so wants a worker that has run nothing before.
 */
const seconds = JSON.parse(readFileSync(new URL('./slow-specs.json', import.meta.url), 'utf8'));

/** A run ends with short spec files on all workers, also the first one of a checkout, which remembers no durations. */
export default class LongestFirstSequencer extends Sequencer {
  sort(tests) {
    const [rootDir] = tests.map((test) => test.context.config.rootDir);
    const slow = new Map(Object.entries(seconds).map(([path, value]) => [join(rootDir ?? '', path), value]));
    for (const path of tests.length === 0 ? [] : slow.keys())
      if (!existsSync(path)) throw new Error(`slow-specs.json names ${path}, which is not there: rename or remove it.`);
    const secondsOf = (test) => slow.get(test.path) ?? 0;
    return super.sort(tests).toSorted((a, b) => secondsOf(b) - secondsOf(a));
  }
}
