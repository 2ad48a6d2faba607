import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import type { Held } from './memory-held.js';
import { IDLE_GROWTH } from './options.js';
import type { Stage } from './stage.js';

const MOST_KB = 30;

/**
 * What one more open socket costs the process that holds it, while nothing happens: from so many sockets to three times as many.
 * The first ones give the process the memory that its garbage needs while sockets are opened. Measured while there are no sessions.
 */
export async function measureIdleSockets(stage: Stage): Promise<Figure[]> {
  const { product, bare, productAt, bareAt } = stage;
  const mine = await costOfEach(stage, productAt.url, () => product.call('held', null));
  const theirs = await costOfEach(stage, bareAt.url, () => bare.call('held', null));
  const count = stage.options.idleSockets.toLocaleString('en-US');
  const figure = (what: string, value: number, beside: number): Figure => ({
    what: `memory of an idle socket beside ${count}, ${what}`,
    value,
    unit: 'KB',
    beside: { name: 'bare ws', value: beside },
    ratio: value / beside,
    verdict: below(MOST_KB, value),
  });
  return [figure('resident', mine.resident, theirs.resident), figure('objects and buffers', mine.heap, theirs.heap)];
}

/** Kilobytes of one socket. */
async function costOfEach(stage: Stage, url: string, held: () => Promise<Held>): Promise<Held> {
  const { client, options } = stage;
  const open = (from: number, to: number) =>
    client.call('open', { url, wanted: wanted(stage, from, to), states: 0, after: 0 });
  const first = options.idleSockets;
  const all = IDLE_GROWTH * first;
  await open(0, first);
  const before = await held();
  await open(first, all);
  const after = await held();
  await client.call('close', null);
  const each = (kind: keyof Held): number => (after[kind] - before[kind]) / 1_024 / (all - first);
  return { heap: each('heap'), resident: each('resident') };
}

function wanted(stage: Stage, from: number, to: number) {
  return Array.from({ length: to - from }, (_none, index) => ({ token: stage.tokenFor(from + index), sessionIds: [] }));
}
