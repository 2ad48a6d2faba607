import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import type { Held } from './memory-held.js';
import type { Stage } from './stage.js';

const MOST_KB = 30;
/** Sockets that make the code warm, and whatever is allocated once. */
const WARM_UP = 50;

/** What one open socket costs the process that holds it, while nothing happens. Measured while there are no sessions. */
export async function measureIdleSockets(stage: Stage): Promise<Figure[]> {
  const { product, bare, productAt, bareAt } = stage;
  const mine = await costOfEach(stage, productAt.url, () => product.call('held', null));
  const theirs = await costOfEach(stage, bareAt.url, () => bare.call('held', null));
  const count = stage.options.idleSockets.toLocaleString('en-US');
  const figure = (what: string, value: number, beside: number): Figure => ({
    what: `memory of an idle socket of ${count}, ${what}`,
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
  const open = (count: number) => client.call('open', { url, wanted: wanted(stage, count), states: 0, after: 0 });
  await open(WARM_UP);
  await client.call('close', null);
  const before = await held();
  await open(options.idleSockets);
  const after = await held();
  await client.call('close', null);
  const each = (kind: keyof Held): number => (after[kind] - before[kind]) / 1_024 / options.idleSockets;
  return { heap: each('heap'), resident: each('resident') };
}

function wanted(stage: Stage, count: number) {
  return Array.from({ length: count }, (_none, index) => ({ token: stage.tokenFor(index), sessionIds: [] }));
}
