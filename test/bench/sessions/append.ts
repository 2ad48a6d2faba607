import { median } from '../measurements/figures.js';
import type { Figure } from '../report/figures.js';
import type { Written } from './keep-writing.js';
import { inTurns, TURNS } from './rounds.js';
import type { Stage } from './stage.js';

const LEAST_SHARE = 0.5;
/** Of one report, and of one batch: what a program that drives an agent gathers, and a single event. */
const BATCHES = [100, 20, 1];

const rate = ({ events, elapsedMs }: Written): number => events / (elapsedMs / 1_000);

/** Durable appends through the session service beside batched inserts of the same rows, in the same database. */
export async function measureAppends(stage: Stage): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const writers of [stage.options.writers, 1])
    for (const batch of BATCHES) figures.push(await measure(stage, writers, batch));
  return figures;
}

async function measure(stage: Stage, count: number, batch: number): Promise<Figure> {
  const { product, bare, options, settle } = stage;
  const caller = stage.person(0).caller;
  const writers = await product.call('connect', { count, nodeId: stage.nodeId, caller });
  const bareLogs = await stage.emptySessions(count);
  const forMs = (options.seconds * 1_000) / TURNS;
  const both = await inTurns(
    async () => {
      const written = await product.call('append', { writers, batch, forMs });
      await settle();
      return rate(written);
    },
    async () => rate(await bare.call('append', { sessionIds: bareLogs, batch, forMs })),
  );
  const ratio = median(both.product.map((value, round) => value / (both.beside[round] ?? Number.NaN)));
  const who = count === 1 ? 'one session' : `${count} sessions at once`;
  return {
    what: `durable appends, ${who}, ${batch === 1 ? 'one event' : `${batch} events`} at a time`,
    value: median(both.product),
    unit: 'events/s',
    beside: { name: 'inserts', value: median(both.beside) },
    ratio,
    verdict: batch === 1 ? null : { target: `≥ ${LEAST_SHARE}×`, reached: ratio >= LEAST_SHARE },
  };
}
