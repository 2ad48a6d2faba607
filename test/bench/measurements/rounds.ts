import type { Armed } from '../load/load-process.js';
import type { Burst } from '../load/messages.js';
import type { Sides } from './compare.js';
import { type Figures, figuresOf, median, quantile } from './figures.js';

/** One line of a table: the product beside the bare query, at so many connections. */
export interface Line {
  readonly connections: number;
  readonly product: Figures;
  readonly bare: Figures;
  /** Of the p50s: the median over the rounds, each of which measured both sides one after the other. */
  readonly ratio: number;
}

export interface RoundsOptions {
  readonly connections: number;
  /** Of load on each side. */
  readonly seconds: number;
  /** Waits until what a burst has set off is over. */
  readonly settle: () => Promise<void>;
}

const ROUNDS = 8;
/** Where one shot takes longer than its round. */
const ROUNDS_OF_SLOW = 3;
/** In less than this, code that several processes share stays cold. */
const WARM_UP_SECONDS = 1;

/** Measures both sides in turns, each first as often as the other, so that a drift of the machine hits both alike. */
export async function measureRounds(sides: Sides, { connections, seconds, settle }: RoundsOptions): Promise<Line> {
  const roundMs = (seconds * 1_000) / ROUNDS;
  const fire = async (side: Armed, forMs: number): Promise<Burst> => {
    const burst = await side.fire(connections, forMs);
    await settle();
    return burst;
  };
  const warmUpMs = Math.min(seconds, WARM_UP_SECONDS) * 1_000;
  const warm = [await fire(sides.product, warmUpMs), await fire(sides.bare, warmUpMs)];
  const rounds = warm.some((burst) => p50(burst) > roundMs) ? ROUNDS_OF_SLOW : ROUNDS;
  const product: Burst[] = [];
  const bare: Burst[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) product.push(await fire(sides.product, roundMs));
    bare.push(await fire(sides.bare, roundMs));
    if (round % 2 === 1) product.push(await fire(sides.product, roundMs));
  }
  const ratios = product.map((burst, round) => p50(burst) / p50(bare[round]));
  return {
    connections,
    product: figuresOf(product),
    bare: figuresOf(bare),
    ratio: median(ratios.filter(Number.isFinite)),
  };
}

function p50(burst: Burst | undefined): number {
  return burst ? quantile(Float64Array.from(burst.tookMs).sort(), 0.5) : Number.NaN;
}
